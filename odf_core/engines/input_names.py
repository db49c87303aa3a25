"""What messages call an input, so that each of them says where the fault is."""

from collections.abc import Iterator
from contextlib import contextmanager

from odf_core.engines.errors import QueryInvalid, QueryRefused
from odf_core.errors import InvalidInput, LimitExceeded


@contextmanager
def naming_input(name: str, dataset: str) -> Iterator[None]:
    """Begins the sentence of what is raised inside with the input; of a query with where it is kept."""
    try:
        yield
    except (QueryInvalid, QueryRefused) as error:
        _begin(error, f"Preprocess query of the source of {dataset}: ")
        raise
    except (InvalidInput, LimitExceeded) as error:
        if not error.message.startswith("Input "):
            _begin(error, f"Input {name!r}: ")
        raise


def _begin(error: InvalidInput | LimitExceeded, words: str) -> None:
    error.message = words + error.message
    error.args = (error.message, *error.args[1:])
