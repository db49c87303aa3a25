"""What was fetched and not committed is not fetched again."""

import dataclasses

import pytest

from odf_core.ingest.fetch import SavepointStore, UpToDate, fetch
from odf_core.metadata.sources import FetchStepUrl
from tests.ingest.fetching import Site, context_in, left_over


@pytest.fixture
def site():
    site = Site()
    yield site
    site.close()


@pytest.fixture
def store(tmp_path):
    return SavepointStore(tmp_path / "savepoints")


def files(store_folder):
    return sorted(path.name for path in store_folder.iterdir())


def test_a_run_after_a_failure_uses_the_bytes_of_the_first(tmp_path, site, store):
    context = dataclasses.replace(context_in(tmp_path), savepoints=store)
    step = FetchStepUrl(url=site.url("/a"))
    site.put("/a", b"one", ETag='"1"', Last_Modified="Wed, 01 Jan 2020 10:20:30 GMT")
    first = fetch(step, None, context)
    site.put("/a", b"two", ETag='"2"')
    again = fetch(
        step, None, dataclasses.replace(context, savepoints=SavepointStore(tmp_path / "savepoints"))
    )
    assert again == first
    assert again.path.read_bytes() == b"one"
    assert (len(site.requests), left_over(context)) == (1, [])

    store.remove(again.savepoint)
    assert files(tmp_path / "savepoints") == []
    assert fetch(step, again.source_state, context).path.read_bytes() == b"two"


def test_another_state_step_source_or_dataset_is_another_savepoint(tmp_path, site, store):
    context = dataclasses.replace(context_in(tmp_path), savepoints=store)
    step = FetchStepUrl(url=site.url("/a"))
    site.put("/a", b"one", ETag='"1"')
    first = fetch(step, None, context)
    assert fetch(step, first.source_state, context) == UpToDate()
    keys = {
        store.key(step, None, context),
        store.key(step, first.source_state, context),
        store.key(FetchStepUrl(url=site.url("/b")), None, context),
        store.key(step, None, dataclasses.replace(context, dataset="did:odf:x")),
        store.key(step, None, dataclasses.replace(context, source_name="other")),
    }
    assert len(keys) == 5


@pytest.mark.parametrize("damage", ["short", "no note", "half a note", "other note", "no bytes"])
def test_a_savepoint_that_is_not_whole_is_nothing(tmp_path, site, store, damage):
    context = dataclasses.replace(context_in(tmp_path), savepoints=store)
    step = FetchStepUrl(url=site.url("/a"))
    site.put("/a", b"one", ETag='"1"')
    first = fetch(step, None, context)
    note = tmp_path / "savepoints" / f"{first.savepoint}.json"
    if damage == "short":
        first.path.write_bytes(b"on")
    elif damage == "no bytes":
        first.path.unlink()
    elif damage == "no note":
        note.unlink()
    else:
        note.write_text("{" if damage == "half a note" else '{"size": [], "state": 1}')
    assert store.find(first.savepoint) is None
    assert fetch(step, None, context).path.read_bytes() == b"one"
    assert len(site.requests) == 2


def test_borrowed_files_are_not_moved(tmp_path, store):
    path = tmp_path / "a.csv"
    path.write_bytes(b"x")
    context = dataclasses.replace(context_in(tmp_path), savepoints=store)
    fetched = fetch(FetchStepUrl(url=path.as_uri()), None, context)
    assert (fetched.path, fetched.savepoint, files(tmp_path / "savepoints")) == (path, None, [])
    store.remove(fetched.savepoint)


def test_the_oldest_make_room(tmp_path, site):
    store = SavepointStore(tmp_path / "savepoints", max_bytes=100, max_entries=3)
    context = dataclasses.replace(context_in(tmp_path), savepoints=store)
    kept = []
    for at, size in enumerate([10, 10, 10, 10, 90, 101]):
        site.put(f"/{at}", b"x" * size)
        kept.append(fetch(FetchStepUrl(url=site.url(f"/{at}")), None, context))
    assert [store.find(one.savepoint) is not None if one.savepoint else None for one in kept] == [
        False, False, False, True, True, None,
    ]  # fmt: skip
    assert len(files(tmp_path / "savepoints")) == 4
    assert kept[-1].path.parent == context.workdir
