"""`odf pull` of datasets that are here already, and of several at once."""

import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

from app.cli import outcome
from app.cli.ingest_commands import ingested_facts, ingested_sentence
from app.cli.output import OutputFormat, write_record, write_records
from app.cli.session import watching_updates
from app.cli.update_progress import UpdateWatch
from odf_core.errors import OdfError
from odf_core.identity import DatasetAlias, DatasetIdRemote, RepoName, parse_dataset_ref_any
from odf_core.transfer.client import TransferOptions
from odf_core.transfer.client import Updated as TransferUpdated
from odf_core.workspace import LocalDataset, Transferred, Transfers, Workspace
from odf_core.workspace.pulling import PullNode, Way
from odf_core.workspace.updates import Means, Updated, Updates, datasets_to_update, way_of


@dataclass(frozen=True, slots=True)
class Wanted:
    """What `odf pull` was asked for."""

    references: tuple[str, ...]
    recursive: bool = False
    every: bool = False
    name: DatasetAlias | None = None
    force: bool = False
    remember: bool = True
    fetch_uncacheable: bool = False


def is_updated_here(workspace: Workspace, reference: str) -> bool:
    """Whether `reference` names a local dataset that is polled or computed, and was not pulled."""
    dataset = _local(workspace, reference)
    return dataset is not None and way_of(dataset) in (Way.POLL, Way.TRANSFORM)


def update(
    workspace: Workspace,
    wanted: Wanted,
    options: TransferOptions,
    token: str | None,
    output: OutputFormat,
) -> None:
    """Bring datasets up to date, and say what came. Raises the first error once all that can be done is."""
    with watching_updates() as watch:
        run = _Run(workspace, wanted, Transfers(workspace, options, watch, token), watch)
        results = run.all()
    if len(wanted.references) == 1 and not wanted.recursive:
        _tell_one(results[0], run.polled, output)
    else:
        _tell_all(results, output)


@dataclass(slots=True)
class _Run:
    workspace: Workspace
    wanted: Wanted
    transfers: Transfers
    watch: UpdateWatch
    polled: Any = None
    """The last `Ingested`."""

    def all(self) -> list[Updated]:
        """What is not here comes first: its name and inputs are known only then."""
        new: list[Updated] = []
        datasets = list(datasets_to_update(self.workspace)) if self.wanted.every else []
        for reference in self.wanted.references:
            dataset = _local(self.workspace, reference)
            if dataset is None:
                done = self._transferred(reference)
                new.append(_of_transfer(_node(done.dataset), done))
                dataset = done.dataset
                if not self.wanted.recursive:
                    continue
            datasets.append(dataset)
        means = Means(self._transform, self._poll, self._pull)
        updates = Updates(self.workspace, means, self.watch, {item.node.id: item for item in new})
        return updates.run(datasets, recursive=self.wanted.recursive)

    def _transferred(self, reference: str) -> Transferred:
        return self.transfers.pull(
            reference, name=self.wanted.name, force=self.wanted.force, remember=self.wanted.remember
        )

    def _pull(self, node: PullNode, reference: str) -> Updated:
        done = self.transfers.pull(reference, force=self.wanted.force, remember=self.wanted.remember)
        return _of_transfer(node, done)

    def _poll(self, node: PullNode) -> Updated:
        from app.cli.engine import merge_engine
        from odf_core.workspace.ingests import Ingests

        with merge_engine() as engine:
            done = Ingests(self.workspace, engine).poll(
                str(node.id), fetch_uncacheable=self.wanted.fetch_uncacheable
            )
        self.polled = done
        return Updated(node, done.old_head, done.new_head, done.num_blocks, done.num_records, why=done.why)

    def _transform(self, node: PullNode) -> Updated:
        from app.cli.engine import choose_engine
        from odf_core.workspace.transforms import Transforms

        done = Transforms(self.workspace, choose_engine, say=self.watch.say).update(node.id)
        return Updated(node, done.old_head, done.new_head, done.num_blocks, done.num_records, done.late_rows)


def _local(workspace: Workspace, reference: str) -> LocalDataset | None:
    """The dataset of the workspace that the reference names."""
    ref = parse_dataset_ref_any(reference, lambda name: RepoName(name) in workspace.repos)
    if isinstance(ref, DatasetIdRemote) and ref.repo is None:
        return workspace.find_dataset(ref.id)
    return workspace.find_dataset(ref) if isinstance(ref, DatasetAlias) else None


def _node(dataset: LocalDataset) -> PullNode:
    return PullNode(dataset.id, str(dataset.alias or dataset.id), Way.REMOTE)


def _of_transfer(node: PullNode, done: Transferred) -> Updated:
    result = done.result
    if isinstance(result, TransferUpdated):
        return Updated(node, result.old_head, result.new_head, result.num_blocks)
    return Updated(node, result.head, result.head)


def _tell_one(done: Updated, polled: Any, output: OutputFormat) -> None:
    if done.error is not None:
        raise done.error
    if polled is not None:
        facts = ingested_facts([polled])
        write_record(facts, output, sentence=ingested_sentence(facts))
    else:
        write_record(_facts(done), output, sentence=_sentence(done))


def _tell_all(results: list[Updated], output: OutputFormat) -> None:
    errors = [done.error for done in results if done.error is not None]
    if output is OutputFormat.TABLE:
        counts = Counter(_result(done) for done in results)
        words = {"Updated": "updated", "UpToDate": "up-to-date", "Skipped": "skipped", "Failed": "failed"}
        told = [f"{counts[result]} {word}" for result, word in words.items() if counts[result]]
        lines = [_sentence(done) for done in results]
        sys.stdout.write(
            "\n".join([*lines, f"{len(results)} dataset(s): {', '.join(told) or 'none'}"]) + "\n"
        )
        sys.stdout.flush()
        for error in errors[1:]:
            outcome.report(error, as_json=False)
    else:
        write_records([_facts(done) for done in results], output, columns=[])
    if errors:
        raise errors[0]


def _result(done: Updated) -> str:
    if done.error is not None:
        return "Failed"
    if done.is_updated:
        return "Updated"
    return "UpToDate" if done.why is None or done.node.way in (Way.POLL, Way.NONE) else "Skipped"


def _facts(done: Updated) -> dict[str, Any]:
    """The result as an object: what `-o json` prints."""
    facts: dict[str, Any] = {
        "result": _result(done),
        "dataset": done.node.name,
        "datasetId": str(done.node.id),
        "way": str(done.node.way),
    }
    if done.is_updated:
        facts |= {
            "oldHead": str(done.old_head) if done.old_head is not None else None,
            "newHead": str(done.new_head),
            "numBlocks": done.num_blocks,
            "numRecords": done.num_records,
        }
    else:
        facts["head"] = str(done.new_head) if done.new_head is not None else None
    if done.late_rows:
        facts["lateRows"] = done.late_rows
    if done.why is not None and not done.is_updated:
        facts["why"] = done.why
    return facts | ({"error": _told(done.error)} if done.error is not None else {})


def _told(error: OdfError) -> dict[str, Any]:
    return error.diagnostics()


def _sentence(done: Updated) -> str:
    """The same for people."""
    name = done.node.name
    match _result(done):
        case "Failed":
            return f"{name}: failed ({done.error.code if done.error is not None else ''})"
        case "Skipped":
            return f"{name}: skipped, {done.why}"
        case "UpToDate":
            return f"{name} is up to date" + (f": {done.why}" if done.why else "")
    old = str(done.old_head)[-8:] if done.old_head is not None else "nothing"
    records = f", {done.num_records} records" if done.num_records is not None else ""
    late = f", {done.late_rows} records came too late for their windows" if done.late_rows else ""
    return f"{name}: {old} -> {str(done.new_head)[-8:]}, {done.num_blocks} blocks{records}{late}"
