"""The options of a Csv read step with their defaults (metadata.md 5), checked."""

from dataclasses import dataclass

from odf_core.ingest.read.convert import Formats
from odf_core.ingest.read.errors import InvalidReadOption
from odf_core.ingest.read.text_stream import encoding_of
from odf_core.metadata import ReadStepCsv


@dataclass(frozen=True, slots=True)
class CsvOptions:
    """`quote` and `escape` are None where they are turned off; `encoding` is Python's name."""

    separator: str
    quote: str | None
    escape: str | None
    encoding: str
    header: bool
    infer_schema: bool
    nulls: tuple[str, ...]
    formats: Formats

    @classmethod
    def of(cls, step: ReadStepCsv) -> "CsvOptions":
        """Raises `InvalidReadOption`. An escape that is the quote is what doubling a quote does anyway.

        An empty field is null whatever `nullValue` says, and so is an empty quoted one (data.md 3.2).
        """
        separator = _sign("separator", "," if step.separator is None else step.separator)
        quote = _sign("quote", '"' if step.quote is None else step.quote, may_be_off=True)
        escape = _sign("escape", "\\" if step.escape is None else step.escape, may_be_off=True)
        if separator is None or separator in (quote, escape):
            raise InvalidReadOption(
                f"The read step's separator {separator!r} is its quote or escape as well.",
                objects=["separator"],
            )
        return cls(
            separator=separator,
            quote=quote,
            escape=None if quote is None or escape == quote else escape,
            encoding=encoding_of(step.encoding),
            header=bool(step.header),
            infer_schema=bool(step.infer_schema),
            nulls=tuple(dict.fromkeys(["", step.null_value or ""])),
            formats=Formats.of(step.date_format, step.timestamp_format),
        )


def _sign(option: str, value: str, *, may_be_off: bool = False) -> str | None:
    if not value and may_be_off:
        return None
    if len(value) != 1 or not value.isascii() or value in "\r\n\0":
        raise InvalidReadOption(
            f"The read step's {option} {value!r} is not one ASCII character (nor may it end lines).",
            objects=[option],
        )
    return value
