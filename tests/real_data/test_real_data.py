"""Public data go in by polling and from files, to a node, and come out elsewhere as they were."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Odf
from tests.real_data.conftest import MANIFESTS, Elsewhere, Site, done
from tests.real_data.outcome import (
    EDITIONS,
    SPELLING,
    log_came_whole,
    places_came_whole,
    points_came_whole,
    register_came_whole,
)
from tests.real_data.reading import DATA, features, leap_seconds, shapefile_points

Travel = Callable[[str], Elsewhere]


@pytest.fixture(autouse=True)
def _names_of_sites(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAP_SECONDS_SITE", site.url)
    monkeypatch.setenv("ZONE_POINTS_SITE", site.url)


def _add(odf: Odf, name: str) -> None:
    assert odf("add", MANIFESTS / f"{name}.yaml").code == 0


def test_a_log_that_grows(home: Odf, site: Site, travel: Travel) -> None:
    """Leap seconds, polled over HTTP: what is known is not told again, what is unchanged not even sent."""
    published = site.folder / "leap-seconds.csv"
    _add(home, "leap-seconds")
    counts = []
    for edition in ("1990", "1990", "2017", "2017"):
        shutil.copyfile(DATA / f"leap-seconds-{edition}.csv", published)
        facts = done(home("pull", "leap-seconds", "-o", "json"))
        counts.append(facts.get("numRecords", facts["result"]))
    assert counts == [len(leap_seconds("1990")), "UpToDate", 12, "UpToDate"]
    assert site.statuses == [200, 304, 200, 304]

    log_came_whole(travel("leap-seconds"))


def test_a_register_and_its_history(home: Odf, travel: Travel) -> None:
    """Country codes, edition by edition: the changelog tells what happened to the world, and nothing else."""
    folder = Path("editions")
    folder.mkdir()
    for edition in EDITIONS[:2]:
        shutil.copy(DATA / f"countries-{edition}.tab", folder)
    _add(home, "countries")
    assert done(home("pull", "countries", "-o", "json"))["numBlocks"] == 3  # schema, two editions
    shutil.copy(DATA / f"countries-{EDITIONS[2]}.tab", folder)
    assert done(home("pull", "countries", "-o", "json"))["numRecords"] == len(SPELLING)
    assert done(home("pull", "countries", "-o", "json"))["result"] == "UpToDate"

    register_came_whole(travel("countries"))


def test_places_pushed_in_parts(home: Odf, travel: Travel) -> None:
    """GeoJSON: places west of Greenwich, then all; the second part adds the places that were missing."""
    _add(home, "zone-places")
    west, whole = features("zone-places-west.geojson"), features("zone-places.geojson")
    first = done(home("ingest", "zone-places", DATA / "zone-places-west.geojson", "-o", "json"))
    assert first["numRecords"] == len(west)
    second = done(home("ingest", "zone-places", DATA / "zone-places.geojson", "-o", "json"))
    assert second["numRecords"] == len(whole) - len(west)
    again = home("ingest", "zone-places", DATA / "zone-places-west.geojson", "-o", "json")
    assert done(again)["result"] == "UpToDate"

    places_came_whole(travel("zone-places"))


def test_a_shapefile(home: Odf, site: Site, travel: Travel) -> None:
    """The same places as a shapefile, polled: attributes and points are those of the archive."""
    shutil.copy(DATA / "zone-places.zip", site.folder)
    _add(home, "zone-points")
    facts = done(home("pull", "zone-points", "-o", "json"))
    points = shapefile_points("zone-places.zip")
    assert facts["numRecords"] == len(points)

    points_came_whole(travel("zone-points"))
