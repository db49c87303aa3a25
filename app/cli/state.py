"""The options that stand before the command, for the commands to look at."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class State:
    """`odf --quiet --debug …`"""

    quiet: bool = False
    debug: bool = False


current = State()
