"""The sources as plain Python reads them: the standard library, and nothing of ours."""

import csv
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

DATA = Path(__file__).with_name("data")


def leap_seconds(edition: str) -> list[tuple[str, int]]:
    """Date of the change (RFC 3339) and TAI - UTC from then on."""
    with (DATA / f"leap-seconds-{edition}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [(f"{row['effective_from']}T00:00:00Z", int(row["tai_minus_utc"])) for row in rows]


def countries(edition: str) -> dict[str, str]:
    """Names by code."""
    text = (DATA / f"countries-{edition}.tab").read_text("utf-8")
    rows = (tuple(line.split("\t")) for line in text.splitlines() if not line.startswith("#"))
    return dict(rows)


def changes(before: dict[str, str], after: dict[str, str]) -> set[tuple[int, str, str]]:
    """The records of a changelog (op, code, name) that lead from one edition to another (data.md 3.6)."""
    found = {(1, code, before[code]) for code in before.keys() - after.keys()}
    found |= {(0, code, after[code]) for code in after.keys() - before.keys()}
    for code in before.keys() & after.keys():
        if before[code] != after[code]:
            found |= {(2, code, before[code]), (3, code, after[code])}
    return found


def features(name: str) -> list[dict[str, Any]]:
    """Properties of the features, and `at`: longitude and latitude."""
    collection = json.loads((DATA / name).read_text("utf-8"))
    return [item["properties"] | {"at": item["geometry"]["coordinates"]} for item in collection["features"]]


def shapefile_points(name: str) -> list[tuple[str, str, list[float]]]:
    """Attributes and place of each point, by the layout of shapefile and dBASE III."""
    with zipfile.ZipFile(DATA / name) as archive:
        shapes, table = (archive.read(f"zone-places.{suffix}") for suffix in ("shp", "dbf"))
    count, head, width = struct.unpack_from("<IHH", table, 4)
    points = []
    for number in range(count):
        kind, x, y = struct.unpack_from("<idd", shapes, 100 + 28 * number + 8)
        assert kind == 1
        row = table[head + width * number :][:width].decode()
        points.append((row[1:41].rstrip(), row[41:121].rstrip(), [x, y]))
    return points
