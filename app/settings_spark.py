"""The settings of the Spark engine, and what all groups of settings share."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from odf_core.engines.options import (
    EXCHANGE_PATTERN,
    MASTER_PATTERN,
    EngineOptionsInvalid,
    SparkOptions,
    require_harmless,
)
from odf_core.limits import MiB


class Group(BaseModel):
    """Settings of one matter: immutable, and none that is not known."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SparkSettings(Group):
    """The Spark engine, a process that is started when it is needed; the same names as in `odf`."""

    master: str = Field(
        "local[*]",
        pattern=f"^({MASTER_PATTERN})$",
        description="`local[*]` runs Spark within the engine's process; `spark://host:port` on a cluster.",
    )
    memory: str = Field(
        "2g", pattern=r"^[1-9][0-9]*[kmgKMG]$", description="Heap of the engine's Java, as Java writes it."
    )
    idle_seconds: float = Field(900, gt=0, description="The engine ends after so long without a call.")
    call_seconds: float = Field(6 * 3600, gt=0, description="Longest call; then the engine is killed.")
    start_seconds: float = Field(180, gt=0, description="Longest start of the engine.")
    calls: int = Field(4, ge=1, le=64, description="Calls at one time; more are answered `engine_busy`.")
    message_bytes: int = Field(64 * MiB, ge=MiB, description="Largest message to and from the engine.")
    java_home: Path | None = Field(
        None, description="Java 17 or later; default: JAVA_HOME, the machine's, else that of the wheel."
    )
    conf: dict[str, SecretStr] = Field(
        {}, description="Further settings of Spark (JSON), such as `spark.executor.memory`."
    )
    exchange: str | None = Field(
        None,
        pattern=f"^({EXCHANGE_PATTERN})$",
        description="Folder on S3 (`s3a://bucket/folder`) through which files reach the executors of a "
        "cluster; see docs/cluster.md. Not set: they see the folders of the engine.",
    )
    work_dir: Path | None = Field(
        None, description="Folder of the engine's files and log; best on the file system of the data."
    )
    runtime_dir: Path | None = Field(
        None, description="Folder of its socket; default: `ODF_RUNTIME_DIR`, XDG_RUNTIME_DIR, the cache."
    )
    listen: str | None = Field(
        None, description="`host:port` (deployed: 2884) or `unix:path` on which it serves coordinators too."
    )
    folders: list[Path] = Field([], description="Further folders that the engine may read and write.")
    sandbox: bool = Field(True, description="Fence the engine off from network and files where possible.")

    @field_validator("conf")
    @classmethod
    def _harmless(cls, value: dict[str, SecretStr]) -> dict[str, SecretStr]:
        try:
            require_harmless(value)
        except EngineOptionsInvalid as error:
            raise ValueError(error.message) from error
        return value

    def options(self) -> SparkOptions:
        """As the engine's handle takes them."""
        values = self.model_dump(exclude={"conf", "folders"})
        conf = tuple(sorted((name, value.get_secret_value()) for name, value in self.conf.items()))
        return SparkOptions(**values, conf=conf, folders=tuple(self.folders))
