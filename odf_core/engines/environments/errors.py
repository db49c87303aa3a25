"""What goes wrong when an engine is installed or removed; nothing is then left of it."""

from typing import ClassVar

from odf_core.errors import IntegrityError, InvalidInput, NotFound, Unavailable


class EngineSourceInvalid(InvalidInput):
    """There is nothing to install under this name, or it is no release of odf-node."""

    code: ClassVar[str] = "engine_source_invalid"


class EngineInstallFailed(Unavailable):
    """Python or pip could not make the environment; the message has pip's last words."""

    code: ClassVar[str] = "engine_install_failed"


class EngineTellsNothing(InvalidInput):
    """An environment does not tell which engines it has: its release cannot be run beside others."""

    code: ClassVar[str] = "engine_tells_nothing"


class EngineDoesNotRun(InvalidInput):
    """An engine was installed as far as that goes, and does not evaluate the simplest query."""

    code: ClassVar[str] = "engine_does_not_run"


class EngineEnvironmentNotFound(NotFound):
    """No installed environment has an engine of this version."""

    code: ClassVar[str] = "engine_environment_not_found"


class EngineEnvironmentAmbiguous(InvalidInput):
    """Several installed environments have an engine of this version; `objects` are their names."""

    code: ClassVar[str] = "engine_environment_ambiguous"


class EngineRecordUnreadable(IntegrityError):
    """The file that says what an installed environment is cannot be read."""

    code: ClassVar[str] = "engine_record_unreadable"
