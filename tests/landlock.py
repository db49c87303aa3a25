"""Whether this machine keeps processes from files."""

import subprocess
import sys


def landlock_works() -> bool:
    """Tried in a process of its own: what is restricted stays so."""
    program = (
        "from odf_core.engines.sandbox.landlock import restrict_files; print(restrict_files([], [], []))"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return not told.stdout.startswith("none")
