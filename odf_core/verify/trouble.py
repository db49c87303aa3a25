"""Which errors tell of a dataset, and which of this program or its surroundings."""

from odf_core.errors import AccessDenied, InternalError, OdfError, OutcomeUnknown, Unavailable


def raise_if_trouble(error: OdfError) -> None:
    """Raises `error` again where it says nothing about the dataset: storage does not answer, this program
    may not read it, or is at fault itself."""
    if isinstance(error, Unavailable | AccessDenied | OutcomeUnknown | InternalError):
        raise error
