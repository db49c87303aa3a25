"""Writes one dialect's AsyncAPI document to standard output."""

import sys

from odf_core.transfer.asyncapi.document import to_yaml
from odf_core.transfer.dialects import DIALECTS

_NAMES = {dialect.name: dialect for dialect in DIALECTS}


def main(arguments: list[str]) -> int:
    """Exit status: 0, or 2 without the name of a dialect."""
    if len(arguments) != 1 or arguments[0] not in _NAMES:
        sys.stderr.write(f"usage: python -m odf_core.transfer.asyncapi {'|'.join(_NAMES)}\n")
        return 2
    sys.stdout.write(to_yaml(_NAMES[arguments[0]]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
