"""What goes wrong between a derivative dataset, its inputs and its engine."""

from typing import ClassVar

from odf_core.errors import Conflict, IntegrityError, InvalidInput, LimitExceeded, Unavailable


class TransformNotDefined(InvalidInput):
    """The dataset has no SetTransform: it is not computed from others."""

    code: ClassVar[str] = "transform_not_defined"


class InputDiverged(Conflict):
    """Blocks of an input that were read before are no longer in its chain: it was reset or compacted.

    `extras` has `input` and `block`, the last block of it that was read.
    """

    code: ClassVar[str] = "input_diverged"


class TransformInputsChanged(InvalidInput):
    """A new SetTransform reads other datasets than the steps before it."""

    code: ClassVar[str] = "transform_inputs_changed"


class QueryNotMigratable(InvalidInput):
    """A new query cannot go on from the checkpoint of the one before."""

    code: ClassVar[str] = "query_not_migratable"


class InvalidQueryResult(InvalidInput):
    """A query gives columns that no derivative dataset can have: no event time, or a system column."""

    code: ClassVar[str] = "invalid_query_result"


class IncompatibleResult(InvalidInput):
    """A query gives other columns than the dataset has."""

    code: ClassVar[str] = "incompatible_result"


class EngineContractBroken(Unavailable):
    """An engine said that it is done, but what it left is not what the contract asks for."""

    code: ClassVar[str] = "engine_contract_broken"


class CheckpointUnreadable(IntegrityError):
    """A checkpoint is missing, altered, or not one of this engine and query."""

    code: ClassVar[str] = "checkpoint_unreadable"


class InputFileMissing(IntegrityError):
    """A slice that a step has to read is not where its dataset should have it, or not whole."""

    code: ClassVar[str] = "input_file_missing"


class EngineNotInstalled(InvalidInput):
    """A chain asks for an engine, or a version of one, that is not here."""

    code: ClassVar[str] = "engine_not_installed"


class QueryStateTooLarge(LimitExceeded):
    """A query that no column divides would compute its whole result from more rows than it may."""

    code: ClassVar[str] = "query_state_too_large"
