"""A process that does nothing but hold embedded services, to be killed by tests. Not a test module.

Arguments: DATA_DIR TIE. Prints one JSON line when the services answer (or their error), and stops
them in order when its standard input ends or it is interrupted.
"""

import contextlib
import json
import sys
from pathlib import Path

from app.embedded import EmbeddedServices
from odf_core.errors import OdfError


def main() -> None:
    services = EmbeddedServices(Path(sys.argv[1]), durable=False, tie=sys.argv[2])  # type: ignore[arg-type]
    try:
        services.start()
    except OdfError as error:
        print(json.dumps({"error": error.code, "message": error.message}), flush=True)
        return
    facts = {"pids": services.pids(), "url": services.database_url, "port": services.s3.endpoint}
    with contextlib.suppress(KeyboardInterrupt):
        print(json.dumps(facts), flush=True)
        sys.stdin.read()
    services.stop()
    print("stopped", flush=True)


if __name__ == "__main__":
    main()
