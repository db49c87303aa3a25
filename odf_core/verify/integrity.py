"""Integrity of one dataset: every block, every rule, every object (data.md 5.1, and stricter).

Unlike the deployed implementation, a slice whose physical hash agrees is read nonetheless: its offsets,
columns and logical hash have to be what its block says (data.md 1.9).
"""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from odf_core.chain import InvalidInterval
from odf_core.errors import OdfError
from odf_core.identity import Multihash, ObjectKind
from odf_core.verify.chain_walk import ChainWalk, Claim
from odf_core.verify.findings import Finding, Severity, VerificationReport, VerificationSummary
from odf_core.verify.objects import ObjectVerdict, check_object
from odf_core.verify.options import Phase, Progress, ProgressCallback, VerifyOptions
from odf_core.verify.port import VerifiableDataset
from odf_core.verify.trouble import raise_if_trouble

_SUBMITTED_AHEAD = 2


class IntegrityCheck:
    """One run over one dataset: iterate over it once for the findings; `summary` grows on the way.

    A damaged dataset raises nothing. Raised are errors of storage that does not answer or refuses this
    program, and `InvalidInterval` for a `tail` that is no block of the chain.
    """

    def __init__(
        self,
        dataset: VerifiableDataset,
        options: VerifyOptions | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.summary = VerificationSummary()
        self._dataset = dataset
        self._options = options or VerifyOptions()
        self._progress = progress or (lambda progress: None)

    def __iter__(self) -> Iterator[Finding]:
        for finding in self._findings():
            self.summary.count(finding)
            yield finding

    def _findings(self) -> Iterator[Finding]:
        try:
            head = self._options.head or self._dataset.head()
        except OdfError as error:
            raise_if_trouble(error)
            yield Finding.of_error(error)
            return
        if head is None:
            yield Finding("head_missing", Severity.ERROR, "The dataset has no head: there is no refs/head.")
            return
        self.summary.head = head
        walk = ChainWalk(self._dataset, self._options.limits)
        yield from self._walk_back(walk, head)
        chosen = self._chosen(walk)
        yield from self._check_objects(self._walk_forward(walk, chosen), len(chosen))

    def _walk_back(self, walk: ChainWalk, head: Multihash) -> Iterator[Finding]:
        for finding in walk.back(head):
            if finding is not None:
                yield finding
                continue
            self.summary.blocks += 1
            self._progress(Progress(Phase.BLOCKS, self.summary.blocks, None))
        self.summary.whole_chain = walk.reached_seed

    def _chosen(self, walk: ChainWalk) -> set[Multihash]:
        """The blocks whose objects are to be checked."""
        names = walk.hashes
        tail = self._options.tail
        if tail is not None:
            if tail in names:
                names = names[: names.index(tail)]
            elif walk.reached_seed:
                raise InvalidInterval(self.summary.head, tail)
        if self._options.recent is not None:
            names = names[: max(0, self._options.recent)]
        return set(names)

    def _walk_forward(self, walk: ChainWalk, chosen: set[Multihash]) -> Iterator[Finding | list[Claim]]:
        """Findings of the rules and, for each chosen block, its claims; a checkpoint that several blocks
        name is claimed once."""
        checkpoints: set[Multihash] = set()
        for done, (name, claims, finding) in enumerate(walk.forward(), start=1):
            self._progress(Progress(Phase.RULES, done, len(walk.hashes)))
            if finding is not None:
                self.summary.whole_chain = False
                yield finding
            if name not in chosen:
                continue
            new = [claim for claim in claims if claim.ref.hash not in checkpoints]
            checkpoints.update(claim.ref.hash for claim in new if claim.ref.kind is ObjectKind.CHECKPOINT)
            yield new

    def _check_objects(self, found: Iterator[Finding | list[Claim]], blocks: int) -> Iterator[Finding]:
        """Objects in the order of their blocks, several at once; only a few are under way."""
        done = 0
        waiting: deque[list[Future[ObjectVerdict]]] = deque()
        pool = ThreadPoolExecutor(max(1, self._options.parallelism), "verify")
        try:
            for item in found:
                if isinstance(item, Finding):
                    yield item
                    continue
                waiting.append(
                    [pool.submit(check_object, self._dataset, claim, self._options) for claim in item]
                )
                while sum(map(len, waiting)) > _SUBMITTED_AHEAD * self._options.parallelism:
                    yield from self._collect(waiting.popleft())
                    done += 1
                    self._progress(Progress(Phase.OBJECTS, done, blocks, self.summary.bytes))
            while waiting:
                yield from self._collect(waiting.popleft())
                done += 1
                self._progress(Progress(Phase.OBJECTS, done, blocks, self.summary.bytes))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _collect(self, futures: "list[Future[ObjectVerdict]]") -> Iterator[Finding]:
        for future in futures:
            verdict = future.result()
            self.summary.objects += 1
            self.summary.bytes += verdict.bytes
            yield from verdict.findings


def verify_integrity(
    dataset: VerifiableDataset,
    options: VerifyOptions | None = None,
    *,
    progress: ProgressCallback | None = None,
) -> VerificationReport:
    """All findings at once; raises as `IntegrityCheck` does."""
    check = IntegrityCheck(dataset, options, progress=progress)
    findings = list(check)
    return VerificationReport(findings, check.summary)
