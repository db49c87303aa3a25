"""A worker from its settings to its end: the database and the bucket of the node, the engine, the jobs."""

import asyncio
import os
from functools import partial

import psycopg

from app.database import DatabaseUnavailable, database_url, upgrade
from app.ingest.engine import spark_engine
from app.ingest.schedules import start_due_pulls
from app.ingest.scratch import scratch_root, worker_scratch
from app.ingest.work import IngestWork
from app.jobs.worker import Worker, by_kind
from app.mirrors.requests import start_due_polls
from app.mirrors.work import MirrorWork
from app.node_services import NodeServices
from app.ops.logs import configure_logging
from app.transform.engines import installed_engines
from app.transform.triggers import start_stragglers
from app.transform.work import TransformWork
from app.verification.work import VerifyWork
from app.wiring import open_node
from odf_core.engines.merging import SparkMerges


def run_worker(services: NodeServices) -> None:
    """Work on the node's jobs until SIGINT or SIGTERM.

    Raises `SettingsInvalid`, `ScratchUnusable`, `DatabaseUnavailable`.
    """
    configure_logging(services.settings.log)
    upgrade(database_url(services.settings.database))
    try:
        asyncio.run(_work(services))
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable("The database does not answer; the worker ends.") from error


async def _work(services: NodeServices) -> None:
    settings = services.settings
    with worker_scratch(scratch_root(settings), settings.jobs.cache_bytes) as scratch:
        async with open_node(settings, services.open_bucket) as node:
            engine = SparkMerges(spark_engine(settings), settings.spark.call_seconds)
            ingest = IngestWork(node, engine, scratch, dict(os.environ))
            choose = installed_engines(settings)
            mirror, verify = MirrorWork(node, scratch), VerifyWork(node, choose, scratch)
            transform = TransformWork(node, choose, scratch, mirror.bring_inputs)
            work = by_kind(
                {
                    "ingest": ingest.run,
                    "mirror": mirror.run,
                    "pull": ingest.run,
                    "transform": transform.run,
                    "verify": verify.run,
                }
            )
            starters = (start_due_pulls, start_due_polls, start_stragglers)
            chores = [partial(start, node) for start in starters]
            await Worker(node, work, chores).run()
