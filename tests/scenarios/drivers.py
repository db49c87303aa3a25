"""Two clients that share no code, behind one interface: a scenario is written once and driven by each.

`ours` is the client of `odf_core`; `scripted` was written from the fact pages with the standard library
alone. Each speaks both dialects. What they tell of a refusal is brought to one word per meaning.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from odf_core.errors import OdfError
from odf_core.identity import DatasetId
from odf_core.transfer import Visibility
from odf_core.transfer.client import (
    DatasetAddress,
    DatasetFolder,
    DialectName,
    Http,
    SmartPull,
    SmartPush,
    TransferOptions,
    TransferResult,
    Updated,
)
from tests.scripted import deployed, published
from tests.scripted.deployed import Outcome, Refused, Remote
from tests.scripted.folder import Folder
from tests.scripted.websocket import HandshakeRefused


class Refusal(Exception):
    """A pull or push that did not come about: `what` in one word, the client's own words as the cause."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class Driver(Protocol):
    """Pulls and pushes a dataset's folder; raises `Refusal`.

    `Outcome` says whether anything moved, from which head to which, how many blocks, and how many
    objects the node held already.
    """

    @property
    def name(self) -> str: ...

    @property
    def has_force(self) -> bool: ...

    @property
    def has_visibility(self) -> bool: ...

    def pull(
        self, remote: Remote, folder: Path, dataset_id: DatasetId, *, force: bool = False
    ) -> Outcome: ...

    def push(
        self,
        remote: Remote,
        folder: Path,
        dataset_id: DatasetId,
        *,
        force: bool = False,
        visibility: str = "Private",
    ) -> Outcome: ...


@dataclass(frozen=True)
class OurDriver:
    """The client of `odf_core` on a plain folder."""

    dialect: DialectName

    @property
    def name(self) -> str:
        return f"ours-{self.dialect.value}"

    @property
    def has_force(self) -> bool:
        return self.dialect is DialectName.DEPLOYED

    has_visibility = has_force

    def options(self) -> TransferOptions:
        return TransferOptions(dialect=self.dialect, parallelism=4, backoff=0.05, durable=False)

    def pull(self, remote: Remote, folder: Path, dataset_id: DatasetId, *, force: bool = False) -> Outcome:
        local = DatasetFolder(folder)
        address = DatasetAddress.parse(f"odf+{remote.url}")
        with Http(self.options()) as http:
            pull = SmartPull(
                http,
                address,
                local,
                lambda seed: local,
                remote.token,
                force=force,
                dataset_id=dataset_id,
            )
            return _told_by_ours(pull)

    def push(
        self,
        remote: Remote,
        folder: Path,
        dataset_id: DatasetId,
        *,
        force: bool = False,
        visibility: str = "Private",
    ) -> Outcome:
        address = DatasetAddress.parse(f"odf+{remote.url}")
        with Http(self.options()) as http:
            push = SmartPush(
                http,
                address,
                DatasetFolder(folder),
                dataset_id,
                remote.token,
                force=force,
                visibility=Visibility(visibility),
            )
            return _told_by_ours(push)


@dataclass(frozen=True)
class ScriptedDeployed:
    """The scripted client as the deployed one behaves."""

    name = "scripted-deployed"
    has_force = True
    has_visibility = True

    def pull(self, remote: Remote, folder: Path, dataset_id: DatasetId, *, force: bool = False) -> Outcome:
        try:
            return deployed.pull(remote, Folder(folder), force=force)
        except (Refused, HandshakeRefused) as refused:
            raise _scripted(refused) from refused

    def push(
        self,
        remote: Remote,
        folder: Path,
        dataset_id: DatasetId,
        *,
        force: bool = False,
        visibility: str = "Private",
    ) -> Outcome:
        try:
            return deployed.push(remote, Folder(folder), force=force, visibility=visibility)
        except (Refused, HandshakeRefused) as refused:
            raise _scripted(refused) from refused


@dataclass(frozen=True)
class ScriptedPublished:
    """The scripted client in the published dialect, which has neither force nor visibility."""

    name = "scripted-published"
    has_force = False
    has_visibility = False

    def pull(self, remote: Remote, folder: Path, dataset_id: DatasetId, *, force: bool = False) -> Outcome:
        assert not force, "the published dialect has no force"
        try:
            return published.pull(remote, str(dataset_id), Folder(folder))
        except (Refused, HandshakeRefused) as refused:
            raise _scripted(refused) from refused

    def push(
        self,
        remote: Remote,
        folder: Path,
        dataset_id: DatasetId,
        *,
        force: bool = False,
        visibility: str = "Private",
    ) -> Outcome:
        assert not force, "the published dialect has no force"
        try:
            return published.push(remote, str(dataset_id), Folder(folder))
        except (Refused, HandshakeRefused) as refused:
            raise _scripted(refused) from refused


OURS = (OurDriver(DialectName.DEPLOYED), OurDriver(DialectName.PUBLISHED))
SCRIPTED = (ScriptedDeployed(), ScriptedPublished())
DRIVERS: tuple[Driver, ...] = (*OURS, *SCRIPTED)

_STATUSES = {400: "bad_request", 401: "unauthenticated", 403: "unauthorized", 404: "not_found"}
_CODES: Mapping[str, str] = {
    "datasets_diverged": "diverged",
    "destination_ahead": "diverged",
    "invalid_interval": "diverged",
    "InvalidInterval": "diverged",
    "prev_block_not_found": "diverged",
    "seed_on_nonempty_chain": "diverged",
    "second_seed": "diverged",
    "remote_unauthenticated": "unauthenticated",
    "remote_token_refused": "unauthenticated",
    "remote_forbidden": "unauthorized",
    "remote_dataset_not_found": "not_found",
    "RefCollision": "ref_collision",
    "NameCollision": "name_collision",
    "InvalidHead": "head_moved",
    "SeedBlockOverwriteRestricted": "identity_changed",
    "seed_overwrite_restricted": "identity_changed",
}


def _told_by_ours(transfer: SmartPull | SmartPush) -> Outcome:
    try:
        result: TransferResult = transfer.run()
    except OdfError as error:
        raise Refusal(_CODES.get(error.code, error.code)) from error
    if not isinstance(result, Updated):
        return Outcome(False, str(result.head), str(result.head))
    old = None if result.old_head is None else str(result.old_head)
    return Outcome(True, old, str(result.new_head), result.num_blocks, skipped=result.stats.objects_present)


def _scripted(refused: Refused | HandshakeRefused) -> Refusal:
    if isinstance(refused, HandshakeRefused):
        return Refusal(_STATUSES.get(refused.status, str(refused.status)))
    reply = refused.reply
    if isinstance(reply, dict):
        variant = next(iter(reply["Err"])) if "Err" in reply else str(reply.get("errorCode"))
        return Refusal(_CODES.get(variant, variant))
    words = {"diverged": "diverged", "dataset not found": "not_found"}
    return Refusal(words.get(str(reply), str(reply)))
