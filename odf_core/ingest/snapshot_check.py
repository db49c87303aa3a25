"""What is certainly wrong with the sources of a manifest, told before a dataset is made of it."""

from odf_core.chain import Vocabulary
from odf_core.data import odf_schema_to_arrow
from odf_core.ingest.source_check import check_source
from odf_core.ingest.trial import Trial, try_source
from odf_core.metadata import (
    AddPushSource,
    PlacedSnapshot,
    SetDataSchema,
    SetPollingSource,
    SetVocab,
)


def check_sources(placed: PlacedSnapshot, trial: Trial | None = None) -> None:
    """Raises what `check_source` and `try_source` raise, and `UnsupportedArrowType` for a schema that no file
    can have, told with the manifest's source and line. What follows from the kinds of events is for the
    chain's rules."""
    events = placed.snapshot.metadata
    vocabulary = Vocabulary()
    for event in events:
        if isinstance(event, SetVocab):
            vocabulary = Vocabulary.of(event)
    for number, event in enumerate(events):
        with placed.place.telling_of(("content", "metadata", number)):
            if isinstance(event, SetPollingSource | AddPushSource):
                check_source(event, vocabulary)
                try_source(event, vocabulary, trial)
            elif isinstance(event, SetDataSchema) and event.schema is not None:
                odf_schema_to_arrow(event.schema)
