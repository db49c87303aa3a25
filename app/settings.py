"""Every setting of the node as one typed model (docs/settings.md is made from it).

A setting comes from, in falling order of weight: arguments of the program, environment variables
(`ODF_<GROUP>__<NAME>`), the TOML file that `ODF_CONFIG` or an argument names, the default here. What
is not known is refused with a sentence, so that a misspelt setting never passes unseen.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, SecretStr, ValidationError, create_model, field_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from app.settings_spark import Group as _Group
from app.settings_spark import SparkSettings
from app.settings_transform import TransformSettings
from app.verification.modes import ReplayMode, folded_modes
from odf_core.errors import InvalidInput
from odf_core.identity import AccountName
from odf_core.limits import GiB, Limits, MiB

ENV_PREFIX = "ODF_"
CONFIG_VARIABLE = "ODF_CONFIG"
NESTING = "__"
OTHER_VARIABLES = frozenset(
    {
        CONFIG_VARIABLE,
        "ODF_WORKSPACE",
        "ODF_HOME",
        "ODF_TOKEN",
        "ODF_ACCESS_TOKEN",
        "ODF_RUNTIME_DIR",
        "ODF_ENGINES_DIR",
    }
)
"""Variables of this prefix that are no settings of the node."""
TEST_PREFIX = "ODF_TEST_"
"""Variables of the tests, which the nodes that they start inherit."""


class SettingsInvalid(InvalidInput):
    """A setting is unknown, missing or out of its bounds."""

    code: ClassVar[str] = "settings_invalid"


class HttpSettings(_Group):
    """Where the node listens, and how it is reached."""

    host: str = Field("127.0.0.1", description="Address to listen on; `0.0.0.0` for all interfaces.")
    port: int = Field(8080, ge=0, le=65535, description="Port to listen on; 0 lets the system choose.")
    public_url: str | None = Field(
        None,
        description="Origin under which clients reach the node, such as `https://odf.example.org`; it has "
        "no path. Taken from each request when it is not set.",
    )
    forwarded_allow_ips: str = Field(
        "127.0.0.1",
        description="Reverse proxies whose `X-Forwarded-*` headers are believed, comma-separated.",
    )
    drain_seconds: float = Field(
        30, ge=0, description="How long sessions may go on after the node was told to stop."
    )

    @field_validator("public_url")
    @classmethod
    def _origin(cls, value: str | None) -> str | None:
        if value is None:
            return None
        origin = value.rstrip("/")
        scheme, _, rest = origin.partition("://")
        if scheme not in ("http", "https") or not rest or "/" in rest or "?" in rest or "#" in rest:
            raise ValueError("it has to be an origin such as https://odf.example.org, without a path")
        return origin


class DatabaseSettings(_Group):
    """Postgres: the index of datasets, blocks and objects, and the accounts."""

    url: SecretStr | None = Field(
        None, description="`postgresql://user:password@host/name`; embedded mode sets it by itself."
    )
    pool_size: int = Field(10, ge=1, le=200, description="Connections that are kept open.")
    pool_overflow: int = Field(20, ge=0, le=500, description="More connections that are opened under load.")
    pool_timeout_seconds: float = Field(10, gt=0, description="How long to wait for a free connection.")
    connect_timeout_seconds: int = Field(5, ge=1, description="How long to wait for the server's answer.")
    statement_timeout_seconds: float = Field(60, ge=0, description="Longest statement; 0 for no bound.")
    lock_timeout_seconds: float = Field(10, ge=0, description="Longest wait for a lock; 0 for no bound.")
    idle_transaction_seconds: float = Field(
        120, ge=0, description="A transaction that does nothing for so long is ended; 0 for no bound."
    )


class S3Settings(_Group):
    """The bucket that holds the datasets; embedded mode sets address and keys by itself."""

    endpoint: str | None = Field(None, description="Address at which the node reaches S3; not set means AWS.")
    public_endpoint: str | None = Field(
        None, description="Address at which clients reach S3, for which URLs are signed; default: `endpoint`."
    )
    region: str = Field("us-east-1", min_length=1, description="Region that requests are signed for.")
    bucket: str = Field("odf", min_length=3, max_length=63, description="Name of the bucket.")
    prefix: str = Field("", description="Folder within the bucket; empty for the whole bucket.")
    access_key_id: str | None = Field(
        None, description="Access key; without one boto3's usual chain (role, profile, …) is asked."
    )
    secret_access_key: SecretStr | None = Field(None, description="Secret that belongs to `access_key_id`.")
    session_token: SecretStr | None = Field(None, description="Session token of temporary credentials.")
    addressing_style: Literal["path", "virtual"] = Field(
        "path", description="`path` puts the bucket into the path, `virtual` into the host name (AWS)."
    )
    max_connections: int = Field(64, ge=1, le=1000, description="Connections to S3 that the node keeps open.")

    @field_validator("endpoint", "public_endpoint")
    @classmethod
    def _address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        if not value.startswith(("http://", "https://")):
            raise ValueError("it has to start with http:// or https://")
        return value.rstrip("/")

    @field_validator("prefix")
    @classmethod
    def _folder(cls, value: str) -> str:
        folder = value.strip("/")
        if any(part in ("", ".", "..") for part in folder.split("/")) and folder:
            raise ValueError("it has to be a folder such as odf/datasets")
        return f"{folder}/" if folder else ""


class TransferSettings(_Group):
    """The Smart Transfer Protocol."""

    mode: Literal["presigned", "proxied"] = Field(
        "presigned",
        description="How object bytes move: `presigned` URLs of the bucket, or `proxied` through the node.",
    )
    url_ttl_seconds: int = Field(3600, ge=1, description="Life of a URL; grows with the bytes it is for.")
    url_ttl_max_seconds: int = Field(
        86_400, ge=1, le=604_800, description="Longest life of a URL (S3 allows seven days)."
    )
    progress_interval_seconds: float = Field(
        10, gt=0, description="How often a pushing client is asked for its progress."
    )
    close_wait_seconds: float = Field(
        5, ge=0, description="How long the node waits for the client's Close at the end."
    )
    session_ttl_seconds: float = Field(
        86_400, gt=0, description="Longest life of a session; its staged uploads are swept after it."
    )
    max_frame_bytes: int = Field(
        16 * MiB, ge=1024, description="Largest WebSocket frame that is sent; deployed peers read 16 MiB."
    )
    max_sent_message_bytes: int = Field(
        64 * MiB, ge=1024, description="Largest WebSocket message that is sent; deployed peers read 64 MiB."
    )
    fragment_messages: bool = Field(
        True,
        description="Send a message over `max_frame_bytes` as fragments; if off, an older part of the "
        "interval is sent instead and the next pull goes on.",
    )
    max_sessions: int = Field(512, ge=1, description="Sessions at one time; more are answered 503.")
    archive_cache_bytes: int = Field(
        1 * GiB, ge=0, description="Disk space for archives of blocks that several pulls share."
    )
    archive_parallelism: int = Field(2, ge=1, description="Archives of blocks that are made at one time.")


class AdmissionSettings(_Group):
    """What is checked before a pushed object becomes part of a dataset."""

    logical_hash: Literal["off", "sample", "on"] = Field(
        "sample",
        description="Recompute the logical hash of no slice of a push, of slices that are chosen at random, "
        "or of all. Whatever else can be checked of a slice always is.",
    )
    sample_rows: int = Field(
        1_000_000,
        ge=0,
        description='Records that `logical_hash = "sample"` hashes in a push; all slices of a push that has '
        "no more, at least one of any other.",
    )
    replay: ReplayMode = Field(
        "none",
        description="Whether new steps of a derivative dataset that is pushed are evaluated again: `none`, "
        "`after` the push, by a job whose finding is an attestation, or `before` it is accepted.",
    )
    replay_of: dict[str, ReplayMode] = Field(
        {},
        description="The same for datasets of an account or for one dataset (JSON), such as "
        '`{"alice": "after", "alice/prices": "before"}`; the nearest counts.',
    )
    parallelism: int = Field(4, ge=1, le=256, description="Objects that are read and checked at one time.")
    look_ahead_seconds: float = Field(
        0.25,
        ge=0,
        description="How often a session looks for uploads that have arrived, to check them while others "
        "are still on their way; 0: all are checked at the end.",
    )

    _modes = field_validator("replay_of")(folded_modes)


class AccountsSettings(_Group):
    """Who may read and write."""

    anonymous_read: bool = Field(True, description="Whether public datasets can be read without a token.")
    default_account: str = Field(
        "odf", description="Owner of all datasets when `tenancy` is `single`, and of the sample."
    )

    @field_validator("default_account")
    @classmethod
    def _name(cls, value: str) -> str:
        try:
            return str(AccountName(value))
        except InvalidInput as error:
            raise ValueError(error.message) from error


class BlocksSettings(_Group):
    """Metadata blocks that the node itself writes."""

    manifest_version: Literal[2, 3] = Field(
        2, description="Version of new blocks; 2 is read by every peer, 3 only by those of 2026-07 and later."
    )


class JobsSettings(_Group):
    """Work that outlives a request (ingest, polling), done by worker processes (`odf worker`)."""

    workers: int = Field(
        1,
        ge=0,
        le=64,
        description="Workers that the node starts itself; 0 where `odf worker` runs elsewhere.",
    )
    heartbeat_seconds: float = Field(5, gt=0, description="How often a worker says that it is alive.")
    stalled_seconds: float = Field(
        20, gt=0, description="A worker that was silent for so long is dead, and its job is done again."
    )
    poll_seconds: float = Field(
        1, gt=0, description="Longest time in which a worker notices work that it was not told of."
    )
    max_attempts: int = Field(
        5,
        ge=1,
        description="How often a job is begun before it counts as failed (its worker died each time).",
    )
    keep_days: float = Field(7, gt=0, description="How long the outcome of a job can be asked for.")
    scratch_dir: Path | None = Field(
        None, description="Folder for files of running jobs; default: in the machine's temporary folder."
    )
    cache_bytes: int = Field(
        10 * GiB, ge=0, description="Disk space in which a worker keeps slices of histories for later jobs."
    )


class IngestSettings(_Group):
    """Data that get into root datasets on this node."""

    allow: tuple[str, ...] = Field(
        (),
        description="What manifests may do beyond fetching from the public internet, as a list: `pipe`, "
        "`container`, `file`, `files_glob`, `mqtt`, `private_addresses`, `environment`, "
        "`network:10.1.0.0/16`, `env:NAME`.",
    )
    max_bytes: int = Field(1 * GiB, ge=1, description="Largest input of one ingest, sent or fetched.")
    max_file_bytes: int = Field(
        64 * GiB,
        ge=1,
        description="Largest file of the worker's machine that is fetched, where `allow` lets files be.",
    )
    max_upload_bytes: int = Field(
        5 * GiB,
        ge=1,
        le=5 * GiB,
        description="Largest file that is uploaded to S3 ahead of its ingest (S3 takes 5 GiB in one PUT).",
    )
    wait_seconds: float = Field(
        30, ge=0, description="How long a request waits for its job before it is answered 202."
    )

    @field_validator("allow")
    @classmethod
    def _policy(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        from odf_core.ingest.fetch.policy import FetchPolicy

        try:
            FetchPolicy.node(value)
        except InvalidInput as error:
            raise ValueError(error.message) from error
        return value


class MirrorsSettings(_Group):
    """Datasets of other nodes that are mirrored here, from repositories that `odf admin repo` registers."""

    poll_seconds: float = Field(
        300, ge=0, description="How often a mirror's source is asked for news; 0: only when somebody asks."
    )
    max_bytes: int = Field(
        64 * GiB, ge=1, description="Most bytes of new data files that are pulled for one dataset at once."
    )


class QuerySettings(_Group):
    """SQL over the datasets of the node."""

    seconds: float = Field(300, gt=0, description="Longest query; the engine is ended after it.")
    max_records: int = Field(
        100_000, ge=1, description="Most records of one answer, of `/query` and of `tail`."
    )
    max_bytes: int = Field(
        10 * GiB, ge=1, description="Most bytes of data files that one query may have to read."
    )
    state_bytes: int = Field(
        64 * MiB, ge=1, description="Most bytes of data files that `tail` folds into the records that stand."
    )
    parallelism: int = Field(2, ge=1, description="Queries at one time; others wait their turn.")
    signing_key: SecretStr | None = Field(
        None,
        description="Ed25519 key (64 hex digits) that signs answers with `include=proof`; default: one that "
        "the node makes and keeps in its database.",
    )


class LogSettings(_Group):
    """What the node says about itself, on standard error."""

    level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least level shown.")
    format: Literal["json", "console"] = Field(
        "json", description="`json` for machines, `console` for people."
    )


class EmbeddedSettings(_Group):
    """Postgres and S3 for one-machine use, as children of the node."""

    enabled: bool = Field(False, description="Run both; `database.url` and `s3.*` are then set by the node.")
    data_dir: Path = Field(Path("var/odf-node"), description="Folder that holds everything.")
    sample: bool = Field(True, description="Publish a small sample dataset on the first start.")


if TYPE_CHECKING:

    class LimitSettings(_Group):
        """The bounds of `Limits`, one setting each."""
else:
    LimitSettings = create_model(
        "LimitSettings",
        __base__=_Group,
        __doc__=Limits.__doc__,
        **{
            item.name: (int, Field(item.default, gt=0, description=item.metadata["description"]))
            for item in fields(Limits)
        },
    )


class Settings(BaseSettings):
    """The settings of one node; `load_settings` reads them from where they may stand."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX,
        env_nested_delimiter=NESTING,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        nested_model_default_partial_update=True,
    )

    tenancy: Literal["multi", "single"] = Field(
        "multi", description="`multi` addresses datasets as `/{account}/{dataset}`, `single` as `/{dataset}`."
    )
    http: HttpSettings = HttpSettings()
    database: DatabaseSettings = DatabaseSettings()
    s3: S3Settings = S3Settings()
    transfer: TransferSettings = TransferSettings()
    admission: AdmissionSettings = AdmissionSettings()
    accounts: AccountsSettings = AccountsSettings()
    blocks: BlocksSettings = BlocksSettings()
    jobs: JobsSettings = JobsSettings()
    ingest: IngestSettings = IngestSettings()
    mirrors: MirrorsSettings = MirrorsSettings()
    query: QuerySettings = QuerySettings()
    transform: TransformSettings = TransformSettings()
    limits: LimitSettings = LimitSettings()
    log: LogSettings = LogSettings()
    embedded: EmbeddedSettings = EmbeddedSettings()
    spark: SparkSettings = SparkSettings()

    file_values: ClassVar[Mapping[str, Any]] = {}

    @property
    def bounds(self) -> Limits:
        """`limits` as the library takes them."""
        return Limits(**self.limits.model_dump())

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        file_settings = InitSettingsSource(settings_cls, init_kwargs=dict(cls.file_values))
        return (init_settings, env_settings, file_settings)


def load_settings(config_file: Path | None = None, **overrides: Any) -> Settings:
    """The settings from arguments, environment and file, in this order of weight.

    `config_file` is a TOML file; without it `ODF_CONFIG` may name one. Raises `SettingsInvalid`.
    """
    named = os.environ.get(CONFIG_VARIABLE)
    path = config_file or (Path(named) if named else None)
    values = {} if path is None else _read_file(path)
    _refuse_unknown_variables(os.environ)

    class FromFile(Settings):
        file_values: ClassVar[Mapping[str, Any]] = values

    try:
        return FromFile(**overrides)
    except ValidationError as error:
        raise SettingsInvalid(
            "Settings cannot be used: " + " ".join(_sentences(error)),
            objects=[".".join(map(str, item["loc"])) for item in error.errors(include_input=False)],
        ) from None  # the chained error would carry the values, secrets among them
    except SettingsError as error:
        raise SettingsInvalid(f"Settings cannot be used: {error}.") from None


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsInvalid(
            f"The settings file {path} cannot be read ({error.strerror}).", objects=[path]
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsInvalid(f"The settings file {path} is not TOML: {error}.", objects=[path]) from error


def _refuse_unknown_variables(environ: Mapping[str, str]) -> None:
    """Names within a group are refused by the model; this is for groups that do not exist."""
    for variable in environ:
        name = variable.upper()
        if not name.startswith(ENV_PREFIX) or name in OTHER_VARIABLES or name.startswith(TEST_PREFIX):
            continue
        group, _, _ = variable[len(ENV_PREFIX) :].partition(NESTING)
        if group.lower() not in Settings.model_fields:
            raise SettingsInvalid(
                f"The environment variable {variable} names no setting: the groups are "
                f"{', '.join(sorted(Settings.model_fields))}; see docs/settings.md.",
                objects=[variable],
            )


def _sentences(error: ValidationError) -> list[str]:
    return [
        f"{'.'.join(map(str, item['loc']))}: {_MESSAGES.get(item['type'], item['msg'])}."
        for item in error.errors(include_input=False, include_url=False)
    ]


_MESSAGES = {"extra_forbidden": "there is no such setting"}
