"""`odf engine`: the engines that evaluate transformations."""

from typing import Annotated

import typer

from app.cli.output import Output, OutputFormat, write_record, write_records

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


@engine.command("deprecate")
def deprecate(
    dataset: Annotated[str, typer.Argument(metavar="REF", help="Derivative dataset, by name or id.")],
    to: Annotated[
        str,
        typer.Option("--to", metavar="VERSION", help="Version that replaces it, as `odf engine list` tells."),
    ],
    output: Output = OutputFormat.TABLE,
) -> None:
    """Show that another version of an engine gives the same.

    Every step of the dataset is evaluated again by that version. If all comes out as recorded, a statement
    that says so is signed with your key and kept in the workspace; the dataset is then computed and verified
    by that version where the one in its chain is not installed.
    """
    from app.cli.engine import choose_engine
    from app.cli.session import find_workspace
    from odf_core.workspace.deprecation import Deprecations
    from odf_core.workspace.signing import own_key

    done = Deprecations(find_workspace(), choose_engine, own_key()).run(dataset, to)
    facts = {
        "dataset": str(done.dataset.alias),
        "head": str(done.head),
        "engine": done.engine,
        "replaced": list(done.replaced),
        "version": done.version,
        "steps": done.steps,
        "attestation": str(done.path),
    }
    replaced = ", ".join(version or "(deployed)" for version in done.replaced)
    sentence = f"{done.engine} {done.version} gives what {replaced} gave, in {done.steps} step(s)"
    write_record(facts, output, sentence=f"{sentence}; signed in {done.path}")
