"""A dataset and everything that it is computed from, verified together: one verdict, and that of each."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from app.datasets.model import DatasetInfo
from app.verification.check import Checked, Subject
from app.verification.requests import Level, VerifyRequest
from app.verification.subjects import SubjectFound
from odf_core.identity import DatasetId
from odf_core.verify import ReplayOptions
from odf_core.verify.lineage import InputVerdict, input_findings

SHOWN_UPSTREAM = 10
"""Findings of each further dataset that the job tells; its own statement has more."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What came of one dataset; `request` is what was asked of it."""

    dataset: DatasetInfo
    request: VerifyRequest
    checked: Checked
    is_kept: bool
    """Whether the finding becomes a statement beside the dataset. Whoever may only read a dataset is not to
    replace the last word about it by a weaker one: of files alone, or hindered by what they may not read."""

    def to_json(self) -> dict[str, Any]:
        """The fields of `DatasetVerdict` (app.jobs.routes)."""
        return {
            "id": str(self.dataset.id),
            "alias": str(self.dataset.alias),
            "isAttested": self.is_kept,
            **self.checked.to_json(SHOWN_UPSTREAM),
        }


def lanes(datasets: int) -> int:
    """How many datasets are verified at one time: as many as steps of one would be."""
    return max(1, min(ReplayOptions().parallelism, datasets))


def verify_all(
    found: Sequence[SubjectFound], request: VerifyRequest, check: Callable[[Subject, VerifyRequest], Checked]
) -> list[Verified]:
    """Verifies each, several at one time, and adds what the verdicts about inputs say; in the order of
    `found`: inputs first, the asked one last. Raises what `check` raises."""
    requests = [request if item is found[-1] else request.upstream for item in found]
    with ThreadPoolExecutor(lanes(len(found)), "verify") as pool:
        try:
            waiting = [
                pool.submit(check, item.subject, wanted) for item, wanted in zip(found, requests, strict=True)
            ]
            checked = [future.result() for future in waiting]
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    verdicts: dict[DatasetId, InputVerdict] = {}
    verified = []
    for item, wanted, one in zip(found, requests, checked, strict=True):
        known = _with_inputs(item.subject, one, verdicts) if request.recursive else one
        verdicts[item.dataset.id] = InputVerdict(str(item.dataset.id), known.ok)
        is_full = wanted.level is Level.REPLAY and not item.subject.missing
        is_kept = item is found[-1] or item.may_write or is_full
        verified.append(Verified(item.dataset, wanted, known, is_kept))
    return verified


def _with_inputs(subject: Subject, checked: Checked, verdicts: dict[DatasetId, InputVerdict]) -> Checked:
    def why(dataset_id: DatasetId) -> str:
        reason = subject.missing.get(dataset_id)
        return f"The input {dataset_id} was not verified." if reason is None else reason.message

    return replace(checked, further=tuple(input_findings(subject.inputs, verdicts, why)))
