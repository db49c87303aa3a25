"""The EsriShapefile read step."""

import datetime
import json

import pytest

from odf_core.ingest.read import InputLimitExceeded, MalformedInput, WrongInputEncoding
from odf_core.metadata import ReadStepEsriShapefile
from tests.ingest.read_helpers import rows, shapefile_members, stage, types, zipped

TRIANGLE = [[0, 0], [0, 1], [1, 1], [0, 0]]


def two_records(writer):
    writer.field("NAME", "C", size=20)
    writer.field("POP", "N", size=10, decimal=0)
    writer.field("AREA", "N", size=12, decimal=3)
    writer.field("DAY", "D")
    writer.field("OK", "L")
    writer.poly([TRIANGLE])
    writer.record("Zürich", 5, 1.5, datetime.date(2020, 1, 5), True)
    writer.null()
    writer.record("", None, None, None, None)


def archive(*names, encoding="utf-8", cpg=None, leave_out=(), **replaced):
    members = {}
    for name in names:
        for suffix, data in shapefile_members(two_records, encoding=encoding).items():
            if suffix not in leave_out:
                members[name + suffix] = replaced.get(suffix[1:], data)
        if cpg is not None:
            members[f"{name}.cpg"] = cpg.encode()
    return zipped(members)


def test_attributes_and_geometry(tmp_path):
    staged = stage(ReadStepEsriShapefile(), archive("layer"), tmp_path)
    assert types(staged) == {
        "AREA": "double", "DAY": "string", "NAME": "string", "OK": "bool", "POP": "double",
        "geometry": "string",
    }  # fmt: skip
    first, second = rows(staged)
    assert (first["NAME"], first["POP"], first["AREA"], first["DAY"], first["OK"]) == (
        "Zürich", 5.0, 1.5, "2020-1-5", True,
    )  # fmt: skip
    text = first["geometry"]
    assert text.startswith('{"coordinates":[')
    assert " " not in text
    assert json.loads(text) == {"type": "Polygon", "coordinates": [TRIANGLE]}
    assert set(second.values()) == {None}
    assert [path.name for path in (tmp_path / "staged").iterdir()] == ["part-000000.parquet"]


def test_a_schema_is_matched_by_name(tmp_path):
    step = ReadStepEsriShapefile(ddl_schema=("DAY DATE", "POP INT", "missing STRING"))
    first, second = rows(stage(step, archive("layer"), tmp_path))
    assert first == {"DAY": datetime.date(2020, 1, 5), "POP": 5, "missing": None}
    assert second == {"DAY": None, "POP": None, "missing": None}


@pytest.mark.parametrize("sub_path", ["b/two.shp", "*two*", "b/*", "b/t?o.shp"])
def test_a_sub_path_chooses_a_layer(tmp_path, sub_path):
    data = archive("a/one", "b/two", "__MACOSX/b/._two")
    assert len(rows(stage(ReadStepEsriShapefile(sub_path=sub_path), data, tmp_path))) == 2


def test_a_sub_path_must_choose_one(tmp_path):
    data = archive("a/one", "b/two")
    for sub_path, told in (
        (None, "2 shapefiles"),
        ("*", "2 shapefiles"),
        ("c/*", "no .shp file that matches"),
    ):
        with pytest.raises(MalformedInput, match=told):
            stage(ReadStepEsriShapefile(sub_path=sub_path), data, tmp_path)


@pytest.mark.parametrize(
    ("encoding", "cpg"), [("latin-1", "ISO-8859-1"), ("cp1252", "ANSI 1252"), ("utf-8", "?")]
)
def test_the_encoding_is_that_of_the_cpg(tmp_path, encoding, cpg):
    data = archive("layer", encoding=encoding, cpg=cpg)
    assert rows(stage(ReadStepEsriShapefile(), data, tmp_path))[0]["NAME"] == "Zürich"


def test_without_a_cpg_the_language_driver_tells_the_encoding(tmp_path):
    dbf = bytearray(shapefile_members(two_records, encoding="cp1252")[".dbf"])
    with pytest.raises(WrongInputEncoding, match="cpg") as caught:
        stage(ReadStepEsriShapefile(), archive("layer", dbf=bytes(dbf)), tmp_path)
    assert caught.value.extras["row"] == 1
    dbf[29] = 0x57
    assert (
        rows(stage(ReadStepEsriShapefile(), archive("layer", dbf=bytes(dbf)), tmp_path))[0]["NAME"]
        == "Zürich"
    )


def test_deleted_records_go_with_their_shapes(tmp_path):
    def points(writer):
        writer.field("N", "N", size=5, decimal=0)
        for number in range(3):
            writer.point(number, number)
            writer.record(number)

    members = shapefile_members(points)
    dbf = bytearray(members[".dbf"])
    header, length = int.from_bytes(dbf[8:10], "little"), int.from_bytes(dbf[10:12], "little")
    dbf[header + length] = ord("*")
    data = zipped({"l.shp": members[".shp"], "l.dbf": bytes(dbf)})
    found = rows(stage(ReadStepEsriShapefile(), data, tmp_path))
    assert [(row["N"], json.loads(row["geometry"])["coordinates"][0]) for row in found] == [(0, 0), (2, 2)]


def test_damaged_archives_are_refused(tmp_path):
    shp = shapefile_members(two_records)[".shp"]
    dbf = shapefile_members(two_records)[".dbf"]
    for data, told in (
        (b"PK no archive", "no zip archive"),
        (archive("layer")[:-30], "no zip archive"),
        (archive("layer", leave_out=(".dbf",)), "no .dbf file"),
        (archive("layer", leave_out=(".shp",)), "no .shp file"),
        (archive("../layer"), "climbs out"),
        (archive("/layer"), "climbs out"),
        (archive("layer", shp=b"no shapes"), "cannot be read"),
        (archive("layer", shp=shp[:-20]), "cannot be read"),
        (archive("layer", dbf=dbf[:-20]), "cannot be read"),
        (archive("layer", dbf=b""), "cannot be read"),
    ):
        with pytest.raises(MalformedInput, match=told):
            stage(ReadStepEsriShapefile(), data, tmp_path)
        assert list((tmp_path / "staged").iterdir()) == []


def test_an_archive_expands_within_its_bound(tmp_path):
    with pytest.raises(InputLimitExceeded):
        stage(ReadStepEsriShapefile(), archive("layer"), tmp_path, archive_bytes=200)
