"""A pull of 400 slices of a MiB against bare presigned GETs of the same objects."""

from bench.bare import Item, fetch_all
from bench.figures import Aim, Figure, Row
from bench.stage import Stage
from odf_core.storage import dataset_prefix, object_key

TITLE = "pull: 400 slices of a MiB"
AIM = Aim(1.15)


def run(stage: Stage) -> tuple[list[Row], str]:
    """Rows and conditions. Rounds alternate: baseline, ours, baseline, ours."""
    material = stage.published_slices()
    bare: dict[bool, list[float]] = {True: [], False: []}
    ours: dict[bool, list[float]] = {True: [], False: []}
    for number in range(stage.rounds):
        for durable in (True, False):
            stage.say(
                f"pull: round {number + 1} of {stage.rounds}, {'flushed' if durable else 'not flushed'}"
            )
            bare[durable].append(fetch_all(_items(stage), stage.options, durable=durable))
            seconds, folder = stage.pull("slices", durable=durable)
            ours[durable].append(seconds)
            if folder.head() != material.blocks[-1].hash:
                raise RuntimeError("the pull ended at another head")
    rows = [
        Row.times("pull, flushed to the disk", Figure.of(ours[True]), Figure.of(bare[True]), AIM),
        Row.times("the same without flush", Figure.of(ours[False]), Figure.of(bare[False])),
    ]
    megabytes = material.object_bytes / 1e6
    return rows, (
        f"{len(material.objects)} objects, {megabytes:.0f} MB, {stage.options.parallelism} at once; both "
        "sides write files; the S3 server reads from the page cache. Ours includes head, session, blocks, "
        "hashing, chain rules. Baseline: urllib3, presigned GETs, not hashed."
    )


def _items(stage: Stage) -> list[Item]:
    material, target = stage.published_slices(), stage.new_folder()
    target.mkdir()
    prefix = dataset_prefix(material.dataset_id)
    keys = [prefix + object_key(ref) for ref in material.objects]
    urls = stage.node.presigner().get_urls(keys, 3600)
    return [Item(url, target / str(ref.hash)) for url, ref in zip(urls, material.objects, strict=True)]
