"""Settings of derivative datasets and of the engines that compute them."""

from pathlib import Path

from pydantic import Field, field_validator

from app.settings_spark import Group
from odf_core.errors import InvalidInput
from odf_core.identity.did import KeyDid


class TransformSettings(Group):
    """Derivative datasets, which the node keeps up to date with their inputs."""

    retry_seconds: float = Field(
        600, gt=0, description="How long after a failed update a dataset that is behind is tried again."
    )
    validate_seconds: float = Field(
        10,
        gt=0,
        description="Longest time in which a new query is checked before it is answered; what takes longer "
        "is told by the first update.",
    )
    engines_dir: Path | None = Field(
        None,
        description="Folder of the engines of other releases that `odf engine install` has brought; default: "
        "`ODF_ENGINES_DIR`, else among the data of the user that the node runs as.",
    )
    equivalences_dir: Path | None = Field(
        None,
        description="Folder with `attestations/`, as `.odf` of a workspace: what `odf engine deprecate` "
        "has signed there about a dataset lets another version of an engine replay and update it, where the "
        "version of its chain is not installed.",
    )
    trusted_keys: tuple[str, ...] = Field(
        (),
        description="Whose signatures under these statements count: a list of `did:key:…`; nobody's else, "
        "not even the node's own.",
    )

    @field_validator("trusted_keys")
    @classmethod
    def _keys(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        try:
            for key in value:
                KeyDid.from_did_key(key)
        except InvalidInput as error:
            raise ValueError(error.message) from error
        return value
