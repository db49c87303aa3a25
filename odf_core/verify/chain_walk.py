"""The blocks of a dataset, from the head back as far as they can be read, then forward under the rules."""

from collections.abc import Iterator
from dataclasses import dataclass

from odf_core.chain import ChainState, Projection, Vocabulary, new_objects
from odf_core.errors import OdfError
from odf_core.identity import Multihash, ObjectRef
from odf_core.limits import Limits, MiB
from odf_core.metadata import AddData, DataSlice, ExecuteTransform, SetDataSchema, StoredBlock, read_block
from odf_core.verify.findings import Finding, Severity
from odf_core.verify.port import VerifiableDataset
from odf_core.verify.trouble import raise_if_trouble

_KEPT_BYTES = 64 * MiB


@dataclass(frozen=True, slots=True)
class Claim:
    """One block's word about one object, and what the dataset's schema was then.

    `data_slice` is None for a checkpoint. `is_in_context` is false where earlier blocks are missing: then
    neither schema nor vocabulary is known.
    """

    ref: ObjectRef
    block: Multihash
    data_slice: DataSlice | None
    schema: SetDataSchema | None
    vocabulary: Vocabulary
    is_in_context: bool


class ChainWalk:
    """The chain of one dataset. `back` first, then `forward`; memory holds hashes and some recent blocks."""

    def __init__(self, dataset: VerifiableDataset, limits: Limits) -> None:
        self._dataset = dataset
        self._limits = limits
        self._blocks: dict[Multihash, StoredBlock] = {}
        self._room = _KEPT_BYTES
        self.hashes: list[Multihash] = []
        """Hashes of the readable blocks, newest first."""
        self.reached_seed = False

    def back(self, head: Multihash) -> Iterator[Finding | None]:
        """Reads block after block; gives None for each good one and ends with a finding at a bad one."""
        wanted: Multihash | None = head
        while wanted is not None:
            try:
                block = self._read(wanted)
            except OdfError as error:
                raise_if_trouble(error)
                yield Finding.of_error(error, about=wanted)
                yield Finding(
                    "chain_incomplete",
                    Severity.WARNING,
                    f"Blocks before {wanted} were not looked at, since it cannot be read; the rules of the "
                    "chain and the schema of slices were not checked.",
                    (str(wanted),),
                )
                return
            self.hashes.append(wanted)
            self._keep(block)
            wanted = block.block.prev_block_hash
            yield None
        self.reached_seed = True

    def forward(self) -> Iterator[tuple[Multihash, tuple[Claim, ...], Finding | None]]:
        """The hash of every block, oldest first, with its claims, and the rule that the chain breaks there.

        After the first refusal the rules are not applied any more: what follows stands on nothing.
        """
        state = ChainState(remember_hashes=False)
        projection = Projection()
        follows_rules = self.reached_seed
        for name in reversed(self.hashes):
            try:
                block = self._blocks.pop(name, None) or self._read(name)
            except OdfError as error:  # it was read a moment ago
                raise_if_trouble(error)
                yield name, (), Finding.of_error(error, about=name)
                return
            finding = None
            if follows_rules:
                try:
                    state.append(block)
                except OdfError as error:
                    raise_if_trouble(error)
                    finding = Finding.of_error(error, block=name)
                    follows_rules = False
            projection.feed(block)
            yield name, _claims(block, projection, self.reached_seed), finding

    def _read(self, name: Multihash) -> StoredBlock:
        return read_block(self._dataset.read_block(name), name, self._limits)

    def _keep(self, block: StoredBlock) -> None:
        self._room -= len(block.data)
        if self._room >= 0:
            self._blocks[block.hash] = block


def _claims(block: StoredBlock, projection: Projection, is_in_context: bool) -> tuple[Claim, ...]:
    event = block.block.event
    data_slice = event.new_data if isinstance(event, AddData | ExecuteTransform) else None
    return tuple(
        Claim(
            ref,
            block.hash,
            data_slice if data_slice is not None and ref.hash == data_slice.physical_hash else None,
            projection.schema,
            projection.vocabulary,
            is_in_context,
        )
        for ref in new_objects(block.block)
    )
