"""Structures that several messages of the deployed dialect share (wire.md 3.1, 3.2).

A model reads text into a `value()` of `transfer.model`; `of(value)` is the JSON object to send (plain,
because lists of thousands of objects pass here). Unknown fields are ignored, as
the deployed peers do; everything else is strict.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, FailFast, Field

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
from odf_core.transfer.errors import DialectLimitation


class Wire(BaseModel):
    """What all messages share."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class Empty(Wire):
    """`{}`."""


class TransferPlan(Wire):
    """What a session will move."""

    num_blocks: U32
    num_objects: U32
    num_records: U64
    bytes_in_raw_blocks: U64
    bytes_in_raw_objects: U64

    def value(self) -> model.TransferPlan:
        return model.TransferPlan(
            self.num_blocks,
            self.num_objects,
            self.num_records,
            self.bytes_in_raw_blocks,
            self.bytes_in_raw_objects,
        )

    @classmethod
    def of(cls, plan: model.TransferPlan) -> Json:
        return {
            "num_blocks": plan.num_blocks,
            "num_objects": plan.num_objects,
            "num_records": plan.num_records or 0,
            "bytes_in_raw_blocks": plan.bytes_in_raw_blocks,
            "bytes_in_raw_objects": plan.bytes_in_raw_objects,
        }


class ObjectFileReference(Wire):
    """One object; its size is required here."""

    object_type: ObjectKind
    physical_hash: HashText
    size: U64

    def value(self) -> ObjectRef:
        return ObjectRef(self.object_type, self.physical_hash, self.size)

    @classmethod
    def of(cls, ref: ObjectRef) -> Json:
        if ref.size is None:
            raise DialectLimitation(f"The deployed dialect needs the size of {ref}.", objects=[ref])
        return {"object_type": ref.kind.value, "physical_hash": str(ref.hash), "size": ref.size}


class TransferHeader(Wire):
    """One HTTP header to send along."""

    name: HeaderName
    value: HeaderValue


class TransferUrl(Wire):
    """Where an object is fetched from or sent to."""

    url: WebUrl
    headers: Annotated[tuple[TransferHeader, ...], Field(max_length=100), FailFast()]
    expires_at: Moment | None = None

    def value(self) -> model.TransferUrl:
        headers = tuple((header.name, header.value) for header in self.headers)
        return model.TransferUrl(self.url, headers, self.expires_at)

    @classmethod
    def of(cls, url: model.TransferUrl) -> Json:
        headers = [{"name": name, "value": value} for name, value in url.headers]
        return {"url": url.url, "headers": headers, "expires_at": utc_text(url.expires_at)}
