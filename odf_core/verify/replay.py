"""Replay of a derivative dataset: every step evaluated again, and held against the record (data.md 5.1).

Steps take the recorded checkpoint and the recorded slices, so that they do not depend on each other: a
wrong one is found where it is, and several run at once. That is sound because checkpoints are compared
too. Where they cannot be, since another version of an engine has left them, each step goes on from what
the one before it has left just now: a forged checkpoint and records that fit it would vouch for each other.
Rows are compared beside the logical hash, which does not bind nulls (data.md 1.9).
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from odf_core.chain import ChainState, InvalidInterval
from odf_core.errors import OdfError
from odf_core.identity import DatasetId, Multihash
from odf_core.metadata import ExecuteTransform, StoredBlock, TransformSql
from odf_core.transform.chains import InputChain
from odf_core.transform.derivation import RecordedStep, recorded_steps
from odf_core.transform.errors import EngineNotInstalled
from odf_core.transform.execute import Locate, Target
from odf_core.transform.port import TransformEngine
from odf_core.verify.checked_files import CheckedFiles
from odf_core.verify.findings import EngineUsed, Finding, ReplayReport, ReplaySummary
from odf_core.verify.left_out import cut, not_replayed
from odf_core.verify.lineage import is_computed, uncomputed_data
from odf_core.verify.options import Phase, Progress, ProgressCallback, ReplayOptions
from odf_core.verify.replay_step import CarriedCheckpoint, StepReplay
from odf_core.verify.trouble import raise_if_trouble

ChooseEngine: TypeAlias = Callable[[TransformSql], TransformEngine]
"""The engine that a transform names; raises `EngineNotInstalled`."""
FindChain: TypeAlias = Callable[[DatasetId], InputChain]
"""All blocks of an input; raises what its store raises."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came of a step; whether it was evaluated at all."""

    finding: Finding | None
    is_evaluated: bool


class Replay:
    """One run over one chain, `blocks` oldest first: iterate once for the findings, in the order of blocks.

    `summary` grows on the way. `locate` need not check what it gives: files are hashed before their first
    use. Raised are errors of engines and storage that do not answer, and `InvalidInterval` for a range
    whose ends are no blocks of the chain; all else is a finding. A chain without steps has none.
    """

    def __init__(
        self,
        target: Target,
        blocks: Sequence[StoredBlock],
        inputs: FindChain,
        choose: ChooseEngine,
        locate: Locate,
        workdir: Path,
        options: ReplayOptions | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> None:
        self._options = options or ReplayOptions()
        self._blocks = blocks
        self._find_chain = inputs
        self._choose = choose
        self._step = StepReplay(target, CheckedFiles(locate), workdir, self._options)
        self._progress = progress or (lambda progress: None)
        self._range = self._blocks_of_range()
        self._chains: dict[DatasetId, InputChain | OdfError] = {}
        self._engines: dict[tuple[str, str | None], tuple[TransformEngine, str] | EngineNotInstalled] = {}
        self._own = CarriedCheckpoint(workdir / "own")
        self._carried = self._own if self._options.own_checkpoints else None
        self._skipped: dict[str, tuple[EngineNotInstalled, list[RecordedStep]]] = {}
        self.summary = ReplaySummary(
            head=blocks[-1].hash if blocks else None, first=self._options.first, last=self._options.last
        )

    def __iter__(self) -> Iterator[Finding]:
        for finding in self._findings():
            self.summary.count(finding)
            yield finding

    def _findings(self) -> Iterator[Finding]:
        sound, broken = self._sound_blocks()
        steps = list(recorded_steps(sound))
        if any(self._is_of_another_version(step) for step in steps):
            self._carried = self._own
        if self._carried is None:
            steps = [step for step in steps if step.block.hash in self._range]
        self.summary.steps = sum(
            block.hash in self._range and isinstance(block.block.event, ExecuteTransform)
            for block in self._blocks
        )
        if is_computed(sound):
            yield from uncomputed_data(block for block in sound if block.hash in self._range)
        yield from self._replay(steps)
        if broken is not None:
            yield broken
        for error, skipped in self._skipped.values():
            yield not_replayed(error, skipped)

    def _sound_blocks(self) -> tuple[Sequence[StoredBlock], Finding | None]:
        """The blocks before the first that breaks a rule of the chain: what follows stands on nothing."""
        state = ChainState(remember_hashes=False)
        for number, block in enumerate(self._blocks):
            try:
                state.append(block)
            except OdfError as error:
                raise_if_trouble(error)
                return self._blocks[:number], Finding.of_error(error, block=block.hash)
        return self._blocks, None

    def _blocks_of_range(self) -> set[Multihash]:
        """The blocks of the range, its ends included."""
        names = [block.hash for block in self._blocks]
        places = {name: number for number, name in enumerate(names)}
        first, last = self._options.first, self._options.last
        for end in (first, last):
            if end is not None and end not in places:
                raise InvalidInterval(names[-1] if names else None, end)
        start = 0 if first is None else places[first]
        stop = len(names) if last is None else places[last] + 1
        if first is not None and stop <= start:
            raise InvalidInterval(last, first)
        return set(names[start:stop])

    def _is_of_another_version(self, step: RecordedStep) -> bool:
        """Whether a step has left a checkpoint that this replay has nothing to hold against."""
        transform = step.before.transform
        if step.event.new_checkpoint is None or transform is None:
            return False
        chosen = self._engine(transform.transform)
        return not isinstance(chosen, EngineNotInstalled) and transform.transform.version != chosen[1]

    def _replay(self, steps: Sequence[RecordedStep]) -> Iterator[Finding]:
        """Several steps at once, told in their order; only a few are under way."""
        waiting: deque[tuple[RecordedStep, Future[_Outcome]]] = deque()
        parallelism = 1 if self._carried is not None else max(1, self._options.parallelism)
        with ThreadPoolExecutor(parallelism, "replay") as pool:
            try:
                for step in steps:
                    if self.summary.looked_at == self.summary.steps:
                        break
                    waiting.append((step, pool.submit(self._begin(step))))
                    while len(waiting) > 2 * parallelism:
                        yield from self._collect(*waiting.popleft())
                while waiting:
                    yield from self._collect(*waiting.popleft())
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
                self._own.path.unlink(missing_ok=True)

    def _begin(self, step: RecordedStep) -> Callable[[], _Outcome]:
        """What is to be run for a step: it, or what keeps it from being replayed."""
        inputs = self._inputs(step)
        if isinstance(inputs, Finding):
            return partial(self._left_out, inputs)
        transform = step.before.transform
        if transform is None:
            return partial(
                self._left_out, cut(step, "transform_not_defined", "No SetTransform stands before it.")
            )
        chosen = self._engine(transform.transform)
        if isinstance(chosen, EngineNotInstalled):
            if step.block.hash in self._range:
                self._skipped.setdefault(chosen.message, (chosen, []))[1].append(step)
            return partial(self._left_out, None)
        engine, version = chosen
        self.summary.engines.add(EngineUsed(engine.name, version))
        return partial(self._evaluated, step, inputs, engine, version)

    def _evaluated(
        self, step: RecordedStep, inputs: Sequence[InputChain], engine: TransformEngine, version: str
    ) -> _Outcome:
        carried = self._carried
        if carried is not None and carried.is_lost:
            reason = "A step before it could not be evaluated."
            return _Outcome(cut(step, "step_not_replayed", reason), False)
        return _Outcome(self._step.run(step, inputs, engine, version, carried), True)

    def _left_out(self, finding: Finding | None) -> _Outcome:
        if self._carried is not None:
            self._carried.is_lost = True
        return _Outcome(finding, False)

    def _collect(self, step: RecordedStep, future: Future[_Outcome]) -> Iterator[Finding]:
        outcome = future.result()
        if step.block.hash not in self._range:
            return
        self.summary.looked_at += 1
        self.summary.replayed += outcome.is_evaluated
        self._progress(Progress(Phase.REPLAY, self.summary.looked_at, self.summary.steps))
        if outcome.finding is not None:
            yield outcome.finding

    def _inputs(self, step: RecordedStep) -> list[InputChain] | Finding:
        event, chains = step.before.transform, []
        for item in () if event is None else event.inputs:
            if not isinstance(item.dataset_ref, DatasetId):
                return cut(step, "input_not_found", f"It reads {item.dataset_ref}, which is no id.")
            found = self._chain(item.dataset_ref)
            if isinstance(found, OdfError):
                return cut(step, found.code, found.message, item.dataset_ref)
            chains.append(found)
        return chains

    def _chain(self, dataset: DatasetId) -> InputChain | OdfError:
        if dataset not in self._chains:
            try:
                self._chains[dataset] = self._find_chain(dataset)
            except OdfError as error:
                raise_if_trouble(error)
                self._chains[dataset] = error
        return self._chains[dataset]

    def _engine(self, transform: TransformSql) -> tuple[TransformEngine, str] | EngineNotInstalled:
        key = (transform.engine, transform.version)
        if key not in self._engines:
            try:
                engine = self._choose(transform)
                self._engines[key] = engine, engine.version()
            except EngineNotInstalled as error:
                self._engines[key] = error
        return self._engines[key]


def replay(
    target: Target,
    blocks: Sequence[StoredBlock],
    inputs: FindChain,
    choose: ChooseEngine,
    locate: Locate,
    workdir: Path,
    options: ReplayOptions | None = None,
    *,
    progress: ProgressCallback | None = None,
) -> ReplayReport:
    """All findings at once; raises as `Replay` does."""
    run = Replay(target, blocks, inputs, choose, locate, workdir, options, progress=progress)
    findings = list(run)
    return ReplayReport(findings, run.summary)
