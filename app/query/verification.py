"""Whether an answer is what its commitment, its signature and the datasets say (data.md 6)."""

from typing import Any

from pydantic import ValidationError

from app.accounts.model import Caller
from app.context import NodeContext
from app.datasets.errors import BlockNotFound, DatasetNotFound
from app.query.model import QueryRequest, VerifyRequest
from app.query.run import answer
from odf_core.errors import InvalidInput
from odf_core.query.commitment import (
    BadProof,
    Commitment,
    CommitmentMismatch,
    json_hash,
    require_known_type,
    require_signature,
)


async def verify_answer(node: NodeContext, caller: Caller, told: VerifyRequest) -> dict[str, Any] | None:
    """What is wrong with the answer, as the route says it; None where it is good.

    In the order of the deployed node: type of the proof, hash of the input, of the sub-queries, signature,
    and then the query itself, run again. Raises `ProofUnsupported`, and what running a query raises.
    """
    try:
        require_known_type(told.proof)
        commitment = Commitment.from_json(told.commitment)
        commitment.require_parts(told.input, told.sub_queries)
        require_signature(commitment, told.proof)
        request = _request(told.input)
    except CommitmentMismatch as error:
        return _invalid(error.kind, error.message)
    except BadProof as error:
        return _invalid("BadSignature", error.message)
    return await _run_again(node, caller, request, commitment)


async def _run_again(
    node: NodeContext, caller: Caller, request: QueryRequest, commitment: Commitment
) -> dict[str, Any] | None:
    try:
        done = await answer(node, caller, request)
    except DatasetNotFound as error:
        dataset_id = next(iter(error.objects), "")
        return {
            "kind": "VerificationFailed::DatasetNotFound",
            "message": error.message,
            "dataset_id": dataset_id,
        }
    except BlockNotFound as error:
        dataset_id, block = (*error.objects, "", "")[:2]
        return {
            "kind": "VerificationFailed::DatasetBlockNotFound",
            "message": error.message,
            "dataset_id": dataset_id,
            "block_hash": block,
        }
    actual = json_hash(done.output)
    if actual == commitment.output_hash:
        return None
    return {
        "kind": "VerificationFailed::OutputMismatch",
        "message": "The query gives another output now than the one that was committed to.",
        "expected_hash": str(commitment.output_hash),
        "actual_hash": str(actual),
    }


def _request(told: dict[str, Any]) -> QueryRequest:
    """The request that the input repeats. Raises `CommitmentMismatch` for what is none."""
    try:
        return QueryRequest.model_validate(told)
    except (ValidationError, InvalidInput) as error:
        raise CommitmentMismatch("Input", "The input is not that of a query of this node.") from error


def _invalid(kind: str, message: str) -> dict[str, Any]:
    return {"kind": f"InvalidRequest::{kind}", "message": message}
