"""`odf pull` of a dataset that has a polling source."""

from app.cli.ingest_commands import ingested_facts, ingested_sentence
from app.cli.output import OutputFormat, write_record
from odf_core.identity import DatasetAlias, DatasetIdRemote, parse_dataset_ref_any
from odf_core.workspace import Workspace


def polls(workspace: Workspace, reference: str) -> bool:
    """Whether `reference` names a local dataset that is fed by a polling source, and was not pulled."""
    from odf_core.chain import Projection
    from odf_core.transfer.client.keyblocks import key_blocks

    ref = parse_dataset_ref_any(reference, lambda name: False)
    if isinstance(ref, DatasetIdRemote) and ref.repo is None:
        dataset = workspace.find_dataset(ref.id)
    elif isinstance(ref, DatasetAlias):
        dataset = workspace.find_dataset(ref)
    else:
        return False
    if dataset is None or dataset.remotes.pull:
        return False
    return Projection.of(key_blocks(dataset.folder)).polling_source is not None


def polled(workspace: Workspace, reference: str, output: OutputFormat, *, fetch_uncacheable: bool) -> None:
    """Poll until the source has no more, and say what came."""
    from app.cli.engine import merge_engine
    from odf_core.workspace.ingests import Ingests

    with merge_engine() as engine:
        done = Ingests(workspace, engine).poll(reference, fetch_uncacheable=fetch_uncacheable)
    facts = ingested_facts([done])
    write_record(facts, output, sentence=ingested_sentence(facts))
