"""What a chain is computed from, and what the verdicts about that say of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from odf_core.identity import DatasetId
from odf_core.metadata import AddData, DatasetKind, ExecuteTransform, Seed, SetTransform, StoredBlock
from odf_core.verify.findings import Finding, Severity

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class InputVerdict:
    """What a verification found of an input that is called `name` here."""

    name: str
    ok: bool


def is_computed(blocks: Iterable[StoredBlock]) -> bool:
    """Whether the chain claims to be computed from others: its Seed says so, or it has a query or a step.

    The rules of chains do not hold a dataset's kind against its events, so that one of them is enough:
    else a chain could have steps that nobody evaluates.
    """
    return any(_claims_to_be_computed(block) for block in blocks)


def input_ids(blocks: Iterable[StoredBlock]) -> list[DatasetId]:
    """All inputs that the dataset ever had, each once."""
    found: dict[DatasetId, None] = {}
    for block in blocks:
        if isinstance(block.block.event, SetTransform):
            refs = (item.dataset_ref for item in block.block.event.inputs)
            found.update(dict.fromkeys(ref for ref in refs if isinstance(ref, DatasetId)))
    return list(found)


def uncomputed_data(blocks: Iterable[StoredBlock]) -> Iterator[Finding]:
    """An error for each AddData of a chain that claims to be computed: no query gives its records, nor what
    else it says."""
    for block in blocks:
        if isinstance(block.block.event, AddData):
            yield Finding(
                "data_not_computed",
                Severity.ERROR,
                f"Block {block.hash} adds data that no query gives; this dataset is computed from others.",
                (),
                str(block.hash),
                {"sequenceNumber": block.block.sequence_number},
            )


def inputs_first(asked: Iterable[Item], inputs: Callable[[Item], Iterable[Item]]) -> list[Item]:
    """The items and all that they are computed from, each once, inputs before what is computed from them.
    A cycle is cut where it is met."""
    done: dict[Item, None] = {}
    begun: set[Item] = set()
    waiting = [(item, False) for item in reversed(list(asked))]
    while waiting:
        item, inputs_done = waiting.pop()
        if inputs_done:
            done[item] = None
        elif item not in begun:
            begun.add(item)
            waiting.append((item, True))
            waiting.extend((source, False) for source in reversed(list(inputs(item))))
    return list(done)


def input_findings(
    ids: Iterable[DatasetId],
    verdicts: Mapping[DatasetId, InputVerdict],
    missing: Callable[[DatasetId], str],
) -> Iterator[Finding]:
    """A warning for each input that was not verified, `missing` says why; an error for each that is not as
    it should be."""
    for item in ids:
        verdict = verdicts.get(item)
        if verdict is None:
            yield Finding("input_not_verified", Severity.WARNING, missing(item), (str(item),))
        elif not verdict.ok:
            yield Finding(
                "input_not_valid",
                Severity.ERROR,
                f"The input {verdict.name} is not valid itself, or was not verified completely.",
                (str(item),),
            )


def _claims_to_be_computed(block: StoredBlock) -> bool:
    event = block.block.event
    if isinstance(event, Seed):
        return event.dataset_kind is DatasetKind.DERIVATIVE
    return isinstance(event, SetTransform | ExecuteTransform)
