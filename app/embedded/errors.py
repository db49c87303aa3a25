"""What can go wrong with the embedded services, each with the sentence that mends it."""

from typing import ClassVar

from odf_core.errors import AccessDenied, Conflict, InvalidInput, Unavailable


class DataDirectoryInUse(Conflict):
    """Another node holds the lock of the data directory."""

    code: ClassVar[str] = "embedded_data_directory_in_use"


class DataDirectoryUnusable(InvalidInput):
    """The data directory cannot be made, read or written by this user, or is no directory."""

    code: ClassVar[str] = "embedded_data_directory_unusable"


class EmbeddedStateUnreadable(InvalidInput):
    """The file with the port and the credentials of the embedded services is damaged."""

    code: ClassVar[str] = "embedded_state_unreadable"


class DatabaseVersionMismatch(Conflict):
    """The database in the data directory was made by another major version of PostgreSQL."""

    code: ClassVar[str] = "embedded_database_version"


class S3PortTaken(Conflict):
    """The port of the embedded S3 server is held by another program."""

    code: ClassVar[str] = "embedded_s3_port_taken"


class RootRefused(AccessDenied):
    """PostgreSQL never runs as root, and this machine forbids the way around it."""

    code: ClassVar[str] = "embedded_root_refused"


class PlatformUnsupported(Unavailable):
    """The embedded services do not run on this operating system."""

    code: ClassVar[str] = "embedded_platform_unsupported"


class ServiceBinaryMissing(Unavailable):
    """The wheel that carries a server's binaries is not installed."""

    code: ClassVar[str] = "embedded_binary_missing"


class ServiceStartFailed(Unavailable):
    """A server ended, or did not answer in time, while it was being started."""

    code: ClassVar[str] = "embedded_service_start_failed"


class ServiceKeepsFailing(Unavailable):
    """A server died so often in a short time that starting it again is given up."""

    code: ClassVar[str] = "embedded_service_keeps_failing"
