"""Snapshots as people hand them in: several in a text, and every fault told with its file and line."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from odf_core.errors import InvalidInput, LimitExceeded, OdfError
from odf_core.limits import Limits
from odf_core.metadata.errors import InvalidManifest
from odf_core.metadata.manifest.envelope import snapshot_from_json
from odf_core.metadata.manifest.lines import line_of
from odf_core.metadata.manifest.load import load_manifests
from odf_core.metadata.snapshot import DatasetSnapshot

_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class ManifestPlace:
    """Document number `document` (from 0) of the text that came from `source`, a name for people."""

    source: str
    text: str
    document: int

    @contextmanager
    def telling(self, place: Sequence[str | int] = ()) -> Iterator[None]:
        """Errors about the manifest get its source, and the line of `extras["place"]` or of `place`."""
        try:
            yield
        except (InvalidInput, LimitExceeded) as error:
            raise self.told(error, place) from error

    @contextmanager
    def telling_of(self, steps: Sequence[str | int]) -> Iterator[None]:
        """As `telling`, of the event at `steps`, from which `extras["place"]` counts."""
        try:
            yield
        except (InvalidInput, LimitExceeded) as error:
            error.extras["place"] = [*steps, *error.extras.get("place", ("kind",))]
            raise self.told(error) from error

    def told(self, error: OdfError, place: Sequence[str | int] = ()) -> OdfError:
        """The same error, its sentence begun with source and line; `extras` get `source` and `line`."""
        steps = error.extras.get("place") or place
        lines = [line_of(self.text, self.document, spelled) for spelled in _spellings(steps)]
        line = max((found for found in lines if found is not None), default=None)
        where = self.source if line is None else f"{self.source}, line {line}"
        extras = {**error.extras, "source": self.source, "line": line}
        return type(error)(f"{where}: {error.message}", objects=error.objects, extras=extras)


def _spellings(steps: Sequence[str | int]) -> Iterator[Sequence[str | int]]:
    """The place, and what it is under another name that a property may have (metadata.md 5.8)."""
    if steps:
        yield steps
        if "ddlSchema" in steps:
            yield ["schema" if step == "ddlSchema" else step for step in steps]
        if "queries" in steps:  # what was written as `query`
            yield [*steps[: list(steps).index("queries")], "query"]


@dataclass(frozen=True, slots=True)
class PlacedSnapshot:
    """A snapshot and where it was written."""

    snapshot: DatasetSnapshot
    place: ManifestPlace


def read_snapshots(text: bytes | str, source: str, limits: Limits = _LIMITS) -> list[PlacedSnapshot]:
    """Every DatasetSnapshot of a YAML stream or JSON text; `source` names it in errors.

    Raises `InvalidManifest`, `ManifestTooLarge`, `NestingTooDeep`, `UnsupportedManifestVersion`; a text
    without a manifest is invalid too.
    """
    whole = ManifestPlace(source, "", 0)
    with whole.telling():
        documents = load_manifests(text, limits)
        if not documents:
            raise InvalidManifest("There is no manifest in it.")
    plain = text if isinstance(text, str) else text.decode("utf-8-sig")
    placed: list[PlacedSnapshot] = []
    for number, document in enumerate(documents):
        place = ManifestPlace(source, plain, number)
        with place.telling():
            placed.append(PlacedSnapshot(snapshot_from_json(document, limits), place))
    return placed
