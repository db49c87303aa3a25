"""How the bytes of one input become staged records: the read step, then what stands in for a preprocess."""

from dataclasses import dataclass, field
from pathlib import Path

from odf_core.ingest.history import History
from odf_core.ingest.read import ReadOptions, default_preprocess, read
from odf_core.ingest.read.media_types import read_step_for
from odf_core.ingest.round import strategy_of
from odf_core.ingest.values import StagedInput
from odf_core.metadata import AddPushSource, MergeStrategy, ReadStep, SetPollingSource, Transform


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """A source's definition, as far as it is about bytes that are there."""

    read: ReadStep
    preprocess: Transform | None
    merge: MergeStrategy
    options: ReadOptions = field(default_factory=ReadOptions)

    @classmethod
    def of_push(cls, source: AddPushSource, media_type: str | None, options: ReadOptions) -> "ReadPlan":
        """For pushed bytes; `media_type` where they are not of the source's own format.

        Raises `UnsupportedMediaType`.
        """
        step = source.read if media_type is None else read_step_for(media_type, source.read)
        return cls(step, source.preprocess, source.merge, options)

    @classmethod
    def of_polling(cls, source: SetPollingSource, options: ReadOptions) -> "ReadPlan":
        """For what a polling source's fetch brought and its prepare steps left."""
        return cls(source.read, source.preprocess, source.merge, options)

    def staged(self, path: Path, history: History, workdir: Path) -> StagedInput | None:
        """The records of the file `path`; None where it has no columns even. Raises what reading raises."""
        staged = read(self.read, path, workdir, self.options)
        if staged is None or staged.has_read_schema or self.preprocess is not None:
            return staged
        kind = strategy_of(self.merge).kind
        return default_preprocess(staged, history.projection.vocabulary, kind, workdir, self.options)
