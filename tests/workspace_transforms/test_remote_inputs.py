"""`odf pull --recursive` where inputs are polled, pulled, or not here at all: who is asked in which order."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from odf_core.errors import OdfError
from odf_core.identity import DatasetId, RepoName
from odf_core.transfer.client.errors import RemoteDatasetNotFound, RemoteUnavailable
from odf_core.workspace import LocalDatasetNotFound, TokenStore, Workspace
from odf_core.workspace.pulling import PullNode, Way
from odf_core.workspace.updates import Means, Updated, Updates, datasets_to_update, pull_nodes
from tests.builders.chain_builder import chain
from tests.builders.dataset_builder import DatasetBuilder, root_dataset

POLLED, PUSHED = "polled", "pushed"


@dataclass
class Trip:
    """A workspace, repositories by name with what they have, and what was done."""

    workspace: Workspace
    remote: Mapping[str, Mapping[DatasetId, DatasetBuilder | OdfError]] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)

    def update(self, *names: str) -> dict[str, Updated]:
        updates = Updates(self.workspace, Means(self._here, self._here, self._pull), self)
        wanted = [self.workspace.dataset(name) for name in names]
        return {item.node.name: item for item in updates.run(wanted, recursive=True)}

    def begin(self, node: PullNode, number: int, count: int) -> None:
        """Nobody watches."""

    def end(self, done: Updated) -> None:
        """Nobody watches."""

    def _here(self, node: PullNode) -> Updated:
        self.done.append(f"{node.way} {node.name}")
        return Updated(node, None, None)

    def _pull(self, node: PullNode, reference: str) -> Updated:
        self.done.append(f"{node.way} {reference.replace(str(node.id), node.name)}")
        repo, _, _ = reference.rpartition("/")
        if repo:
            found = self.remote[repo].get(node.id, RemoteDatasetNotFound(f"There is no {reference}."))
            if isinstance(found, OdfError):
                raise found
            self.workspace.create_from_blocks(node.name, found.chain.blocks, _files(self.workspace, found))
        return Updated(node, None, None)


def _files(workspace: Workspace, builder: DatasetBuilder) -> Path:
    return builder.write(workspace.root / f"made of {builder.chain.name}")


def derived(name: str, *inputs: str) -> DatasetBuilder:
    made = DatasetBuilder(name)
    made.chain.seed("derivative").transform(*inputs)
    return made


@pytest.fixture
def trip(tmp_path: Path) -> Trip:
    """`polled` and `pushed` are here."""
    workspace = Workspace.init(tmp_path / "work", tokens=TokenStore(tmp_path / "tokens"))
    polled = root_dataset(POLLED)
    workspace.create_from_blocks(POLLED, polled.blocks, _files(workspace, polled))
    workspace.create_from_blocks(PUSHED, chain(PUSHED).seed().push_source().blocks)
    return Trip(workspace)


def put(trip: Trip, *builders: DatasetBuilder) -> None:
    for builder in builders:
        trip.workspace.create_from_blocks(builder.chain.name, builder.chain.blocks)


def with_repos(trip: Trip, **remote: list[DatasetBuilder] | OdfError) -> None:
    trip.remote = {
        name: {item.chain.dataset_id: item for item in held} if isinstance(held, list) else _Failing(held)
        for name, held in remote.items()
    }
    for name in remote:
        trip.workspace.repos.add(RepoName(name), f"odf+http://{name}.example.org")


class _Failing(dict[DatasetId, DatasetBuilder | OdfError]):
    """A repository that answers everything by one error."""

    def __init__(self, error: OdfError) -> None:
        super().__init__()
        self._error = error

    def get(self, key: DatasetId, default: object = None) -> OdfError:  # type: ignore[override]
        return self._error


def test_sources_are_asked_before_what_is_computed(trip: Trip) -> None:
    put(trip, derived("one", POLLED, PUSHED), derived("two", "one"))
    done = trip.update("two")
    assert trip.done == ["Poll polled", "Transform one", "Transform two"]
    assert "odf ingest pushed FILE" in (done[PUSHED].why or "")


def test_what_was_pulled_is_pulled_again_and_not_computed(trip: Trip) -> None:
    put(trip, derived("one", POLLED), derived("two", "one"))
    trip.workspace.dataset("one").remember(pull="odf+http://h/one")
    trip.update("two")
    assert trip.done == ["Poll polled", "Remote one", "Transform two"]
    assert [str(item.alias) for item in datasets_to_update(trip.workspace)] == ["one", POLLED, "two"]


def test_missing_inputs_come_from_the_repositories_with_what_they_read(trip: Trip) -> None:
    far = root_dataset("far")
    with_repos(trip, first=[], second=[far, derived("middle", "far", POLLED)])
    put(trip, derived("top", "middle"))
    done = trip.update("top")
    assert all(item.error is None for item in done.values())
    assert trip.done == [
        "Missing first/middle",
        "Missing second/middle",
        "Missing first/far",
        "Missing second/far",
        "Poll polled",
        "Transform top",
    ]
    assert Way.MISSING not in {node.way for node in pull_nodes(trip.workspace).values()}


def test_a_repository_that_fails_does_not_hide_another(trip: Trip) -> None:
    with_repos(trip, broken=RemoteUnavailable("It is down."), good=[root_dataset("far")])
    put(trip, derived("top", "far"))
    assert trip.update("top")["far"].error is None
    assert trip.done[-1] == "Transform top"


def test_an_input_that_nobody_has(trip: Trip) -> None:
    put(trip, derived("top", "far", POLLED), derived("over", "top"))
    done = trip.update("over")
    error = done["far"].error
    assert isinstance(error, LocalDatasetNotFound)
    assert "no repository is registered" in error.message
    assert done["top"].why == "far could not be brought up to date"
    assert done["over"].why == "top could not be brought up to date"
    assert trip.done == ["Poll polled"]


def test_inputs_of_what_is_pulled_may_be_nowhere(trip: Trip) -> None:
    put(trip, derived("top", "far"))
    trip.workspace.dataset("top").remember(pull="odf+http://h/top")
    done = trip.update("top")
    assert done["far"].error is None
    assert "is pulled as it is" in (done["far"].why or "")
    assert trip.done == ["Remote top"]


def test_an_input_without_an_address_stays_as_it_is(trip: Trip) -> None:
    trip.workspace.create_from_blocks("far", chain("far").seed().schema().blocks)
    put(trip, derived("top", "far"))
    assert trip.update("top")["far"].error is None
    assert trip.done == ["Transform top"]
    error = trip.update("far")["far"].error
    assert error is not None
    assert error.code == "no_alias_to_pull"
