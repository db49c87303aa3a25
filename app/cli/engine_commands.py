"""`odf engine`: the engines that evaluate transformations."""

from typing import Annotated

import typer

from app.cli.output import Output, OutputFormat, write_record, write_records

engine = typer.Typer(name="engine", help="Engines that compute derivative datasets.", no_args_is_help=True)


@engine.command("list")
def list_engines(output: Output = OutputFormat.TABLE) -> None:
    """List the engines that can be used here; none is started.

    The version is a digest over everything that can change a result, and is written into the chain of each
    dataset that the engine computes. New datasets get this program's own engines; those that `odf engine
    install` has brought evaluate the chains that name them. In a workspace it is told how many datasets of it
    name an engine.
    """
    from app.cli.engine_uses import datasets_by_engine
    from odf_core.engines.installed import InstalledEngines

    uses = datasets_by_engine()
    rows = [
        {
            "name": item.name,
            "version": item.version,
            "runs": ", ".join(f"{package} {number}" for package, number in item.packages.items()),
            "from": item.source or "this program",
            "default": item.is_default,
            "datasets": None if uses is None else uses[item.name, item.version],
            "sandbox": item.is_fenced,
            "java": item.java,
            "trouble": item.trouble,
        }
        for item in InstalledEngines().listed()
    ]
    columns = ["name", "version", "runs", "from", "default", "datasets", "sandbox", "java", "trouble"]
    write_records(rows, output, columns=columns)


@engine.command("install")
def install(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="[SOURCE]",
            help="Folder, sdist or wheel of odf-node, or a release such as odf-node==1.2.0. "
            "Default: the code that runs here.",
        ),
    ] = None,
    spark: Annotated[
        str | None,
        typer.Option("--spark", metavar="VERSION", help="PySpark of this version instead of its own."),
    ] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Install the engines of another release beside this one's, or keep this one's before an update.

    They get a Python environment of their own, filled by pip as it is configured on this machine, with the
    hashes of the release's lock file where it has one. Chains that name their versions are then computed and
    verified by them. The environments are in `ODF_ENGINES_DIR`, else among your data.
    """
    from app.cli.engine_progress import install_watch
    from odf_core.engines.environments.install import Installer
    from odf_core.engines.environments.proving import prove_spark
    from odf_core.engines.environments.registry import EngineEnvironments
    from odf_core.engines.environments.sources import own_source
    from odf_core.engines.options import SparkOptions

    with install_watch() as say:
        prove = SparkOptions.from_environment()
        installer = Installer(EngineEnvironments(), lambda made: prove_spark(made, prove), say)
        done = installer.install(source or own_source(), spark)
    told = done.environment.record.told
    versions = ", ".join(f"{item.name} {item.identity}" for item in told.engines)
    facts = {
        "installed": done.is_new,
        "from": done.environment.record.source,
        "program": told.program,
        "engines": [{"name": item.name, "version": item.identity} for item in told.engines],
        "folder": str(done.environment.folder),
    }
    verb = "Installed" if done.is_new else "Nothing to do, these are here already:"
    write_record(facts, output, sentence=f"{verb} {versions}")


@engine.command("remove")
def remove(
    version: Annotated[
        str,
        typer.Argument(metavar="VERSION", help="Version of one of its engines, as `odf engine list` tells."),
    ],
    output: Output = OutputFormat.TABLE,
) -> None:
    """Remove an installed environment, with all of its engines.

    Datasets whose chains name them cannot be computed or verified by replay any more, until they are
    installed again or another version is declared equivalent.
    """
    from app.cli.engine_progress import install_watch
    from odf_core.engines.installed import InstalledEngines

    engines = InstalledEngines()
    with install_watch() as say:
        gone = engines.environments.remove(version, say, engines.stop)
    told = gone.record.told.engines
    facts = {"removed": [{"name": item.name, "version": item.identity} for item in told]}
    names = ", ".join(f"{item.name} {item.identity}" for item in told)
    write_record(facts, output, sentence=f"Removed {names}")


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
