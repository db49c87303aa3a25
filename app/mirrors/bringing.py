"""A dataset brought here from its source, with all that it reads where that is wanted, inputs first.

A dataset is committed after the inputs that its new blocks name, so whoever reads it here finds them here.
"""

import asyncio
import hashlib
import os
import shutil
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio.from_thread
import anyio.to_thread
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from app.accounts.model import AccountInfo, Caller
from app.accounts.service import find_account_by_id
from app.context import NodeContext
from app.database import DatabaseUnavailable, connect
from app.datasets.access import authorize
from app.datasets.errors import DatasetNotFound
from app.datasets.model import Action, DatasetInfo
from app.datasets.service import find_dataset_by_id, find_datasets_by_ids
from app.mirrors.errors import AlreadyHere, MirrorSourceNotFound, MirrorTaken, MirrorTooLarge, NotRegistered
from app.mirrors.landing import NewMirror, follow_source, free_name, land_mirror
from app.mirrors.progress import PullProgress, PullStopped
from app.mirrors.pulling import Pulled, pull
from app.mirrors.repositories import Repositories
from app.mirrors.service import find_mirror_of, is_recursive
from app.mirrors.sources import Source, Wanted, locate
from app.transform.chains import read_whole_chain
from odf_core.errors import OdfError, Unavailable
from odf_core.identity import (
    AccountName,
    DatasetAlias,
    DatasetAliasRemote,
    DatasetId,
    DatasetIdRemote,
    DatasetName,
)
from odf_core.metadata import Seed, SetTransform, StoredBlock
from odf_core.transfer.client import Http
from odf_core.transfer.errors import HeadMoved, NameCollision, RefCollision
from odf_core.transfer.model import Visibility

log = structlog.get_logger(__name__)

MOST_DATASETS = 200
"""Datasets of one request, inputs of inputs among them."""
_TRIES = 3
"""How often a dataset is brought anew because another worker brought it meanwhile."""
_TELL_SECONDS = 1.0
_KEPT_SECONDS = 86_400.0

Record = Callable[[AsyncConnection, dict[str, Any]], Awaitable[None]]
"""Keeps what a job has come to so far, in the given transaction; raises `JobSuperseded`."""
Tell = Callable[[dict[str, Any]], Awaitable[None]]
"""Shows how far a pull is; raises `JobSuperseded`."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What is to be brought: `name` is what it is called here, `force` lets another chain replace it."""

    wanted: Wanted
    name: DatasetName | None = None
    recursive: bool = False
    force: bool = False
    is_input: bool = False


class _Here(Exception):
    """What is being pulled turns out to be here already, under another source's name."""

    def __init__(self, dataset_id: DatasetId) -> None:
        super().__init__(str(dataset_id))
        self.dataset_id = dataset_id


@dataclass(slots=True)
class Bringing:
    """The pulls of one job, for `account`. `brought` is told with each commit.

    Files go below `pulls`, in a folder of each source. It stays where the source or the bucket was not
    available or the worker died: the next attempt fetches what is missing in it.
    """

    node: NodeContext
    http: Http
    repositories: Repositories
    account: AccountInfo
    pulls: Path
    record: Record
    tell: Tell
    brought: list[dict[str, Any]] = field(default_factory=list)
    _seen: set[DatasetId] = field(default_factory=set)

    async def bring(self, ask: Ask) -> None:
        """Make the dataset here what it is at its source.

        Raises what `locate`, `pull` and `land_mirror` raise, `AlreadyHere`, `MirrorTaken`,
        `DatasetForbidden`, `MirrorTooLarge`; what was committed before stays.
        """
        for tries_left in reversed(range(_TRIES)):
            try:
                return await self._bring(ask)
            except _Here as found:
                if not tries_left:
                    raise RefCollision(found.dataset_id) from found
                ask = Ask(
                    DatasetIdRemote(None, found.dataset_id), None, ask.recursive, ask.force, ask.is_input
                )
            except (HeadMoved, RefCollision, NameCollision) as error:
                if not tries_left or (isinstance(error, NameCollision) and ask.name is not None):
                    raise
                log.info("mirror_repeated", wanted=str(ask.wanted), code=error.code)
        raise AssertionError("unreachable")

    async def _bring(self, ask: Ask) -> None:
        present, known, recursive = await self._present(ask)
        if present is not None and present.mirror_of is None:
            if ask.is_input:
                return
            raise AlreadyHere(
                f"{present.alias} is this dataset, on this node: it is no mirror, and grows here.",
                objects=[present.id],
            )
        source = await self._locate(ask, present)
        if present is not None:
            await follow_source(self.node, present, source, is_recursive=recursive)
        if present is not None and present.head == source.head:
            if recursive:
                await self._bring_inputs(source, await self._not_here(_inputs_of(known)))
            self._note(present.id, str(present.alias), source, present)
            return
        folder = _folder_of(self.pulls, source)
        try:
            pulled = await self._pull(source, known, folder, ask)
            self._seen.add(pulled.dataset_id)
            if recursive:
                await self._bring_inputs(source, _inputs_of(pulled.chain))
            if pulled.blocks:  # else the source went back to what is here while it was asked
                await self._land(pulled, present, ask, recursive)
        except (OdfError, _Here) as error:
            if not isinstance(error, Unavailable):
                shutil.rmtree(folder, ignore_errors=True)
            raise
        shutil.rmtree(folder, ignore_errors=True)

    async def _present(self, ask: Ask) -> tuple[DatasetInfo | None, Sequence[StoredBlock], bool]:
        """The dataset if it is here, its chain, and whether its inputs come along."""
        async with connect(self.node.engine) as conn:
            if isinstance(ask.wanted, DatasetIdRemote):
                found = await find_dataset_by_id(conn, ask.wanted.id)
            else:
                found = await find_mirror_of(conn, ask.wanted)
            if found is None:
                return None, (), ask.recursive
            try:
                authorize(Caller(self.account), found, Action.MANAGE if ask.force else Action.READ)
            except DatasetNotFound as error:
                raise MirrorTaken(
                    f"{ask.wanted} is on this node already, and private to another account; ask the operator "
                    "to make it public (`odf admin dataset set-visibility`).",
                    objects=[found.id],
                ) from error
            recursive = ask.recursive or await is_recursive(conn, found.pk)
            chain = await read_whole_chain(conn, found, self.node.settings.bounds)
        return found, chain, recursive

    async def _locate(self, ask: Ask, present: DatasetInfo | None) -> Source:
        """The source; of a mirror by the rights of its owner, and by its id where the name leads nowhere."""
        find = partial(locate, self.http, self.repositories)
        if present is None or present.mirror_of is None:
            return await anyio.to_thread.run_sync(find, self.account, ask.wanted, abandon_on_cancel=True)
        async with connect(self.node.engine) as conn:
            owner = await find_account_by_id(conn, present.owner_id) or self.account
        ref = DatasetAliasRemote.parse(present.mirror_of)
        try:
            return await anyio.to_thread.run_sync(find, owner, ref, abandon_on_cancel=True)
        except (MirrorSourceNotFound, NotRegistered):
            elsewhere = DatasetIdRemote(ref.repo, present.id)
            return await anyio.to_thread.run_sync(find, owner, elsewhere, abandon_on_cancel=True)

    async def _pull(self, source: Source, known: Sequence[StoredBlock], folder: Path, ask: Ask) -> Pulled:
        progress = PullProgress(str(source.ref), self.node.settings.mirrors.max_bytes)
        telling = asyncio.create_task(self._tell(progress))

        def check_seed(seed: Seed) -> None:
            anyio.from_thread.run(self._check_seed, source, ask, seed.dataset_id)

        work = partial(pull, self.http, source, known, folder, progress, check_seed, force=ask.force)
        try:
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        except PullStopped:
            await telling  # which says why
            raise
        finally:
            progress.is_stopped = True
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)

    async def _check_seed(self, source: Source, ask: Ask, dataset_id: DatasetId) -> None:
        """Before the objects of a new dataset are fetched."""
        if isinstance(ask.wanted, DatasetIdRemote) and ask.wanted.id != dataset_id:
            raise MirrorSourceNotFound(
                f"{source.ref} was named as {ask.wanted.id}, but its Seed says {dataset_id}.",
                objects=[ask.wanted.id, dataset_id],
            )
        async with connect(self.node.engine) as conn:
            if await find_dataset_by_id(conn, dataset_id) is not None:
                raise _Here(dataset_id)

    async def _tell(self, progress: PullProgress) -> None:
        """Again and again, until it is cancelled; where the job is another's meanwhile, the pull stops."""
        while True:
            await asyncio.sleep(_TELL_SECONDS)
            try:
                await self.tell({"datasets": self.brought, "progress": progress.to_values()})
            except DatabaseUnavailable:  # the commit will meet it, if it lasts
                continue
            except OdfError:
                progress.is_stopped = True
                raise

    async def _bring_inputs(self, source: Source, inputs: Iterable[DatasetId]) -> None:
        for dataset_id in inputs:
            if dataset_id in self._seen:
                continue
            self._seen.add(dataset_id)
            if len(self._seen) > MOST_DATASETS:
                raise MirrorTooLarge(
                    f"More than {MOST_DATASETS} datasets would be mirrored by one request; mirror some of "
                    "the inputs first.",
                    objects=[source.ref],
                )
            await self.bring(Ask(DatasetIdRemote(source.ref.repo, dataset_id), recursive=True, is_input=True))

    async def _not_here(self, ids: Sequence[DatasetId]) -> list[DatasetId]:
        async with connect(self.node.engine) as conn:
            here = {item.id for item in await find_datasets_by_ids(conn, ids)}
        return [item for item in ids if item not in here]

    async def _land(self, pulled: Pulled, present: DatasetInfo | None, ask: Ask, recursive: bool) -> None:
        target = present or await self._new(pulled, ask)
        self._note(pulled.dataset_id, str(target.alias), pulled.source, present, pulled)

        async def within(conn: AsyncConnection) -> None:
            await self.record(conn, {"datasets": self.brought})

        try:
            await land_mirror(self.node, pulled, target, is_recursive=recursive, within=within)
        except OdfError:
            self.brought.pop()
            raise
        log.info("mirrored", **self.brought[-1])

    async def _new(self, pulled: Pulled, ask: Ask) -> NewMirror:
        """As visible as at its source: public where anybody may read it there."""
        async with connect(self.node.engine) as conn:
            name = ask.name or await free_name(conn, self.account.id, pulled.source.ref.name)
        settings = self.node.settings
        single = settings.tenancy == "single"
        account = AccountName(settings.accounts.default_account if single else self.account.name)
        visibility = Visibility.PUBLIC if pulled.source.token is None else Visibility.PRIVATE
        return NewMirror(self.account, DatasetAlias(account, name), visibility)

    def _note(
        self,
        dataset_id: DatasetId,
        alias: str,
        source: Source,
        present: DatasetInfo | None,
        pulled: Pulled | None = None,
    ) -> None:
        self.brought.append(
            {
                "id": str(dataset_id),
                "dataset": alias,
                "source": str(source.ref),
                "oldHead": None if present is None else str(present.head),
                "newHead": str(source.head if pulled is None else pulled.blocks[-1].hash),
                "numBlocks": 0 if pulled is None else len(pulled.blocks),
                "numBytes": 0 if pulled is None else pulled.num_bytes,
            }
        )


def forget_pulls(pulls: Path) -> None:
    """Remove what was left of pulls that nobody went on with for a day. To be called between jobs."""
    forget_before = time.time() - _KEPT_SECONDS
    for left in pulls.iterdir() if pulls.is_dir() else ():
        if left.stat().st_mtime < forget_before:
            shutil.rmtree(left, ignore_errors=True)


def _folder_of(pulls: Path, source: Source) -> Path:
    folder = pulls / hashlib.sha256(str(source.ref).lower().encode()).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    return folder


def _inputs_of(blocks: Iterable[StoredBlock]) -> list[DatasetId]:
    """All datasets that a chain has ever read, in the order in which it names them."""
    found: dict[DatasetId, None] = {}
    for block in blocks:
        event = block.block.event
        for item in event.inputs if isinstance(event, SetTransform) else ():
            if isinstance(item.dataset_ref, DatasetId):
                found[item.dataset_ref] = None
    return list(found)
