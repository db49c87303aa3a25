"""Events as people hand them in: several in a text, and every fault told with its file and line."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from odf_core.limits import Limits
from odf_core.metadata.errors import InvalidManifest
from odf_core.metadata.events import MetadataEvent
from odf_core.metadata.manifest.envelope import MANIFEST_SHAPES, event_from_json
from odf_core.metadata.manifest.load import load_manifests
from odf_core.metadata.manifest.read import from_json
from odf_core.metadata.manifest.snapshots import ManifestPlace

_LIMITS = Limits()
_KIND = "MetadataEvent"


@dataclass(frozen=True, slots=True)
class PlacedEvent:
    """An event and where it was written: at `steps` of the document at `place`."""

    event: MetadataEvent
    place: ManifestPlace
    steps: tuple[str | int, ...] = ()

    def telling(self) -> AbstractContextManager[None]:
        """Errors about the event get its source and line; `extras["place"]` counts from the event."""
        return self.place.telling_of(self.steps)


def read_events(text: bytes | str, source: str, limits: Limits = _LIMITS) -> list[PlacedEvent]:
    """Every event of a YAML stream or JSON text, each a document: a manifest of the kind MetadataEvent, or
    the event alone as a DatasetSnapshot lists it. `source` names the text in errors.

    Raises `InvalidManifest`, `ManifestTooLarge`, `NestingTooDeep`, `UnsupportedManifestVersion`; a text
    without an event is invalid too.
    """
    with ManifestPlace(source, "", 0).telling():
        documents = load_manifests(text, limits)
        if not documents:
            raise InvalidManifest("There is no event in it.")
    plain = text if isinstance(text, str) else text.decode("utf-8-sig")
    placed: list[PlacedEvent] = []
    for number, document in enumerate(documents):
        place = ManifestPlace(source, plain, number)
        with place.telling(("kind",)):
            placed.append(_placed(document, place, limits))
    return placed


def _placed(document: Any, place: ManifestPlace, limits: Limits) -> PlacedEvent:
    kind = document.get("kind") if isinstance(document, dict) else None
    if kind == "DatasetSnapshot":
        raise InvalidManifest(
            "A DatasetSnapshot makes a new dataset (`odf add`); give the events that are to follow, each as "
            "a document of its own.",
            extras={"place": ["kind"]},
        )
    if kind == _KIND or (isinstance(document, dict) and "content" in document):
        return PlacedEvent(event_from_json(document, limits), place, ("content",))
    return PlacedEvent(from_json(document, MANIFEST_SHAPES[_KIND], None, limits.nesting_depth), place)
