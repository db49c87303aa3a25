"""Public data go in by polling and by push, to a node, and come out elsewhere as they were in the source."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Odf
from tests.real_data.conftest import MANIFESTS, Elsewhere, Site, done
from tests.real_data.reading import DATA, changes, countries, features, leap_seconds, shapefile_points

Travel = Callable[[str], Elsewhere]
EDITIONS = ("2010-06-01", "2011-09-01", "2017-01-01")
NEW_STATES = {
    (1, "AN", "Netherlands Antilles"),
    (0, "BQ", "Caribbean NL"),
    (0, "CW", "Curacao"),
    (0, "SX", "St Maarten (Dutch)"),
    (0, "SS", "South Sudan"),
}
SPELLING = {
    (op, code, name)
    for code, names in {
        "AX": ("Aaland Islands", "Åland Islands"),
        "CI": ("Cote d'Ivoire", "Côte d'Ivoire"),
        "CW": ("Curacao", "Curaçao"),
        "RE": ("Reunion", "Réunion"),
    }.items()
    for op, name in zip((2, 3), names, strict=True)
}


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

    there = travel("leap-seconds")
    came = there.rows("SELECT * FROM `leap-seconds` ORDER BY offset")
    assert [(row["effective_from"], row["tai_minus_utc"]) for row in came] == leap_seconds("2017")
    assert [row["offset"] for row in came] == list(range(28))
    assert there.tail(28) == came
    last_of_1990 = f"SELECT max(tai_minus_utc) AS most FROM `leap-seconds` VERSION AS OF '{28 - 12 - 1}'"
    assert there.rows(last_of_1990) == [{"most": leap_seconds("1990")[-1][1]}]
    by_decade = there.rows(
        "SELECT year(effective_from) DIV 10 * 10 AS decade, count(*) AS steps FROM `leap-seconds` "
        "GROUP BY 1 ORDER BY 1"
    )
    decades = [int(date[:3]) * 10 for date, _ in leap_seconds("2017")]
    assert {row["decade"]: row["steps"] for row in by_decade} == {ten: decades.count(ten) for ten in decades}


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

    there = travel("countries")
    rows = there.rows("SELECT * FROM countries ORDER BY offset")
    first = list(countries(EDITIONS[0]).items())
    ops = [(row["op"], row["code"], row["name"]) for row in rows]
    assert ops[: len(first)] == [(0, code, name) for code, name in first]
    parts = ops[len(first) : len(first) + len(NEW_STATES)], ops[len(first) + len(NEW_STATES) :]
    for part, history, before, after in zip(
        parts, (NEW_STATES, SPELLING), EDITIONS, EDITIONS[1:], strict=False
    ):
        assert set(part) == history == changes(countries(before), countries(after))
        assert len(part) == len(history)
    now = there.rows("SELECT code, name FROM to_table(countries)")
    assert {row["code"]: row["name"] for row in now} == countries(EDITIONS[2])
    assert [row["event_time"] for row in there.tail(1)] == [f"{EDITIONS[2]}T00:00:00Z"]
    then = there.rows(f"SELECT code, name FROM to_table(countries, '{len(first) - 1}')")
    assert {row["code"]: row["name"] for row in then} == countries(EDITIONS[0])


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

    there = travel("zone-places")
    rows = there.rows("SELECT * FROM to_table(`zone-places`)")
    assert {row["tz"]: _place(row) for row in rows} == {item["tz"]: item for item in whole}
    assert all(row["num_countries"] == len(row["countries"].split(",")) for row in rows)
    north = there.rows(
        "SELECT tz FROM `zone-places` WHERE get_json_object(geometry, '$.coordinates[1]') > 66.5 ORDER BY tz"
    )
    assert [row["tz"] for row in north] == sorted(item["tz"] for item in whole if item["at"][1] > 66.5)


def _place(row: dict[str, object]) -> dict[str, object]:
    geometry = json.loads(str(row["geometry"]))
    assert geometry["type"] == "Point"
    return {name: row[name] for name in ("tz", "countries", "comment")} | {"at": geometry["coordinates"]}


def test_a_shapefile(home: Odf, site: Site, travel: Travel) -> None:
    """The same places as a shapefile, polled: attributes and points are those of the archive."""
    shutil.copy(DATA / "zone-places.zip", site.folder)
    _add(home, "zone-points")
    facts = done(home("pull", "zone-points", "-o", "json"))
    points = shapefile_points("zone-places.zip")
    assert facts["numRecords"] == len(points)

    there = travel("zone-points")
    rows = there.rows("SELECT * FROM `zone-points` ORDER BY offset")
    came = [(row["tz"], row["countries"], json.loads(row["geometry"])["coordinates"]) for row in rows]
    assert came == sorted(points)  # offsets follow the key
    assert [tz for tz, _, _ in points] == [item["tz"] for item in features("zone-places.geojson")]
