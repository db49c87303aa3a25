"""What a manifest may declare is what the engine carries: told twice, for the engine is not loaded then."""

import pyarrow as pa
import pytest

from odf_core.engines.spark.slices.carriers import carrier
from odf_core.ingest.engine_types import is_carried
from odf_core.ingest.merge_errors import UnsupportedColumnType

TYPES = [
    *(pa.bool_(), pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.null()),
    *(pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary(4)),
    *(
        pa.date32(),
        pa.date64(),
        pa.time32("ms"),
        pa.time64("us"),
        pa.duration("s"),
        pa.timestamp("us", "UTC"),
    ),
    *(pa.decimal128(38, 2), pa.decimal256(50, 2), pa.map_(pa.string(), pa.int64())),
    *(pa.list_(pa.int64()), pa.list_(pa.time32("s")), pa.large_list(pa.string()), pa.list_(pa.int8(), 3)),
    *(pa.struct([("a", pa.int64())]), pa.struct([("a", pa.duration("s"))])),
]


@pytest.mark.parametrize("data_type", TYPES, ids=str)
def test_both_agree(data_type: pa.DataType) -> None:
    try:
        carrier(data_type, "x")
    except UnsupportedColumnType:
        assert not is_carried(data_type)
    else:
        assert is_carried(data_type)
