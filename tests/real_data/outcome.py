"""What has to be in the datasets at the end of their way, whichever way they came."""

import json

from tests.real_data.conftest import Elsewhere
from tests.real_data.reading import changes, countries, features, leap_seconds, shapefile_points

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


def log_came_whole(there: Elsewhere) -> None:
    """All leap seconds, and those of 1990 as of the offset where they end."""
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


def register_came_whole(there: Elsewhere) -> None:
    """The history of the country codes, and the state after each edition."""
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


def places_came_whole(there: Elsewhere) -> None:
    """All places, with the queries that their geometry allows."""
    whole = features("zone-places.geojson")
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


def points_came_whole(there: Elsewhere) -> None:
    """The points of the shapefile, by key."""
    points = shapefile_points("zone-places.zip")
    rows = there.rows("SELECT * FROM `zone-points` ORDER BY offset")
    came = [(row["tz"], row["countries"], json.loads(row["geometry"])["coordinates"]) for row in rows]
    assert came == sorted(points)  # offsets follow the key
    assert [tz for tz, _, _ in points] == [item["tz"] for item in features("zone-places.geojson")]
