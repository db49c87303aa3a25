"""A push of 400 slices of a MiB, admission included, against bare presigned PUTs of the same files."""

import urllib3

from bench.bare import Item, send_all
from bench.figures import Aim, Figure, Row
from bench.material import Material
from bench.stage import Stage

TITLE = "push: 400 slices of a MiB"
AIM = Aim(1.5)


def run(stage: Stage) -> tuple[list[Row], str]:
    """Rows and conditions. Every round pushes a new dataset, so that the node has none of its objects."""
    bare, ours = list[float](), list[float]()
    for number in range(stage.rounds):
        stage.say(f"push: round {number + 1} of {stage.rounds}")
        name = f"push-{number}"
        material = stage.sliced(name)
        bare.append(send_all(_items(stage, material, name), stage.options))
        ours.append(stage.push(material, name))
    extremes = {}
    for mode in ("off", "on"):
        stage.say(f"push: {stage.rounds} times with admission.logical_hash = {mode}")
        stage.node.restart(ODF_ADMISSION__LOGICAL_HASH=mode)
        names = [f"{mode}-{number}" for number in range(stage.rounds)]
        extremes[mode] = [stage.push(stage.sliced(name), name) for name in names]
    stage.node.restart()
    baseline = Figure.of(bare)
    rows = [
        Row.times("push, admission included; bare PUTs", Figure.of(ours), baseline, AIM),
        *(
            Row.times(f"the same with admission.logical_hash = {mode}", Figure.of(seconds), baseline)
            for mode, seconds in extremes.items()
        ),
    ]
    return rows, (
        f"{len(material.objects)} objects, {material.object_bytes / 1e6:.0f} MB, {stage.options.parallelism} "
        "at once, files read from the page cache. Ours includes the session, SHA3-256, offsets, records, "
        "schema of every slice, logical hashes (of a sample by default, of no slice, or of all), promotion, "
        "flush to the disk, commit and confirmation. "
        "Baseline: urllib3, presigned PUTs to the same S3 server, which flushes nothing."
    )


def _items(stage: Stage, material: Material, name: str) -> list[Item]:
    """The files with URLs of a folder of their own, which a first PUT makes (stack.md 2.4)."""
    folder = f"bare-{name}"
    presigner = stage.node.presigner()
    with urllib3.PoolManager(retries=3) as pool:
        pool.request("PUT", presigner.put_urls([(f"{folder}/first", 0)], 60)[0].url, body=b"")
    keys = [(f"{folder}/{ref.hash}", ref.size or 0) for ref in material.objects]
    puts = presigner.put_urls(keys, 3600)
    return [
        Item(put.url, material.folder.object_path(ref))
        for put, ref in zip(puts, material.objects, strict=True)
    ]
