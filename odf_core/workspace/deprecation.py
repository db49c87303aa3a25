"""Engine deprecation: a newer version shows that it gives what the chain records (specification, the chapter
of this name), and that is signed and kept beside the dataset."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from odf_core.errors import Conflict
from odf_core.identity import DatasetAlias, DatasetId, Multihash
from odf_core.metadata import SetTransform, Timestamp, TransformSql
from odf_core.transform.errors import TransformNotDefined
from odf_core.transform.port import TransformEngine
from odf_core.verify import ReplayOptions, ReplayReport
from odf_core.verify.attestation import attest
from odf_core.workspace.dataset import LocalDataset
from odf_core.workspace.equivalence import EQUIVALENCE, equivalence_predicate, keep_attestation
from odf_core.workspace.transforms import ChooseEngine
from odf_core.workspace.verification import DatasetProgress, VerificationOptions, Verifications
from odf_core.workspace.workspace import Workspace


class EnginesDiffer(Conflict):
    """A version of an engine gives something else than the chain records; `extras["block"]` is the first."""

    code: ClassVar[str] = "engines_differ"


class NothingToDeprecate(Conflict):
    """The queries of a chain name no other version of the engine than the one that is to replace it."""

    code: ClassVar[str] = "nothing_to_deprecate"


@dataclass(frozen=True, slots=True)
class Deprecated:
    """What was shown and signed: up to the block `head`, `version` gives what `replaced` gave (None: a
    deployed engine). The statement is in the file `path`."""

    dataset: LocalDataset
    head: Multihash
    engine: str
    replaced: tuple[str | None, ...]
    version: str
    steps: int
    path: Path


@dataclass(slots=True)
class Deprecations:
    """Replays datasets of a workspace with another version than their chains name."""

    workspace: Workspace
    choose: ChooseEngine
    key: Ed25519PrivateKey
    now: Callable[[], Timestamp] = Timestamp.now
    progress: DatasetProgress = field(default=lambda dataset, progress: None)

    def run(self, reference: str | DatasetId | DatasetAlias, version: str) -> Deprecated:
        """Replays every step with `version` of the engine that the chain names, and signs that it gives the
        same. Raises `TransformNotDefined`, `NothingToDeprecate`, `EngineNotInstalled`, `EnginesDiffer`.
        """
        dataset = self.workspace.dataset(reference)
        engine, replaced = _named(dataset, version)
        self.choose(TransformSql(engine=engine, version=version))  # is it here?
        report, head = self._replayed(dataset, version)
        if not report.ok or head is None:
            first = next(iter(report.findings), None)
            raise EnginesDiffer(
                f"{engine} {version} does not give what the chain of {dataset.alias} records: "
                f"{first.message if first is not None else 'not every step was replayed.'}",
                objects=[dataset.id],
                extras={"block": None if first is None else first.block},
            )
        predicate = equivalence_predicate(
            engine, replaced, version, report.summary.to_json(), str(self.now())
        )
        envelope = attest(dataset.id, head, predicate, self.key, predicate_type=EQUIVALENCE)
        path = keep_attestation(self.workspace.root, dataset.id, envelope)
        return Deprecated(dataset, head, engine, replaced, version, report.summary.replayed, path)

    def _replayed(self, dataset: LocalDataset, version: str) -> tuple[ReplayReport, Multihash | None]:
        def choose(transform: TransformSql) -> TransformEngine:
            return self.choose(replace(transform, version=version))

        options = VerificationOptions(integrity=None, replay=ReplayOptions())
        (verified,) = Verifications(self.workspace, choose, self.progress).run([dataset], options)
        if verified.replay is None:
            raise TransformNotDefined(f"{dataset.alias} cannot be replayed.", objects=[dataset.id])
        return verified.replay, verified.head


def _named(dataset: LocalDataset, version: str) -> tuple[str, tuple[str | None, ...]]:
    """The engine of the chain, and its versions other than this one."""
    found: dict[tuple[str, str | None], None] = {}
    for block in dataset.folder.walk():
        event = block.block.event
        if isinstance(event, SetTransform):
            found[event.transform.engine.lower(), event.transform.version] = None
    if not found:
        raise TransformNotDefined(
            f"{dataset.alias} has no transformation: no engine computes it.", objects=[dataset.id]
        )
    engine = next(iter(found))[0]
    replaced = tuple(known for name, known in found if name == engine and known != version)
    if not replaced:
        raise NothingToDeprecate(
            f"{dataset.alias} names {engine} {version} already: there is nothing to replace.",
            objects=[dataset.id],
        )
    return engine, replaced
