"""The golden case `empty_inputs`: what follows from an input without schema, without data, with a row."""

import json
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq

from odf_core.data import arrow_schema_to_odf, write_slice
from odf_core.engines.installed import choose
from odf_core.metadata import ExecuteTransform, SetDataSchema, SqlQueryStep, TransformSql
from odf_core.workspace import Workspace
from odf_core.workspace.transforms import Transforms
from tests.builders.chain_builder import ChainBuilder
from tests.replay.derived_chain import _refs, clock, derivative
from tests.transforms_spark.stepping import slice_schema
from tests.vectors import require_vectors

SCHEMA = slice_schema(
    pa.schema([pa.field("city", pa.string()), pa.field("state", pa.string()), pa.field("n", pa.int64())])
)
QUERY = "select event_time, city, state, n from root"


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def test_what_follows_from_an_input_as_it_grows(tmp_path):
    found = json.loads(require_vectors("transform/transform_cases.json").read_text())["cases"]
    steps = next(item for item in found if item["id"] == "empty_inputs")["steps"]
    workspace = Workspace.init(tmp_path)
    chain = ChainBuilder("root")
    chain.seed()
    root = workspace.create_from_blocks("root", chain.blocks)
    transform = TransformSql(engine="datafusion", queries=(SqlQueryStep(query=QUERY),))
    derived = derivative(workspace, "derived", transform, root)
    transforms = Transforms(workspace, choose, clock())
    assert steps[0]["result"] == "UpToDate"
    assert not transforms.update(derived.id).is_updated
    chain.event(SetDataSchema(schema=arrow_schema_to_odf(SCHEMA)))
    workspace.append_blocks(root, [chain.last], {})
    assert transforms.update(derived.id).num_blocks == 1
    (event,) = [block.block.event for block in derived.folder.walk()][:1]
    assert isinstance(event, SetDataSchema)
    assert not transforms.update(derived.id).is_updated
    (row,) = steps[2]["rows"]
    offset, op, system_time, event_time, *values = row
    content = [offset, op, moment(system_time), moment(event_time), *values]
    table = pa.Table.from_pylist([dict(zip(SCHEMA.names, content, strict=True))], schema=SCHEMA)
    written = write_slice(table, tmp_path / "slice")
    chain.add_data(data_slice=written.data_slice)
    workspace.append_blocks(root, [chain.last], dict.fromkeys(_refs(chain.last), written.path))
    assert transforms.update(derived.id).num_records == 1
    (event,) = [block.block.event for block in derived.folder.walk()][:1]
    assert isinstance(event, ExecuteTransform)
    told = pq.read_table(next((derived.path / "data").iterdir())).to_pylist()
    assert [[item[name] for name in ("offset", "op", *SCHEMA.names[3:])] for item in told] == [
        [0, 0, moment(event_time), *values]
    ]
