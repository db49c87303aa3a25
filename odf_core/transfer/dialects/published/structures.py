"""Structures that several messages of the published dialect share (wire-published.md).

A model reads text into a `value()` of `transfer.model`; `of(value)` is the JSON object to send (plain,
because lists of thousands of objects pass here). Unknown fields are ignored;
everything else is strict. Fields that are absent are left out.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from odf_core.identity import ObjectKind, ObjectRef
from odf_core.transfer import model
from odf_core.transfer.dialects.fields import (
    U32,
    U64,
    HashText,
    HeaderName,
    HeaderValue,
    Json,
    Moment,
    WebUrl,
    utc_text,
)


def present(**fields: object) -> Json:
    """The fields that are not None: what is absent is left out."""
    return {name: value for name, value in fields.items() if value is not None}


class Wire(BaseModel):
    """What all messages share."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, alias_generator=to_camel)


class Empty(Wire):
    """`{}`."""


class TransferSizeEstimation(Wire):
    """What a session will move; `numBlocks` 0 says that a pull is up to date."""

    num_blocks: U32
    num_objects: U32
    bytes_in_raw_blocks: U64
    bytes_in_raw_objects: U64

    def value(self) -> model.TransferPlan:
        return model.TransferPlan(
            self.num_blocks, self.num_objects, None, self.bytes_in_raw_blocks, self.bytes_in_raw_objects
        )

    @classmethod
    def of(cls, plan: model.TransferPlan) -> Json:
        return {
            "numBlocks": plan.num_blocks,
            "numObjects": plan.num_objects,
            "bytesInRawBlocks": plan.bytes_in_raw_blocks,
            "bytesInRawObjects": plan.bytes_in_raw_objects,
        }


class ObjectFileReference(Wire):
    """One object. (The published type names blocks, too; they travel in batches only.)"""

    object_type: ObjectKind
    physical_hash: HashText

    def value(self) -> ObjectRef:
        return ObjectRef(self.object_type, self.physical_hash, None)

    @classmethod
    def of(cls, ref: ObjectRef) -> Json:
        return {"objectType": ref.kind.value, "physicalHash": str(ref.hash)}


class TransferHeader(Wire):
    """One HTTP header to send along."""

    name: HeaderName
    value: HeaderValue


class TransferUrl(Wire):
    """Where an object is fetched from or sent to.

    `headers` is an addition of this node, sent only where a URL does not work without them.
    """

    url: WebUrl
    expires_at: Moment | None = None
    headers: Annotated[tuple[TransferHeader, ...] | None, Field(max_length=100)] = None

    def value(self) -> model.TransferUrl:
        headers = tuple((header.name, header.value) for header in self.headers or ())
        return model.TransferUrl(self.url, headers, self.expires_at)

    @classmethod
    def of(cls, url: model.TransferUrl) -> Json:
        headers = [{"name": name, "value": value} for name, value in url.headers]
        return present(url=url.url, expiresAt=utc_text(url.expires_at), headers=headers or None)


class ErrorDetails(Wire):
    """What went wrong: one of the codes of this document, a sentence, facts for programs."""

    error_code: Annotated[str, Field(max_length=200)]
    description: Annotated[str, Field(max_length=65_536)]
    extras: dict[str, Any] | None = None


class DatasetError(Wire):
    """May come in place of every answer; the connection ends behind it."""

    error_details: ErrorDetails


class ObjectsBatch(Wire):
    """Blocks in an archive."""

    objects_count: U32
    object_type: Literal["MetadataBlock"]
    media_type: model.MediaType
    encoding: Literal["base64"]
    payload: Annotated[str, Field(json_schema_extra={"contentEncoding": "base64"})]
