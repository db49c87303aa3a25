"""`odf engine`: the engines that evaluate transformations."""

import typer

from app.cli.output import Output, OutputFormat, write_records

engine = typer.Typer(name="engine", help="Engines that compute derivative datasets.", no_args_is_help=True)


@engine.command("list")
def list_engines(output: Output = OutputFormat.TABLE) -> None:
    """List the engines of this installation; none is started.

    The version is a digest over everything that can change a result, and is written into the chain of each
    dataset that the engine computes.
    """
    from odf_core.engines.installed import InstalledEngines

    rows = [
        {
            "name": item.name,
            "version": item.version,
            "default": item.is_default,
            "sandbox": item.is_fenced,
            "java": item.java,
            "trouble": item.trouble,
        }
        for item in InstalledEngines().listed()
    ]
    write_records(rows, output, columns=["name", "version", "default", "sandbox", "java", "trouble"])
