"""For developers: `python -m migrations revision "what changes"`, `check`, `upgrade`.

Works on the database of the settings (`ODF_DATABASE__URL`).
"""

import sys

from alembic import command

from app.database import alembic_config, database_url, upgrade
from app.settings import load_settings
from odf_core.errors import OdfError


def main(arguments: list[str]) -> int:
    """Run one of the three verbs; the exit status."""
    try:
        url = database_url(load_settings().database)
        match arguments:
            case ["revision", message]:
                command.revision(alembic_config(url), message, autogenerate=True)
            case ["check"]:
                command.check(alembic_config(url))
            case ["upgrade"]:
                upgrade(url)
            case _:
                sys.stderr.write(f"{__doc__}\n")
                return 2
    except OdfError as error:
        sys.stderr.write(f"{error.message}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
