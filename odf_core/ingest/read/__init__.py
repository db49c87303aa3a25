"""The read phase of an ingest: prepared bytes in the formats of the specification, staged for the engine."""

from odf_core.ingest.read.declared import declared_schema
from odf_core.ingest.read.errors import (
    DuplicateInputColumn,
    InputLimitExceeded,
    InvalidReadOption,
    MalformedInput,
    UnexpectedInputShape,
    UnsupportedInputType,
    UnsupportedMediaType,
    ValueDoesNotFit,
    WrongInputEncoding,
)
from odf_core.ingest.read.media_types import (
    INPUT_FORMATS,
    MEDIA_TYPES,
    guess_media_type,
    media_type_of_format,
    media_type_of_step,
    read_step_for,
)
from odf_core.ingest.read.options import ReadOptions, ReadProgress
from odf_core.ingest.read.preprocess import default_preprocess
from odf_core.ingest.read.reading import read

__all__ = [
    "read",
    "default_preprocess",
    "declared_schema",
    "ReadOptions",
    "ReadProgress",
    "read_step_for",
    "media_type_of_step",
    "media_type_of_format",
    "guess_media_type",
    "MEDIA_TYPES",
    "INPUT_FORMATS",
    "MalformedInput",
    "WrongInputEncoding",
    "ValueDoesNotFit",
    "UnexpectedInputShape",
    "DuplicateInputColumn",
    "UnsupportedInputType",
    "InputLimitExceeded",
    "InvalidReadOption",
    "UnsupportedMediaType",
]
