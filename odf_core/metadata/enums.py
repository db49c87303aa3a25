"""Enumerations of the metadata; the values are the numbers of the FlatBuffers schema (metadata.md 1)."""

import enum


class MetadataEnum(enum.Enum):
    """Base of the enumerations: `BY_NAME` is `ByName` in manifests."""

    @property
    def text(self) -> str:
        """The value as manifests write it."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    def __str__(self) -> str:
        return self.text


class DatasetKind(MetadataEnum):
    """Whether data come from outside or from other datasets."""

    ROOT = 0
    DERIVATIVE = 1


class SourceOrdering(MetadataEnum):
    """In which order the files of a glob are read."""

    BY_EVENT_TIME = 0
    BY_NAME = 1


class MqttQos(MetadataEnum):
    """Quality of service of an MQTT subscription."""

    AT_MOST_ONCE = 0
    AT_LEAST_ONCE = 1
    EXACTLY_ONCE = 2


class CompressionFormat(MetadataEnum):
    """What the decompression step unpacks."""

    GZIP = 0
    ZIP = 1


class TimeUnit(MetadataEnum):
    """Precision of times; where a type leaves it out, readers take milliseconds."""

    SECOND = 0
    MILLISECOND = 1
    MICROSECOND = 2
    NANOSECOND = 3
