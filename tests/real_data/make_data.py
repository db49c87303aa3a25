"""Makes the files in `data/` from tables of the tz database: `python -m tests.real_data.make_data FOLDER`.

FOLDER has `iso3166.tab`, `zone1970.tab` and `leap-seconds.list` of a release; README.md tells their origin.
"""

import io
import json
import re
import sys
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import shapefile

DATA = Path(__file__).with_name("data")
NTP_EPOCH = datetime(1900, 1, 1, tzinfo=UTC)

# Plain ASCII until release 2015e, Curaçao until 2016j.
ASCII_NAMES = {"AX": "Aaland Islands", "CI": "Cote d'Ivoire", "RE": "Reunion"}
CURACAO = {"CW": "Curacao"}
# The Netherlands Antilles were dissolved in 2010; South Sudan became independent in 2011.
ANTILLES = {"AN": "Netherlands Antilles"}
AFTER_2010 = {"BQ", "CW", "SX", "SS"}


def main(folder: Path) -> None:
    DATA.mkdir(exist_ok=True)
    _leap_seconds(folder / "leap-seconds.list")
    _countries(folder / "iso3166.tab")
    _places(folder / "zone1970.tab")


def lines(path: Path) -> Iterator[list[str]]:
    """The rows of a table of the tz database: fields by tabs, without comments."""
    for line in path.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


def _leap_seconds(path: Path) -> None:
    rows = [
        (f"{NTP_EPOCH + timedelta(seconds=int(fields[0])):%Y-%m-%d}", fields[1])
        for fields in (row[0].split("#")[0].split() for row in lines(path))
    ]
    for name, last in (("1990", "1990"), ("2017", "2017")):
        known = [row for row in rows if row[0][:4] <= last]
        text = "".join(f"{','.join(row)}\n" for row in [("effective_from", "tai_minus_utc"), *known])
        (DATA / f"leap-seconds-{name}.csv").write_text(text)


def _countries(path: Path) -> None:
    now = {row[0]: row[1] for row in lines(path)}
    before = {code: name for code, name in now.items() if code not in AFTER_2010}
    editions = {
        "2010-06-01": before | ANTILLES | ASCII_NAMES,
        "2011-09-01": now | ASCII_NAMES | CURACAO,
        "2017-01-01": now,
    }
    for date, names in editions.items():
        text = f"# ISO 3166 alpha-2 country codes\n#\n#country-\n#code\tname ({date})\n"
        text += "".join(f"{code}\t{names[code]}\n" for code in sorted(names))
        (DATA / f"countries-{date}.tab").write_text(text, "utf-8")


def _places(path: Path) -> None:
    places = [
        {"tz": zone, "countries": countries, "comment": rest[0] if rest else None, "at": _degrees(at)}
        for countries, at, zone, *rest in lines(path)
    ]
    west = [item for item in places if item["at"][0] < 0]
    _geojson(west, "zone-places-west.geojson")
    _geojson(places, "zone-places.geojson")
    _shapefile(places)


def _degrees(iso6709: str) -> tuple[float, float]:
    """Longitude and latitude of `±DDMM[SS]±DDDMM[SS]`."""
    latitude, longitude = re.findall(r"[+-]\d+", iso6709)
    return _angle(longitude, 3), _angle(latitude, 2)


def _angle(text: str, digits: int) -> float:
    degrees, minutes, seconds = text[1 : 1 + digits], text[1 + digits : 3 + digits], text[3 + digits :]
    value = int(degrees) + int(minutes) / 60 + int(seconds or 0) / 3600
    return round(-value if text[0] == "-" else value, 5)


def _geojson(places: list[dict[str, Any]], name: str) -> None:
    features = [
        {
            "type": "Feature",
            "properties": {key: item[key] for key in ("tz", "countries", "comment")},
            "geometry": {"type": "Point", "coordinates": item["at"]},
        }
        for item in places
    ]
    body = ",\n".join(json.dumps(item, ensure_ascii=False, separators=(",", ":")) for item in features)
    (DATA / name).write_text('{"type":"FeatureCollection","features":[\n' + body + "\n]}\n", "utf-8")


def _shapefile(places: list[dict[str, Any]]) -> None:
    parts = {suffix: io.BytesIO() for suffix in ("shp", "shx", "dbf")}
    writer = shapefile.Writer(**parts, encoding="utf-8")
    writer.field("tz", "C", 40)
    writer.field("countries", "C", 80)
    for item in places:
        writer.point(*item["at"])
        writer.record(item["tz"], item["countries"])
    writer.close()
    with zipfile.ZipFile(DATA / "zone-places.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for suffix, part in [*parts.items(), ("cpg", io.BytesIO(b"UTF-8"))]:
            archive.writestr(zipfile.ZipInfo(f"zone-places.{suffix}"), part.getvalue(), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
