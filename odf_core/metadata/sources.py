"""Sources of root datasets: fetch, prepare and merge (metadata.md 1)."""

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from odf_core.metadata.declare import I32, U64, UnionOf
from odf_core.metadata.enums import CompressionFormat, MqttQos, SourceOrdering


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTimeSourceFromMetadata:
    """Event time is what the source says about the file, such as its time of modification."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTimeSourceFromPath:
    """Event time is cut out of the file's path by a regular expression."""

    pattern: str
    timestamp_format: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTimeSourceFromSystemTime:
    """Event time is the time of ingestion."""


EventTimeSource: TypeAlias = Annotated[
    EventTimeSourceFromMetadata | EventTimeSourceFromPath | EventTimeSourceFromSystemTime,
    UnionOf("EventTimeSource", prefix="EventTimeSource", short_form=True),
]
"""Where the event time of a file's records comes from when they carry none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCachingForever:
    """What was fetched once is never fetched again."""


SourceCaching: TypeAlias = Annotated[
    SourceCachingForever, UnionOf("SourceCaching", prefix="SourceCaching", short_form=True)
]
"""How long a fetched file holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestHeader:
    """A header of an HTTP request."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvVar:
    """An environment variable; without a value it is taken from the caller's environment."""

    name: str
    value: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MqttTopicSubscription:
    """A topic of an MQTT broker; without `qos` at most once."""

    path: str
    qos: MqttQos | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchStepUrl:
    """One file by its URL."""

    url: str
    event_time: EventTimeSource | None = None
    cache: SourceCaching | None = None
    headers: tuple[RequestHeader, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchStepFilesGlob:
    """Files of a local pattern, one after another."""

    path: str
    event_time: EventTimeSource | None = None
    cache: SourceCaching | None = None
    order: SourceOrdering | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchStepContainer:
    """Output of a container."""

    image: str
    command: tuple[str, ...] | None = None
    args: tuple[str, ...] | None = None
    env: tuple[EnvVar, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchStepMqtt:
    """Messages of an MQTT broker."""

    host: str
    port: I32
    username: str | None = None
    password: str | None = None
    topics: tuple[MqttTopicSubscription, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchStepEthereumLogs:
    """Log events of an Ethereum-compatible chain."""

    chain_id: U64 | None = None
    node_url: str | None = None
    filter: str | None = None
    signature: str | None = None


FetchStep: TypeAlias = Annotated[
    FetchStepUrl | FetchStepFilesGlob | FetchStepContainer | FetchStepMqtt | FetchStepEthereumLogs,
    UnionOf("FetchStep", prefix="FetchStep"),
]
"""How raw bytes are obtained."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepStepDecompress:
    """Unpacks; `sub_path` chooses files of an archive."""

    format: CompressionFormat
    sub_path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepStepPipe:
    """Runs a command that reads standard input and writes standard output."""

    command: tuple[str, ...]


PrepStep: TypeAlias = Annotated[
    PrepStepDecompress | PrepStepPipe,
    UnionOf("PrepStep", prefix="PrepStep", wrapper="PrepStepWrapper"),
]
"""What is done with raw bytes before they are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeStrategyAppend:
    """Every record read is new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeStrategyLedger:
    """Records never change; those with a known key are left out."""

    primary_key: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeStrategySnapshot:
    """What is read is the whole state; the difference to the last state becomes the new records."""

    primary_key: tuple[str, ...]
    compare_columns: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeStrategyChangelogStream:
    """What is read is already a stream of changes, retractions and corrections."""

    primary_key: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeStrategyUpsertStream:
    """What is read is a stream of inserts, updates and deletions by key."""

    primary_key: tuple[str, ...]


MergeStrategy: TypeAlias = Annotated[
    MergeStrategyAppend
    | MergeStrategyLedger
    | MergeStrategySnapshot
    | MergeStrategyChangelogStream
    | MergeStrategyUpsertStream,
    UnionOf("MergeStrategy", prefix="MergeStrategy"),
]
"""How records read become records of the dataset."""
