"""The same data pushed to a node over HTTP, as bodies and as uploads, and pulled elsewhere from there."""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlencode

import urllib3
import yaml

from tests.ingesting import IngestNode
from tests.real_data.conftest import MANIFESTS, Elsewhere
from tests.real_data.outcome import (
    EDITIONS,
    NEW_STATES,
    SPELLING,
    log_came_whole,
    places_came_whole,
    points_came_whole,
    register_came_whole,
)
from tests.real_data.reading import DATA, countries, features, leap_seconds, shapefile_points

Arrive = Callable[[str], Elsewhere]


def _create(node: IngestNode, name: str) -> None:
    """The dataset of the manifest, with a push source in the place of one that polls."""
    manifest = yaml.safe_load((MANIFESTS / f"{name}.yaml").read_text("utf-8"))
    events = manifest["content"]["metadata"]
    for event in events:
        if event["kind"] == "SetPollingSource":
            event["kind"], event["sourceName"] = "AddPushSource", "default"
            del event["fetch"]
            event.pop("prepare", None)
    status, made = node.post("/datasets?visibility=Public", json.dumps(manifest).encode())
    assert (status, made.get("datasetName")) == (201, name), made


def _push(node: IngestNode, name: str, body: bytes, **headers: str) -> int | str:
    """Number of new records, or `UpToDate`."""
    return _outcome(node, node.post(f"/alice/{name}/ingest", body, **headers))


def _upload(node: IngestNode, name: str, file: str) -> int | str:
    """As `_push`, but the file goes straight to S3 before."""
    body = (DATA / file).read_bytes()
    query = urlencode({"fileName": file, "contentLength": len(body)})
    status, prepared = node.post(f"/platform/file/upload/prepare?{query}")
    assert status == 200, prepared
    answer = urllib3.request("PUT", prepared["uploadUrl"], body=body, headers=dict(prepared["headers"]))
    assert answer.status == 200, answer.data
    return _outcome(node, node.post(f"/alice/{name}/ingest?uploadToken={quote(prepared['uploadToken'])}"))


def _outcome(node: IngestNode, answer: tuple[int, Any]) -> int | str:
    status, result = answer
    assert status == 200, (result, node.worker.tell())
    count: int = result["numRecords"]
    return count if result["result"] == "Updated" else "UpToDate"


def _address(node: IngestNode, name: str) -> str:
    return f"odf+{node.node.base_url}/alice/{name}"


def test_a_log_that_grows(ingest_node: IngestNode, arrive: Arrive) -> None:
    _create(ingest_node, "leap-seconds")
    counts = [
        _push(
            ingest_node,
            "leap-seconds",
            (DATA / f"leap-seconds-{edition}.csv").read_bytes(),
            content_type="text/csv",
        )
        for edition in ("1990", "1990", "2017", "1990")
    ]
    assert counts == [len(leap_seconds("1990")), "UpToDate", 12, "UpToDate"]
    log_came_whole(arrive(_address(ingest_node, "leap-seconds")))


def test_a_register_and_its_history(ingest_node: IngestNode, arrive: Arrive) -> None:
    """Each edition with the time of its publication, without the comments that polling pipes through grep."""
    _create(ingest_node, "countries")
    counts = []
    for edition in EDITIONS:
        lines = (DATA / f"countries-{edition}.tab").read_bytes().splitlines(keepends=True)
        body = b"".join(line for line in lines if not line.startswith(b"#"))
        counts.append(_push(ingest_node, "countries", body, odf_event_time=f"{edition}T00:00:00Z"))
    assert counts == [len(countries(EDITIONS[0])), len(NEW_STATES), len(SPELLING)]
    register_came_whole(arrive(_address(ingest_node, "countries")))


def test_places_in_parts(ingest_node: IngestNode, arrive: Arrive) -> None:
    """GeoJSON: the first part as a body, all of it as an upload."""
    _create(ingest_node, "zone-places")
    west, whole = features("zone-places-west.geojson"), features("zone-places.geojson")
    body = (DATA / "zone-places-west.geojson").read_bytes()
    first = _push(ingest_node, "zone-places", body, content_type="application/geo+json")
    counts = [first, _upload(ingest_node, "zone-places", "zone-places.geojson")]
    assert counts == [len(west), len(whole) - len(west)]
    places_came_whole(arrive(_address(ingest_node, "zone-places")))


def test_a_shapefile(ingest_node: IngestNode, arrive: Arrive) -> None:
    _create(ingest_node, "zone-points")
    points = shapefile_points("zone-places.zip")
    counts = [_upload(ingest_node, "zone-points", "zone-places.zip") for _ in range(2)]
    assert counts == [len(points), "UpToDate"]
    points_came_whole(arrive(_address(ingest_node, "zone-points")))
