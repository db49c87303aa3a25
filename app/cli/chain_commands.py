"""`odf chain`: chains wherever they are."""

from typing import Annotated

import typer

from app.cli.output import Output, OutputFormat, write_record

chain = typer.Typer(name="chain", help="Metadata chains.", no_args_is_help=True)


@chain.callback()
def _group() -> None:
    """Metadata chains."""


@chain.command("check")
def check(
    place: Annotated[
        str,
        typer.Argument(metavar="DIR|URL", help="A folder in the layout of the specification, or its URL."),
    ],
    output: Output = OutputFormat.TABLE,
) -> None:
    """Check every block of a chain: its hash, its link, and the rules on what may follow what."""
    from app.cli.session import transfer_options, watching
    from app.cli.sources import open_source
    from odf_core.errors import OdfError
    from odf_core.transfer.client.check import check_chain

    with watching() as progress, open_source(place, transfer_options(), progress) as source:
        report = check_chain(source)
        facts = {
            "valid": report.problem is None,
            "head": str(report.head),
            "numBlocks": report.num_blocks,
            "datasetId": str(report.seed.dataset_id) if report.seed is not None else None,
            "kind": report.seed.dataset_kind.name.capitalize() if report.seed is not None else None,
            "problem": report.problem.diagnostics() if report.problem is not None else None,
        }
    if report.problem is None or output is not OutputFormat.TABLE:
        write_record(
            facts,
            output,
            sentence=f"Valid: {report.num_blocks} blocks of {facts['datasetId']}, head {report.head}",
        )
    if isinstance(report.problem, OdfError):
        raise report.problem
