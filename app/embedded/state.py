"""What embedded mode keeps from one start to the next: URLs that are out name this port and this key."""

import os
import secrets
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.embedded.directory import unusable
from app.embedded.errors import EmbeddedStateUnreadable


def _new_key_id() -> str:
    return "odf" + secrets.token_hex(8)


def _new_secret() -> str:
    return secrets.token_urlsafe(30)


class ServicesState(BaseModel):
    """Content of `services.json`. The secret never leaves the file's owner (mode 0600)."""

    model_config = ConfigDict(extra="forbid")

    s3_port: int = Field(0, ge=0, le=65535, description="0: none chosen yet")
    access_key_id: str = Field(default_factory=_new_key_id, min_length=3, pattern=r"^[A-Za-z0-9]+$")
    secret_access_key: str = Field(default_factory=_new_secret, min_length=16, pattern=r"^[A-Za-z0-9_-]+$")
    socket_dir: str | None = None


def load_state(path: Path) -> ServicesState:
    """Read the state, or make a new one where there is none; raises EmbeddedStateUnreadable."""
    try:
        return ServicesState.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return ServicesState()
    except OSError as error:
        raise unusable(path.parent, error) from error
    except ValidationError as error:
        raise EmbeddedStateUnreadable(
            f"{path} is damaged: delete it, and a new port and new S3 credentials are made "
            "(presigned URLs that are out stop working).",
            objects=[path],
        ) from error


def save_state(path: Path, state: ServicesState) -> None:
    """Replace the file as a whole, readable by its owner only."""
    fresh = path.with_suffix(".new")
    try:
        fresh.unlink(missing_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(state.model_dump_json(indent=2) + "\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        raise unusable(path.parent, error) from error
