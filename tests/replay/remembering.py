"""An engine that evaluates each request once: replays of copies of one chain ask for the same again."""

import hashlib
import pickle
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from odf_core.errors import OdfError
from odf_core.metadata import TransformSql
from odf_core.transform.port import Say, StepDone, TableSchema, TransformEngine, ValidQuery
from odf_core.transform.request import DatasetVocabulary, TransformRequest
from odf_core.verify.trouble import raise_if_trouble


class Remembering:
    """A `TransformEngine` around a real one; requests are told apart by the contents of their files.

    `folder` may be shared by processes: each answer is a folder of its own, which appears whole.
    """

    def __init__(self, engine: TransformEngine, folder: Path) -> None:
        self.real = engine
        self._folder = folder
        folder.mkdir(exist_ok=True)

    @property
    def name(self) -> str:
        return self.real.name

    def version(self) -> str:
        return self.real.version()

    def validate(
        self, transform: TransformSql, tables: Sequence[TableSchema], vocabulary: DatasetVocabulary
    ) -> ValidQuery:
        return self.real.validate(transform, tables, vocabulary)

    def execute(self, request: TransformRequest, say: Say) -> StepDone:
        kept = self._folder / _key(request)
        if not kept.is_dir():
            self._evaluate(kept, request, say)
        done: StepDone | OdfError = pickle.loads((kept / "done").read_bytes())
        if isinstance(done, OdfError):
            raise done
        for name, path in (("data", request.new_data_path), ("checkpoint", request.new_checkpoint_path)):
            if (kept / name).is_file():
                shutil.copyfile(kept / name, path)
        return done

    def migrate(
        self,
        old: TransformSql,
        new: TransformSql,
        tables: Sequence[TableSchema],
        vocabulary: DatasetVocabulary,
        checkpoint: Path | None,
        new_checkpoint: Path,
    ) -> None:
        self.real.migrate(old, new, tables, vocabulary, checkpoint, new_checkpoint)

    def _evaluate(self, kept: Path, request: TransformRequest, say: Say) -> None:
        draft = Path(tempfile.mkdtemp(dir=self._folder))
        asked = replace(
            request, new_data_path=str(draft / "data"), new_checkpoint_path=str(draft / "checkpoint")
        )
        done: StepDone | OdfError
        try:
            done = self.real.execute(asked, say)
        except OdfError as error:
            raise_if_trouble(error)
            done = error
        (draft / "done").write_bytes(pickle.dumps(done))
        try:
            draft.rename(kept)
        except OSError:  # another was quicker
            shutil.rmtree(draft)


def _key(request: TransformRequest) -> str:
    digest = hashlib.sha256()
    previous = request.prev_checkpoint_path
    digest.update(b"none" if previous is None else Path(previous).read_bytes())
    inputs = []
    for item in request.query_inputs:
        for path in item.data_paths:
            digest.update(hashlib.sha256(Path(path).read_bytes()).digest())
        inputs.append(replace(item, data_paths=(), schema_file=""))
    named = replace(
        request,
        query_inputs=tuple(inputs),
        prev_checkpoint_path=None,
        new_checkpoint_path="",
        new_data_path="",
    )
    digest.update(repr(named).encode())
    return digest.hexdigest()
