"""Where the golden vectors are: beside the checkout, never in it."""

from pathlib import Path

import pytest

_VECTORS = Path(__file__).resolve().parents[2] / "shared" / "vectors"


def vectors_dir() -> Path | None:
    """The folder of golden vectors, or None in a clone that has none beside it."""
    return _VECTORS if _VECTORS.is_dir() else None


def require_vectors(name: str) -> Path:
    """Path of one golden file; skips the calling test, saying so, where the vectors are not at hand."""
    path = _VECTORS / name
    if not path.exists():
        pytest.skip(f"golden vectors are not beside this checkout ({name})")
    return path
