"""What an ingest has to know of a dataset: where it stands, and the slices so far."""

from collections.abc import Iterable
from dataclasses import dataclass

from odf_core.chain import Projection, Vocabulary
from odf_core.chain.schema_rules import listed_faults, schema_faults
from odf_core.data import declared_schema
from odf_core.identity import ObjectKind, ObjectRef
from odf_core.ingest.merge_errors import IncompatibleSchema
from odf_core.ingest.merge_job import Names
from odf_core.metadata import AddData, DataSchema, DataSlice, ExecuteTransform, SetDataSchema, StoredBlock


def new_slice(block: StoredBlock) -> DataSlice | None:
    """The slice that a block adds, None where it adds none."""
    event = block.block.event
    return event.new_data if isinstance(event, AddData | ExecuteTransform) else None


@dataclass(frozen=True, slots=True)
class History:
    """The state of a dataset at its head; `slices` in the order of their offsets, `slice_schemas` as they
    were declared when slices were added, each once."""

    projection: Projection
    slices: tuple[ObjectRef, ...]
    slice_schemas: tuple[SetDataSchema, ...] = ()

    @classmethod
    def of(cls, blocks: Iterable[StoredBlock]) -> "History":
        """The history that `blocks` tell, oldest first."""
        projection = Projection()
        slices = []
        schemas: list[SetDataSchema] = []
        for block in blocks:
            projection.feed(block)
            data = new_slice(block)
            if data is not None:
                slices.append(ObjectRef(ObjectKind.DATA_SLICE, data.physical_hash, data.size))
                if projection.schema is not None and (not schemas or schemas[-1] is not projection.schema):
                    schemas.append(projection.schema)
        return cls(projection, tuple(slices), tuple(schemas))

    @classmethod
    def resumed(cls, key_blocks: Iterable[StoredBlock], slices: tuple[ObjectRef, ...]) -> "History":
        """The history that key blocks tell (`ChainState.resume`), oldest first, with slices that are known.

        Every schema counts as one of slices; `num_records` of the projection is not that of the dataset.
        """
        blocks = list(key_blocks)
        schemas = [item.block.event for item in blocks if isinstance(item.block.event, SetDataSchema)]
        return cls(Projection.of(blocks), slices, tuple(schemas) if slices else ())

    @property
    def names(self) -> Names:
        """The system columns' names."""
        return names_of(self.projection.vocabulary)

    @property
    def schema(self) -> DataSchema | None:
        """The schema that the chain declares, None before it does."""
        return declared_schema(self.projection.schema)


def require_system_columns(history: History) -> None:
    """Raises `IncompatibleSchema` where the vocabulary was changed after the schema was declared: by a
    chain from elsewhere, for neither `odf commit` nor a node does so."""
    if history.schema is None:
        return
    missing = missing_system_columns(history.schema, history.projection.vocabulary)
    if missing:
        raise IncompatibleSchema(
            f"The vocabulary names the system columns {', '.join(map(repr, missing))}, which the dataset's "
            "schema does not have; commit a SetVocab with the names that it has.",
            objects=missing,
        )


def require_readable(history: History) -> None:
    """Raises `IncompatibleSchema` where a later schema gave columns of earlier slices another type, so that
    the history cannot be read as one: a chain from elsewhere again, whose rules let that through."""
    now = history.schema
    for event in history.slice_schemas:
        before = declared_schema(event)
        if before is None or now is None or event is history.projection.schema:
            continue
        faults = schema_faults(before, now, ignore_optionality=True)
        if faults:
            raise IncompatibleSchema(
                f"The dataset's schema was changed so that records from before cannot be merged with: "
                f"{listed_faults(faults)}. Take the dataset back to before that (`odf reset`), or make a new "
                "one.",
                extras={"differences": faults},
            )


def missing_system_columns(schema: DataSchema, vocabulary: Vocabulary) -> list[str]:
    """The system columns that the vocabulary names and the schema lacks."""
    names = {item.name for item in schema.fields}
    return [name for name in system_columns(vocabulary) if name not in names]


def system_columns(vocabulary: Vocabulary) -> tuple[str, str, str, str]:
    """The system columns' names, in the order that slices have them."""
    return (
        vocabulary.offset_column,
        vocabulary.operation_type_column,
        vocabulary.system_time_column,
        vocabulary.event_time_column,
    )


def names_of(vocabulary: Vocabulary) -> Names:
    """The system columns' names as engines take them."""
    return Names(
        offset=vocabulary.offset_column,
        operation_type=vocabulary.operation_type_column,
        system_time=vocabulary.system_time_column,
        event_time=vocabulary.event_time_column,
    )
