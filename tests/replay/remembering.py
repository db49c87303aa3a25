"""An engine that evaluates each request once: replays of copies of one chain ask for the same again."""

import hashlib
import shutil
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from odf_core.metadata import TransformSql
from odf_core.transform.port import Say, StepDone, TableSchema, TransformEngine, ValidQuery
from odf_core.transform.request import DatasetVocabulary, TransformRequest


class Remembering:
    """A `TransformEngine` around a real one; requests are told apart by the contents of their files."""

    def __init__(self, engine: TransformEngine, folder: Path) -> None:
        self.real = engine
        self._folder = folder
        self._done: dict[str, StepDone | Exception] = {}
        self._lock = threading.Lock()
        self.evaluated = 0

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
        key = _key(request)
        with self._lock:
            done = self._done.get(key)
        if done is None:
            done = self._evaluated(key, request, say)
        if isinstance(done, Exception):
            raise done
        for kind, path in (("data", request.new_data_path), ("checkpoint", request.new_checkpoint_path)):
            kept = self._folder / f"{key}-{kind}"
            if kept.is_file():
                shutil.copyfile(kept, path)
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

    def _evaluated(self, key: str, request: TransformRequest, say: Say) -> StepDone | Exception:
        asked = replace(
            request,
            new_data_path=str(self._folder / f"{key}-data"),
            new_checkpoint_path=str(self._folder / f"{key}-checkpoint"),
        )
        done: StepDone | Exception
        try:
            done = self.real.execute(asked, say)
        except Exception as error:
            done = error
        with self._lock:
            self.evaluated += 1
            self._done[key] = done
        return done


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
