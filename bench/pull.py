"""A pull of 400 slices of a MiB against bare presigned GETs of the same objects."""

from bench.bare import Item, fetch_all
from bench.figures import Aim, Figure, Row
from bench.stage import Stage
from odf_core.storage import dataset_prefix, object_key

TITLE = "pull: 400 slices of a MiB"
AIM = Aim(1.15)


def run(stage: Stage) -> tuple[list[Row], str]:
    """Rows and conditions. Every round has each side once, in turns."""
    material = stage.published_slices()
    bare, hashed, ours, quick_bare, quick_ours = (list[float]() for _ in range(5))
    for number in range(stage.rounds):
        stage.say(f"pull: round {number + 1} of {stage.rounds}")
        bare.append(fetch_all(_items(stage), stage.options, durable=True))
        ours.append(_pull(stage, durable=True))
        hashed.append(fetch_all(_items(stage), stage.options, durable=True, hashed=True))
        quick_bare.append(fetch_all(_items(stage), stage.options, durable=False))
        quick_ours.append(_pull(stage, durable=False))
    figure = Figure.of(ours)
    rows = [
        Row.times("pull; bare GETs", figure, Figure.of(bare), AIM),
        Row.times("the same; bare GETs with SHA3-256 of what comes", figure, Figure.of(hashed)),
        Row.times("not flushed; bare GETs, not flushed", Figure.of(quick_ours), Figure.of(quick_bare)),
    ]
    return rows, (
        f"{len(material.objects)} objects, {material.object_bytes / 1e6:.0f} MB, {stage.options.parallelism} "
        "at once; both sides write files and flush them to the disk at the end; the S3 server reads from the "
        "page cache. Ours includes head, session, blocks, SHA3-256 and chain rules. Baseline: urllib3, "
        "presigned GETs."
    )


def _pull(stage: Stage, *, durable: bool) -> float:
    seconds, folder = stage.pull("slices", durable=durable)
    if folder.head() != stage.published_slices().blocks[-1].hash:
        raise RuntimeError("the pull ended at another head")
    return seconds


def _items(stage: Stage) -> list[Item]:
    material, target = stage.published_slices(), stage.new_folder()
    target.mkdir()
    prefix = dataset_prefix(material.dataset_id)
    keys = [prefix + object_key(ref) for ref in material.objects]
    urls = stage.node.presigner().get_urls(keys, 3600)
    return [Item(url, target / str(ref.hash)) for url, ref in zip(urls, material.objects, strict=True)]
