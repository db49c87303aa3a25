"""`odf ingest`: data from a file or standard input into a root dataset."""

from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.output import Output, OutputFormat, write_record


def ingest(
    reference: Annotated[
        str, typer.Argument(metavar="REF", help="Name or id of a root dataset of the workspace.")
    ],
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE…", help="Files to ingest, in this order; - is standard input."),
    ],
    source_name: Annotated[
        str | None, typer.Option("--source-name", help="The push source, where the dataset has several.")
    ] = None,
    event_time: Annotated[
        str | None,
        typer.Option("--event-time", help="Event time (RFC 3339) of records that carry none; default: now."),
    ] = None,
    input_format: Annotated[
        str | None,
        typer.Option(
            "--input-format",
            help="csv, json, ndjson, geojson, ndgeojson, esri-shapefile or parquet, where the files are not "
            "in the source's own format.",
        ),
    ] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Ingest files through a push source: each file is merged with the dataset's history and committed."""
    from app.cli.engine import merge_engine
    from app.cli.session import find_workspace
    from odf_core.ingest.read.media_types import media_type_of_format
    from odf_core.metadata import Timestamp
    from odf_core.workspace.ingests import Ingests

    moment = Timestamp.parse(event_time) if event_time is not None else None
    media_type = media_type_of_format(input_format) if input_format is not None else None
    results = []
    with merge_engine() as engine:
        ingests = Ingests(find_workspace(), engine)
        for file in files:
            with _opened(file) as path:
                results.append(
                    ingests.push(
                        reference,
                        path,
                        source_name=source_name,
                        media_type=media_type,
                        event_time=moment,
                        name="standard input" if file == "-" else file,
                    )
                )
    facts = ingested_facts(results)
    write_record(facts, output, sentence=ingested_sentence(facts))


def ingested_facts(results: list[Any]) -> dict[str, Any]:
    """The results of ingests into one dataset as one object: what `-o json` prints."""
    first, last = results[0], results[-1]
    updated = first.old_head != last.new_head
    facts: dict[str, Any] = {
        "result": "Updated" if updated else "UpToDate",
        "dataset": str(last.dataset.alias),
        "datasetId": str(last.dataset.id),
    }
    if not updated:
        return facts | {"head": str(last.new_head), "why": last.why}
    return facts | {
        "oldHead": str(first.old_head) if first.old_head is not None else None,
        "newHead": str(last.new_head),
        "numBlocks": sum(item.num_blocks for item in results),
        "numRecords": sum(item.num_records for item in results),
    }


def ingested_sentence(facts: dict[str, Any]) -> str:
    """The same for people."""
    if facts["result"] == "UpToDate":
        return f"{facts['dataset']} is up to date: {facts['why']}"
    return (
        f"{facts['dataset']}: {facts['oldHead'][-8:]} -> {facts['newHead'][-8:]}, "
        f"{facts['numBlocks']} blocks, {facts['numRecords']} records"
    )


def _opened(file: str) -> Any:
    """The file's path in a context; standard input is put into a file first."""
    from contextlib import nullcontext

    from app.cli.engine import standard_input
    from odf_core.ingest.errors import SourceNotFound

    if file != "-" and not Path(file).is_file():
        raise SourceNotFound(f"There is no file {file} to ingest; correct its path.", objects=[file])
    return standard_input() if file == "-" else nullcontext(Path(file))
