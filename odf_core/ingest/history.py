"""What an ingest has to know of a dataset: where it stands, and the slices so far."""

from collections.abc import Iterable
from dataclasses import dataclass

from odf_core.chain import Projection
from odf_core.data import arrow_schema_to_odf, read_raw_arrow_schema
from odf_core.identity import ObjectKind, ObjectRef
from odf_core.ingest.merge_job import Names
from odf_core.metadata import AddData, DataSchema, DataSlice, ExecuteTransform, StoredBlock


@dataclass(frozen=True, slots=True)
class History:
    """The state of a dataset at its head; `data` in the order of their offsets."""

    projection: Projection
    data: tuple[DataSlice, ...]

    @classmethod
    def of(cls, blocks: Iterable[StoredBlock]) -> "History":
        """The history that `blocks` tell, oldest first."""
        projection = Projection()
        slices: list[DataSlice] = []
        for block in blocks:
            projection.feed(block)
            event = block.block.event
            if isinstance(event, AddData | ExecuteTransform) and event.new_data is not None:
                slices.append(event.new_data)
        return cls(projection, tuple(slices))

    @property
    def slices(self) -> tuple[ObjectRef, ...]:
        """The objects of the slices, in the order of their offsets."""
        return tuple(ObjectRef(ObjectKind.DATA_SLICE, item.physical_hash, item.size) for item in self.data)

    @property
    def names(self) -> Names:
        """The system columns' names."""
        vocabulary = self.projection.vocabulary
        return Names(
            offset=vocabulary.offset_column,
            operation_type=vocabulary.operation_type_column,
            system_time=vocabulary.system_time_column,
            event_time=vocabulary.event_time_column,
        )

    @property
    def schema(self) -> DataSchema | None:
        """The schema that the chain declares, None before it does."""
        event = self.projection.schema
        if event is None:
            return None
        if event.schema is not None:
            return event.schema
        return arrow_schema_to_odf(read_raw_arrow_schema(event.raw_arrow_schema or b""))
