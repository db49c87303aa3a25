"""One verdict out of those of each dataset: what is asked of which, and what a bad input says of others."""

from datetime import UTC, datetime
from uuid import UUID

from app.datasets.model import DatasetInfo
from app.transform.reading import InputNotHere
from app.verification.check import Checked, Subject
from app.verification.lineage import verify_all
from app.verification.requests import Level, VerifyRequest
from app.verification.subjects import SubjectFound
from odf_core.errors import OdfError
from odf_core.identity import DatasetId
from odf_core.transform.chains import InputChain
from odf_core.transform.execute import Target
from odf_core.verify import Finding, ReplayReport, ReplaySummary, Severity
from tests.builders.chain_builder import ChainBuilder, dataset_id

ELSEWHERE = dataset_id("elsewhere")
FROM, TO = "f16200001", "f16200002"


def found(name: str, *inputs: SubjectFound, lacks: DatasetId | None = None, own: bool = True) -> SubjectFound:
    blocks = ChainBuilder(name).seed().blocks
    chains: dict[DatasetId, InputChain | OdfError] = {
        item.dataset.id: InputChain(item.dataset.id, str(item.dataset.alias), item.subject.blocks)
        for item in inputs
    }
    if lacks is not None:
        chains[lacks] = InputNotHere(f"{lacks} is not here.", objects=[lacks])
    now = datetime(2024, 1, 1, tzinfo=UTC)
    info = DatasetInfo(
        pk=1,
        id=dataset_id(name),
        owner_id=UUID(int=1),
        owner_name="alice",
        owner_did="did:odf:alice",
        name=name,
        visibility="public",
        kind="Derivative",
        head=blocks[-1].hash,
        head_sequence_number=0,
        created_at=now,
        updated_at=now,
    )
    return SubjectFound(info, Subject(Target(info.id, name), blocks, chains), own)


def lie_in(*names: str):  # type: ignore[no-untyped-def]
    """A check that finds a lie in these; and what it was asked."""
    asked: dict[str, VerifyRequest] = {}

    def check(subject: Subject, request: VerifyRequest) -> Checked:
        name = subject.target.name
        assert name not in asked, "each dataset once"
        asked[name] = request
        is_bad = name in names
        lie = [Finding("not_reproducible", Severity.ERROR, "A lie.")] if is_bad else []
        return Checked(subject.blocks[-1].hash, None, ReplayReport(lie, ReplaySummary(errors=len(lie))))

    return check, asked


def test_a_bad_input_is_told_all_the_way_down() -> None:
    ground, beside = found("ground"), found("beside")
    middle = found("middle", ground)
    last = found("last", middle, beside)
    check, asked = lie_in("ground")
    request = VerifyRequest(Level.REPLAY, FROM, TO, recursive=True)
    verified = verify_all([ground, middle, beside, last], request, check)
    assert [item.checked.ok for item in verified] == [False, False, True, False]
    codes = [[finding.code for finding in item.checked.findings] for item in verified]
    assert codes == [["not_reproducible"], ["input_not_valid"], [], ["input_not_valid"]]
    assert verified[3].checked.findings[0].objects == (str(middle.dataset.id),)
    assert asked["last"] == request
    assert asked["ground"] == asked["beside"] == VerifyRequest(Level.REPLAY, None, None, recursive=True)


def test_an_input_that_is_not_here_is_never_a_pass() -> None:
    check, _ = lie_in()
    (one,) = verify_all([found("one", lacks=ELSEWHERE)], VerifyRequest(recursive=True), check)
    (finding,) = one.checked.findings
    assert (finding.code, finding.severity, one.checked.ok) == ("input_not_verified", "warning", False)
    assert finding.message == f"{ELSEWHERE} is not here."
    check, _ = lie_in()
    (alone,) = verify_all([found("one", lacks=ELSEWHERE)], VerifyRequest(), check)
    assert alone.checked.ok  # its inputs were not asked for


def test_what_is_kept_beside_a_dataset_of_others() -> None:
    check, _ = lie_in()
    strange, hindered = found("strange", own=False), found("hindered", lacks=ELSEWHERE, own=False)
    asked = found("asked", strange, hindered)
    full = verify_all([strange, hindered, asked], VerifyRequest(recursive=True), check)
    assert [item.is_kept for item in full] == [True, False, True]
    check, _ = lie_in()
    files = verify_all([strange, hindered, asked], VerifyRequest(Level.INTEGRITY, recursive=True), check)
    assert [item.is_kept for item in files] == [False, False, True]
