"""Replay of honest chains, and what keeps a chain from being replayed."""

import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from odf_core.chain import InvalidInterval
from odf_core.engines.errors import EngineDied, EngineFailed
from odf_core.transform.chains import InputChain
from odf_core.transform.errors import CheckpointUnreadable, EngineNotInstalled
from odf_core.transform.execute import Target
from odf_core.verify.findings import ReplayReport
from odf_core.verify.options import ReplayOptions
from odf_core.verify.replay import Replay
from odf_core.workspace import LocalDatasetNotFound
from tests.builders.dataset_builder import root_dataset
from tests.replay.evolved import grow_evolved
from tests.replay.lies import changed_value


class Renamed:
    """The engine under another version."""

    def __init__(self, engine, version):
        self._engine, self._version = engine, version
        self.name = engine.name

    def version(self):
        return self._version

    def execute(self, request, say):
        return self._engine.execute(request, say)


class Failing(Renamed):
    def __init__(self, engine, error):
        super().__init__(engine, engine.version())
        self._error = error

    def execute(self, request, say):
        raise self._error


@pytest.mark.parametrize("name", ["stateless", "windowed"])
def test_an_honest_chain_comes_out_as_recorded(world, name):
    report = world.replay(name)
    assert report.findings == []
    assert report.ok
    assert (report.summary.steps, report.summary.replayed) == (6, 6)
    assert [engine.version for engine in report.summary.engines] == [world.engine.version()]


def test_the_engine_itself_gives_the_same_again(world):
    """Not what `Remembering` kept, but evaluated twice."""
    steps = _steps(world.copy("windowed"))
    report = world.replay("windowed", choose=lambda transform: world.engine.real, last=steps[1])
    assert report.findings == []
    assert report.summary.replayed == 2


def test_a_range_names_its_first_and_last_block(world):
    steps = _steps(world.copy("stateless"))
    report = world.replay("stateless", first=steps[2], last=steps[4])
    assert (report.summary.steps, report.summary.replayed, report.ok) == (3, 3, True)
    assert report.summary.to_json()["from"] == str(steps[2])


def test_a_range_leaves_other_blocks_alone(world):
    copy = world.copy("stateless")
    place = copy.steps[1]
    copy.change(place, new_data=copy.put(copy.table(place).slice(0, len(copy.table(place)) - 1)))
    copy.rebuild()
    assert world.replay("stateless", copy.path, first=copy.hashes[place + 1]).ok
    assert not world.replay("stateless", copy.path, last=copy.hashes[place]).ok


def test_a_range_of_unknown_blocks(world):
    with pytest.raises(InvalidInterval):
        world.replay("stateless", first=_steps(world.copy("windowed"))[0])


def test_a_range_that_ends_before_it_begins(world):
    """It has no steps, which must not look like steps that came out as recorded."""
    steps = _steps(world.copy("stateless"))
    with pytest.raises(InvalidInterval):
        world.replay("stateless", first=steps[3], last=steps[2])


def test_an_engine_that_is_not_here_is_never_a_pass(world):
    def choose(transform):
        raise EngineNotInstalled("It is not here.", extras={"version": transform.version})

    report = world.replay("stateless", choose=choose)
    assert not report.ok
    (finding,) = report.findings
    assert (finding.code, finding.severity) == ("engine_not_installed", "warning")
    assert "6 steps" in finding.message
    assert finding.details["steps"] == 6
    assert (report.summary.replayed, report.summary.complete) == (0, False)


@pytest.mark.parametrize(("version", "is_compared"), [(None, True), ("another", False)])
def test_checkpoints_are_compared_where_the_engine_is_the_one_of_the_chain(world, version, is_compared):
    copy = world.copy("windowed")
    place = copy.steps[-1]  # no later step takes it
    checkpoint = copy.event(place).new_checkpoint
    old = copy.path / "checkpoints" / str(checkpoint.physical_hash)
    copy.change(place, new_checkpoint=copy.put_checkpoint(old.read_bytes() + b"\0"))
    copy.rebuild()
    engine = Renamed(world.engine, version or world.engine.version())
    report = world.replay("windowed", copy.path, choose=lambda transform: engine)
    assert report.ok is not is_compared
    if is_compared:
        (finding,) = report.findings
        assert [item["field"] for item in finding.details["differences"]] == ["newCheckpoint.physicalHash"]
        assert finding.block == str(copy.hashes[place])


def test_a_finding_tells_what_differs(world):
    copy = world.copy("stateless")
    place = copy.steps[2]
    table = copy.table(place)
    keys = table["k"].to_pylist()
    keys[3] = "forged"
    column = table.schema.get_field_index("k")
    copy.change(place, new_data=copy.put(table.set_column(column, table.schema.field(column), [keys])))
    copy.rebuild()
    (finding,) = world.replay("stateless", copy.path).findings
    assert [item["field"] for item in finding.details["differences"]] == ["newData.logicalHash"]
    (row,) = finding.details["rows"]
    assert row["row"] == 3
    assert (row["recorded"]["k"], row["recomputed"]["k"]) == ("forged", table["k"][3].as_py())
    assert finding.details["engine"] == {"name": "spark", "version": world.engine.version()}
    assert finding.details["sequenceNumber"] == place


def test_only_the_first_rows_are_told(world):
    copy = world.copy("stateless")
    place = copy.steps[0]
    table = copy.table(place)
    column = table.schema.get_field_index("k")
    forged = table.set_column(column, table.schema.field(column), [["forged"] * len(table)])
    copy.change(place, new_data=copy.put(forged))
    copy.rebuild()
    (finding,) = world.replay("stateless", copy.path, rows=2).findings
    assert len(finding.details["rows"]) == 2


def test_how_a_file_is_laid_out_is_its_writers_affair(world):
    """Other pages and encodings, and a column without nulls that is declared to have none."""
    copy = world.copy("stateless")
    place = copy.steps[2]
    table = copy.table(place)
    column = table.schema.get_field_index("event_time")
    required = table.set_column(column, table.schema.field(column).with_nullable(False), table["event_time"])
    copy.change(place, new_data=copy.put_as_it_is(required, copy.event(place).new_data))
    copy.rebuild()
    assert world.replay("stateless", copy.path).ok


def test_a_step_that_never_was(world):
    """Records where the query gives none: the input has none but those that its filter drops."""
    copy = world.copy("stateless")
    place = copy.steps[-1]
    copy.change(place, new_data=None)
    copy.rebuild()
    (finding,) = world.replay("stateless", copy.path).findings
    assert finding.details["differences"][0]["field"] == "newData.offsetInterval"
    assert finding.details["rows"][0]["recorded"] is None


@pytest.mark.parametrize("folder", ["data", "checkpoints"])
def test_files_are_believed_by_their_hashes_only(world, folder):
    copy = world.copy("windowed")
    hashes = copy.rebuild()
    place = copy.steps[0]
    event = copy.event(place)
    part = event.new_data if folder == "data" else event.new_checkpoint
    path = copy.path / folder / str(part.physical_hash)
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    findings = world.replay("windowed", copy.path).findings
    assert {finding.code for finding in findings} == {"object_hash_mismatch"}
    asked_by = [place] if folder == "data" else [place, place + 1]
    assert [finding.block for finding in findings] == [str(hashes[item].hash) for item in asked_by]
    path.unlink()
    findings = world.replay("windowed", copy.path).findings
    assert [item.code for item in findings] == ["object_not_found"] * len(asked_by)


def test_an_input_that_is_not_here(world):
    def no_chain(dataset_id):
        raise LocalDatasetNotFound("It is not here.")

    report = _replayed(world, "stateless", no_chain)
    assert {finding.code for finding in report.findings} == {"local_dataset_not_found"}
    assert not report.ok
    assert report.summary.replayed == 0


def test_an_input_that_was_compacted_or_reset(world):
    other = root_dataset("root").compacted().blocks
    honest = world.chain(world.datasets["root"].id)
    compacted = _replayed(world, "stateless", lambda item: InputChain(item, "root", other))
    assert {finding.code for finding in compacted.findings} == {"input_diverged"}
    assert "reset or compacted" in compacted.findings[0].message
    shorter = _replayed(world, "stateless", lambda item: InputChain(item, "root", honest.blocks[:-2]))
    steps = _steps(world.copy("stateless"))
    assert [finding.block for finding in shorter.findings] == [str(steps[-2]), str(steps[-1])]
    assert not shorter.ok


def test_a_chain_that_breaks_a_rule_is_replayed_up_to_there(world):
    copy = world.copy("stateless")
    copy.change(copy.steps[3], prev_offset=1)
    blocks = copy.chained()
    report = _replayed(world, "stateless", world.chain, blocks)
    assert [finding.block for finding in report.findings] == [str(blocks[copy.steps[3]].hash)]
    assert (report.summary.steps, report.summary.replayed, report.ok) == (6, 3, False)


def test_an_engine_that_dies_says_nothing_about_the_dataset(world):
    engine = Failing(world.engine, EngineDied("It died."))
    with pytest.raises(EngineDied):
        world.replay("stateless", choose=lambda transform: engine)


def test_an_engine_that_fails_with_a_step_has_not_reproduced_it(world):
    engine = Failing(world.engine, EngineFailed("It failed."))
    report = world.replay("stateless", choose=lambda transform: engine)
    assert [finding.code for finding in report.findings] == ["engine_failed"] * 6
    assert not report.ok


def test_progress_counts_the_steps(world):
    told = []
    _replayed(world, "stateless", world.chain, progress=told.append)
    assert [(item.phase, item.done, item.total) for item in told] == [("steps", n, 6) for n in range(1, 7)]


def test_nothing_is_left_in_the_work_folder(world):
    copy = world.copy("stateless")
    changed_value(copy, random.Random(1), world.chain(world.datasets["root"].id))
    copy.rebuild()
    world.replay("stateless", copy.path)
    assert all(not list(folder.iterdir()) for folder in world.folder.glob("work-*"))
    shutil.rmtree(copy.path)


def _steps(copy):
    copy.rebuild()
    return [copy.hashes[place] for place in copy.steps]


def _replayed(world, name, chain, blocks=None, progress=None):
    dataset = world.datasets[name]
    known = list(dataset.folder.walk())[::-1]
    workdir = world.folder / f"work-{name}-{world.next_number()}"
    workdir.mkdir()
    run = Replay(
        Target(dataset.id, name),
        blocks or known,
        chain,
        lambda transform: world.engine,
        lambda dataset_id, ref: world.workspace.dataset(dataset_id).folder.object_path(ref),
        workdir,
        ReplayOptions(parallelism=2),
        progress=progress,
    )
    findings = list(run)
    return ReplayReport(findings, run.summary)


# Another engine, on its own checkpoints


class Sealing(Renamed):
    """An engine of another version, whose checkpoints no other engine can read."""

    SEAL = b"sealed"

    def execute(self, request, say):
        previous = request.prev_checkpoint_path
        if previous is not None:
            content = Path(previous).read_bytes()
            if not content.startswith(self.SEAL):
                raise CheckpointUnreadable("It is not sealed.")
            opened = Path(request.new_data_path).with_name("opened")
            opened.write_bytes(content.removeprefix(self.SEAL))
            request = replace(request, prev_checkpoint_path=str(opened))
        done = self._engine.execute(request, say)
        made = Path(request.new_checkpoint_path)
        if made.is_file():
            made.write_bytes(self.SEAL + made.read_bytes())
        return done


@pytest.mark.parametrize("own", [False, True])
def test_another_version_goes_on_from_its_own_checkpoints(world, own):
    """Whether that is asked for or not: it could not read those of the chain."""
    engine = Sealing(world.engine, "newer")
    report = world.replay("windowed", choose=lambda transform: engine, own_checkpoints=own)
    assert report.findings == []
    assert (report.summary.replayed, report.ok) == (6, True)


def test_a_forged_checkpoint_does_not_vouch_for_what_was_computed_from_it(world):
    """A chain without a version: its checkpoints are compared with nothing. This one forgets a step, and the
    next one is what the query gives from there."""
    copy = world.copy("windowed")
    event = copy.event(1)
    copy.change(1, transform=replace(event.transform, version=None))
    first, forgetful, later, *others = copy.steps[1:]
    del copy.blocks[others[0] :]
    copy.change(forgetful, new_checkpoint=copy.event(first).new_checkpoint)
    world.fit("windowed", copy, [later])
    copy.rebuild()
    (finding,) = world.replay("windowed", copy.path).findings
    assert finding.block == str(copy.hashes[later])
    assert not world.replay("windowed", copy.path, first=copy.hashes[later]).ok
    assert world.replay("windowed", copy.path, last=copy.hashes[forgetful]).ok


def test_a_range_on_own_checkpoints_begins_with_the_first_step(world):
    engine = Sealing(world.engine, "newer")
    steps = _steps(world.copy("windowed"))
    report = world.replay(
        "windowed", choose=lambda transform: engine, own_checkpoints=True, first=steps[3], last=steps[4]
    )
    assert report.findings == []
    assert (report.summary.steps, report.summary.replayed, report.ok) == (2, 2, True)


def test_a_lie_is_found_on_own_checkpoints_too(world):
    copy = world.copy("windowed")
    place = changed_value(copy, random.Random(3), world.chain(world.datasets["root"].id))
    copy.rebuild()
    engine = Sealing(world.engine, "newer")
    (finding,) = world.replay(
        "windowed", copy.path, choose=lambda transform: engine, own_checkpoints=True
    ).findings
    assert finding.block == str(copy.hashes[place])


def test_after_a_step_that_failed_there_is_no_checkpoint_to_go_on_from(world):
    engine = Failing(world.engine, EngineFailed("It failed."))
    report = world.replay("windowed", choose=lambda transform: engine, own_checkpoints=True)
    assert [finding.code for finding in report.findings] == ["engine_failed"] + ["step_not_replayed"] * 5
    assert (report.summary.replayed, report.ok) == (1, False)


# Chains of other makers


def test_a_chain_that_names_no_version_is_replayed_without_its_checkpoints(world):
    """As a deployed coordinator writes it: the engine of that name, whatever its state looks like."""
    copy = world.copy("windowed")
    event = copy.event(1)
    copy.change(1, transform=replace(event.transform, version=None))
    place = copy.steps[-1]
    copy.change(place, new_checkpoint=copy.put_checkpoint(b"whatever it keeps"))
    copy.rebuild()
    report = world.replay("windowed", copy.path)
    assert report.findings == []
    assert report.ok


@pytest.mark.parametrize("own", [False, True])
def test_a_query_that_changed_on_the_way(world, evolved, own):
    report = world.replay("evolved", evolved, own_checkpoints=own)
    assert report.findings == []
    assert (report.summary.replayed, report.ok) == (3, True)


@pytest.fixture(scope="module")
def evolved(world):
    """A dataset whose second query has taken over after two steps, with the checkpoint of the first."""
    return grow_evolved(world).path
