"""The sample's way onto a node that starts for the first time: pushed, like anybody's dataset.

A file in the data directory remembers that it was done, so that an operator who deletes the sample is
not given it again.
"""

import asyncio
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.accounts.service import create_token, ensure_account, revoke_token
from app.database import create_engine
from app.datasets.addressing import dataset_prefix_of
from app.sample.dataset import NAME, make_sample
from app.settings import Settings
from odf_core.metadata import Seed
from odf_core.transfer import Visibility
from odf_core.transfer.client import DatasetAddress, DatasetFolder, Http, SmartPush, TransferOptions

MARKER = "sample-published"
TOKEN_LIFE = timedelta(minutes=15)


def sample_url(address: str, settings: Settings) -> str:
    """Where the sample of the node at `address` is, for `odf pull`."""
    path = dataset_prefix_of(settings).format(account=settings.accounts.default_account, dataset=NAME)
    return f"odf+{address}{path}"


def publish_sample(address: str, settings: Settings) -> bool:
    """Push the sample to the node that listens at `address`; False if this was done before.

    Raises what a push raises; the next start tries again then.
    """
    marker = settings.embedded.data_dir / MARKER
    if marker.exists():
        return False
    with tempfile.TemporaryDirectory(prefix="odf-sample-") as scratch:
        dataset = make_sample(Path(scratch), manifest_version=settings.blocks.manifest_version)
        asyncio.run(_push_as_default_account(dataset, address, settings))
    marker.touch()
    return True


async def _push_as_default_account(dataset: DatasetFolder, address: str, settings: Settings) -> None:
    """With a token that is revoked right after."""
    engine = create_engine(settings.database)
    try:
        owner = settings.accounts.default_account
        await ensure_account(engine, owner)
        token = await create_token(engine, owner, "sample", expires_at=datetime.now(UTC) + TOKEN_LIFE)
        try:
            await asyncio.to_thread(_push, dataset, sample_url(address, settings), token.text)
        finally:
            await revoke_token(engine, token.info.id)
    finally:
        await engine.dispose()


def _push(dataset: DatasetFolder, url: str, token: str) -> None:
    seed = next(block.block.event for block in dataset.walk() if block.block.sequence_number == 0)
    if not isinstance(seed, Seed):
        raise TypeError("the sample does not begin with its seed")
    with Http(TransferOptions()) as http:
        SmartPush(
            http,
            DatasetAddress.parse(url),
            dataset,
            seed.dataset_id,
            token=token,
            visibility=Visibility.PUBLIC,
        ).run()
