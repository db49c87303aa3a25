"""Requests and answers of `/query` and `/verify` (data.md 6)."""

from enum import StrEnum
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator


class Dialect(StrEnum):
    """Dialects of SQL that are answered; those of other engines are refused."""

    DATAFUSION = "SqlDataFusion"
    SPARK = "SqlSpark"


class DataFormat(StrEnum):
    """Forms of the records."""

    JSON_AOS = "JsonAoS"
    JSON_SOA = "JsonSoA"
    JSON_AOA = "JsonAoA"


class SchemaFormat(StrEnum):
    """Forms of the schema."""

    ARROW_JSON = "ArrowJson"
    ODF_JSON = "OdfJson"


class Include(StrEnum):
    """What an answer has beside the records."""

    INPUT = "Input"
    PROOF = "Proof"
    SCHEMA = "Schema"


class _Camel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class PinnedDataset(_Camel):
    """A dataset under the name that it has in the query, as of a block."""

    id: str = Field(max_length=1024, description="DID of the dataset.")
    alias: str = Field(max_length=1024, description="Its name in the query.")
    block_hash: str | None = Field(
        None, alias="blockHash", max_length=1024, description="As of this block; default: the head."
    )


class QueryRequest(_Camel):
    """A query, and how it is to be answered."""

    query: str = Field(max_length=1_000_000)
    query_dialect: Dialect = Field(Dialect.SPARK, alias="queryDialect")
    data_format: DataFormat = Field(DataFormat.JSON_AOS, alias="dataFormat")
    include: tuple[Include, ...] = Field((), description="In any case of letters.")
    schema_format: SchemaFormat | None = Field(None, alias="schemaFormat")
    datasets: tuple[PinnedDataset, ...] | None = Field(
        None, max_length=1000, description="Given: the only datasets that the query sees."
    )
    skip: int = Field(0, ge=0)
    limit: int = Field(100, ge=0)

    @field_validator("include", mode="before")
    @classmethod
    def _any_case(cls, value: Any) -> Any:
        names = {item.value.lower(): item.value for item in Include}
        if not isinstance(value, list | tuple):
            return value
        return tuple(names.get(str(item).strip().lower(), item) for item in value)

    @model_validator(mode="after")
    def _implied(self) -> Self:
        wanted = set(self.include)
        if self.schema_format is not None:
            wanted.add(Include.SCHEMA)
        if Include.PROOF in wanted:
            wanted.add(Include.INPUT)
        object.__setattr__(self, "include", tuple(sorted(wanted)))
        if Include.SCHEMA in wanted and self.schema_format is None:
            object.__setattr__(self, "schema_format", SchemaFormat.ARROW_JSON)
        return self

    def to_input(self, pinned: tuple[PinnedDataset, ...]) -> dict[str, Any]:
        """The request as answers repeat it and as it is hashed, with the datasets that were read."""
        told: dict[str, Any] = {
            "query": self.query,
            "queryDialect": self.query_dialect.value,
            "dataFormat": self.data_format.value,
            "include": [item.value for item in self.include],
            "skip": self.skip,
            "limit": self.limit,
            "datasets": [
                {"id": item.id, "alias": item.alias, "blockHash": item.block_hash}
                for item in sorted(pinned, key=lambda item: item.id)
            ],
        }
        if self.schema_format is not None:
            told["schemaFormat"] = self.schema_format.value
        return told


class VerifyRequest(_Camel):
    """An answer with its proof, without the output."""

    input: dict[str, Any]
    sub_queries: list[Any] = Field([], alias="subQueries")
    commitment: dict[str, Any]
    proof: dict[str, Any]


class QueryAnswer(BaseModel):
    """The answer to a query."""

    input: dict[str, Any] | None = None
    output: dict[str, Any]
    sub_queries: list[Any] | None = Field(None, alias="subQueries")
    commitment: dict[str, str] | None = None
    proof: dict[str, str] | None = None


class VerifyError(BaseModel):
    """Why an answer is not what the node would say."""

    kind: str
    message: str


class VerifyAnswer(BaseModel):
    """Whether an answer is good."""

    ok: bool
    error: VerifyError | None = None
