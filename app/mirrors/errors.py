"""Errors of mirrors."""

from typing import ClassVar

from odf_core.errors import Conflict, InvalidInput, LimitExceeded, NotFound


class NotRegistered(InvalidInput):
    """What is to be mirrored does not lie on a repository that the operator has registered."""

    code: ClassVar[str] = "repository_not_registered"


class MirrorSourceNotFound(NotFound):
    """No registered repository has the dataset, or none shows it to this account."""

    code: ClassVar[str] = "mirror_source_not_found"


class MirrorTaken(Conflict):
    """The dataset is on this node already, where the caller may not read it."""

    code: ClassVar[str] = "mirror_taken"


class AlreadyHere(Conflict):
    """The dataset is on this node already, and no mirror: its chain grows here."""

    code: ClassVar[str] = "mirrored_dataset_is_own"


class MirrorDiverged(Conflict):
    """The source's chain does not go on from what was mirrored: it was reset or replaced there."""

    code: ClassVar[str] = "mirror_diverged"


class MirrorSourceChanged(Conflict):
    """At the source's address is another dataset now."""

    code: ClassVar[str] = "mirror_source_changed"


class MirrorTooLarge(LimitExceeded):
    """A mirror needs more bytes at once than the node takes."""

    code: ClassVar[str] = "mirror_too_large"


class MirrorNotFound(NotFound):
    """The dataset is no mirror."""

    code: ClassVar[str] = "mirror_not_found"
