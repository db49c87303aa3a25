"""`odf worker`: does the jobs of a node."""

from app.cli.settings_options import ConfigFile, DataDir, Embedded


def worker(embedded: Embedded = None, data_dir: DataDir = None, config: ConfigFile = None) -> None:
    """Do the jobs of a node (ingest, polling) until Ctrl-C or SIGTERM; run as many as there is work for.

    `odf serve` starts `jobs.workers` of them by itself.
    """
    from app.cli.node import node_services
    from app.worker import run_worker

    with node_services((config, embedded, data_dir)) as services:
        run_worker(services)
