"""The Spark engine as the node's settings want it, and where it finds the node's slices."""

from collections.abc import Callable
from dataclasses import replace

from app.settings import S3Settings, Settings
from odf_core.engines.handle import SparkEngine
from odf_core.engines.options import SparkOptions
from odf_core.engines.trial import QuickTrials
from odf_core.identity import DatasetId, ObjectRef
from odf_core.storage import dataset_prefix, object_key

_S3A = "spark.hadoop.fs.s3a."
_PROVIDERS = "org.apache.hadoop.fs.s3a."

PLANNING_ONLY = QuickTrials(None, 0)
"""Queries of new sources are tried as far as no engine is asked, which is for those who have to wait."""


def spark_engine(settings: Settings) -> SparkEngine:
    """A handle on the engine; it starts with its first call."""
    return SparkEngine(engine_options(settings))


def engine_options(settings: Settings) -> SparkOptions:
    """The engine's options. With `spark.exchange` the engine gets the node's way to S3; what `spark.conf`
    says of it weighs more."""
    options = settings.spark.options()
    if options.exchange is None:
        return options
    conf = {**_s3a(settings.s3), **dict(options.conf)}
    return replace(options, conf=tuple(sorted(conf.items())))


def slice_urls(settings: Settings) -> Callable[[DatasetId, ObjectRef], str] | None:
    """Names of slices in the node's bucket for an engine that reads them there; None: it gets files."""
    if settings.spark.exchange is None:
        return None
    root = f"s3a://{settings.s3.bucket}/{settings.s3.prefix}"
    return lambda dataset_id, ref: root + dataset_prefix(dataset_id) + object_key(ref)


def _s3a(s3: S3Settings) -> dict[str, str]:
    """Settings of Hadoop's client. Without a key it asks its own chain (environment, role of the machine)."""
    found = {
        "endpoint": s3.endpoint,
        "endpoint.region": s3.region,
        "path.style.access": str(s3.addressing_style == "path").lower(),
        "access.key": s3.access_key_id,
        "secret.key": s3.secret_access_key and s3.secret_access_key.get_secret_value(),
        "session.token": s3.session_token and s3.session_token.get_secret_value(),
        "aws.credentials.provider": _provider(s3),
    }
    return {_S3A + name: value for name, value in found.items() if value}


def _provider(s3: S3Settings) -> str | None:
    if s3.access_key_id is None:
        return None
    temporary = s3.session_token is not None
    return _PROVIDERS + ("TemporaryAWSCredentialsProvider" if temporary else "SimpleAWSCredentialsProvider")
