"""Where the exceptions of boto3 and of its HTTP client end (stack.md 2.2, 2.9)."""

import contextlib
from collections.abc import Iterator
from typing import Any

import urllib3.exceptions
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    NoCredentialsError,
    PartialCredentialsError,
)

from odf_core.errors import OdfError
from odf_core.storage.errors import (
    BucketNotFound,
    InvalidKey,
    InvalidRange,
    ObjectNotFound,
    StoreAccessDenied,
    StoreUnavailable,
)

_DENIED_CODES = {
    "AccessDenied",
    "ExpiredToken",
    "InvalidAccessKeyId",
    "InvalidToken",
    "RequestTimeTooSkewed",
    "SignatureDoesNotMatch",
}
_MISSING_CODES = {"NoSuchKey", "NotFound", "404"}


@contextlib.contextmanager
def s3_errors(verb: str, bucket: str, key: str) -> Iterator[None]:
    """Turn what boto3 raises inside into leaves of ours, about `key` of `bucket`."""
    try:
        yield
    except ClientError as error:
        raise _refusal(error, verb, bucket, key) from error
    except (NoCredentialsError, PartialCredentialsError, CredentialRetrievalError) as error:
        raise StoreAccessDenied(
            f"Cannot {verb} {key or 'the bucket'}: there are no usable credentials for S3 ({error}).",
            objects=[key or bucket],
        ) from error
    except (BotoCoreError, urllib3.exceptions.HTTPError, OSError) as error:
        raise StoreUnavailable(
            f"Cannot {verb} {key or 'the bucket'}: the S3 server does not answer or breaks off "
            f"({type(error).__name__}).",
            objects=[key or bucket],
        ) from error


def _refusal(error: ClientError, verb: str, bucket: str, key: str) -> OdfError:
    answer: dict[str, Any] = dict(error.response)
    code = str(answer.get("Error", {}).get("Code", ""))
    status = int(answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    objects = [key or bucket]
    if code == "NoSuchBucket" or (status == 404 and not key):
        return BucketNotFound(f"There is no bucket {bucket} on the S3 server.", objects=[bucket])
    if code in _MISSING_CODES or status == 404:
        return ObjectNotFound(f"There is no object {key}.", objects=objects)
    extras = {"status": status, "s3_code": code}
    if status in (401, 403) or code in _DENIED_CODES:
        return StoreAccessDenied(
            f"Cannot {verb} {key or 'the bucket'}: S3 refuses this program's credentials ({code}); "
            "look at its key, its rights on the bucket and at the clocks.",
            objects=objects,
            extras=extras,
        )
    if status == 416:
        return InvalidRange(
            f"{key} does not have the part that was asked for.", objects=objects, extras=extras
        )
    if status == 400 and code in ("InvalidArgument", "KeyTooLongError", "InvalidURI"):
        return InvalidKey(f"The S3 server does not accept the key {key!r}.", objects=objects, extras=extras)
    return StoreUnavailable(
        f"Cannot {verb} {key or 'the bucket'}: the S3 server answered {status} {code}.",
        objects=objects,
        extras=extras,
    )
