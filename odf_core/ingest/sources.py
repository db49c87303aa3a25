"""Which source of a dataset an ingest is about (data.md 3.1)."""

from dataclasses import dataclass
from typing import ClassVar

from odf_core.chain import Projection
from odf_core.errors import InvalidInput, NotFound
from odf_core.ingest.read.media_types import read_step_for
from odf_core.metadata import (
    AddPushSource,
    FetchStepMqtt,
    FetchStepUrl,
    MergeStrategyAppend,
    ReadStepCsv,
    SetPollingSource,
    SourceState,
)

AUTOMATIC = "auto"
"""Name of a source that was made for a file."""


class NoPollingSource(NotFound):
    """A dataset that cannot be polled: it has no polling source."""

    code: ClassVar[str] = "no_polling_source"


class PushSourceNotFound(NotFound):
    """A dataset has no push source, or none of this name."""

    code: ClassVar[str] = "push_source_not_found"


class PushSourceAmbiguous(InvalidInput):
    """Several push sources, and nobody said which."""

    code: ClassVar[str] = "push_source_ambiguous"


@dataclass(frozen=True, slots=True)
class Uncacheable:
    """The source tells no state, so that polling again would read everything again (data.md 3.1)."""


def polling_source(dataset: object, at: Projection) -> SetPollingSource:
    """The polling source. Raises `NoPollingSource`."""
    if at.polling_source is None:
        raise NoPollingSource(
            f"Dataset {dataset} has no polling source; ingest files with `odf ingest`, or pull it by URL.",
            objects=[dataset],
        )
    return at.polling_source


def push_source(dataset: object, at: Projection, name: str | None) -> AddPushSource:
    """The push source `name`; without a name the only one. Raises `PushSourceNotFound`,
    `PushSourceAmbiguous`."""
    known = sorted(at.push_sources)
    if name is not None:
        found = at.push_sources.get(name)
        if found is None:
            raise PushSourceNotFound(
                f"Dataset {dataset} has no push source {name!r}"
                + (f", but {', '.join(map(repr, known))}." if known else ", nor any other."),
                objects=[dataset],
            )
        return found
    if not known:
        raise PushSourceNotFound(
            f"Dataset {dataset} has no push source; add one to its manifest (AddPushSource).",
            objects=[dataset],
        )
    if len(known) > 1:
        raise PushSourceAmbiguous(
            f"Dataset {dataset} has the push sources {', '.join(map(repr, known))}; say which one "
            f"(`--source-name`).",
            objects=[dataset],
        )
    return at.push_sources[known[0]]


def automatic_source(at: Projection, name: str | None, media_type: str | None) -> AddPushSource | None:
    """The source that an uploaded file brings along into a dataset that has none (data.md 3.1).

    It reads the file's format, columns and types as they are found, and appends. None where there is a
    source, another name is wanted, or the format is not told. Raises `UnsupportedMediaType`.
    """
    if at.push_sources or at.polling_source is not None or name not in (None, AUTOMATIC) or not media_type:
        return None
    step = read_step_for(media_type, None)
    if isinstance(step, ReadStepCsv):
        step = ReadStepCsv(header=True, infer_schema=True)
    return AddPushSource(source_name=AUTOMATIC, read=step, merge=MergeStrategyAppend())


def source_state(source: SetPollingSource, at: Projection) -> SourceState | None:
    """Where the source stood when it was asked last; None where it was not, or where another one was."""
    if at.last_add_data is None or _is_another(source, at.state_source):
        return None
    return at.last_add_data.new_source_state


def is_uncacheable(source: SetPollingSource, at: Projection) -> bool:
    """Whether the last data came without a source state, so that the next poll could only start anew."""
    if isinstance(source.fetch, FetchStepMqtt) or at.last_add_data is None:
        return False
    if _is_another(source, at.state_source):
        return False
    return at.last_add_data.new_source_state is None and at.last_offset is not None


def _is_another(now: SetPollingSource, before: SetPollingSource | None) -> bool:
    """Whether a state that `before` left means nothing to `now`.

    It is an ETag or the time of the file at one URL, or the name of the last file that a pattern found: at
    another URL it would hide what is there. A pattern that is changed goes on after the last file.
    """
    if before is None:
        return False
    if isinstance(now.fetch, FetchStepUrl) and isinstance(before.fetch, FetchStepUrl):
        return now.fetch.url != before.fetch.url
    return type(now.fetch) is not type(before.fetch)
