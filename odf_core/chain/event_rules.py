"""Rules about an event by itself: 5 to 14 of metadata.md 6, in their order."""

from odf_core.chain.errors import InvalidEvent, NoOpEvent, OffsetsNotSequential
from odf_core.identity import DatasetAlias, DatasetId, Multihash
from odf_core.metadata import (
    AddData,
    AddPushSource,
    ExecuteTransform,
    FetchStepEthereumLogs,
    MetadataEvent,
    SetPollingSource,
    SetTransform,
    TransformSql,
)


def check_event(event: MetadataEvent, block: Multihash) -> None:
    """Raises the refusal of the first rule that the event breaks; `block` is the hash of its block."""
    if isinstance(event, AddData | ExecuteTransform):
        _check_not_empty(event, block)
        _check_slice(event, block)
    elif isinstance(event, AddPushSource | SetPollingSource):
        _check_source(event, block)
    elif isinstance(event, SetTransform):
        _check_transform(event, block)


def input_ids(event: SetTransform) -> tuple[DatasetId, ...]:
    """The identifiers of the transform's inputs; of an event that has passed rule 13."""
    references = (source.dataset_ref for source in event.inputs)
    return tuple(reference for reference in references if isinstance(reference, DatasetId))


def _check_not_empty(event: AddData | ExecuteTransform, block: Multihash) -> None:
    if event.new_data is not None or event.new_checkpoint is not None or event.new_watermark is not None:
        return
    if isinstance(event, ExecuteTransform):
        raise NoOpEvent(
            f"ExecuteTransform in block {block} brings no data, no checkpoint and no watermark.",
            rule=6,
            block=block,
        )
    if event.new_source_state is None:
        raise NoOpEvent(
            f"AddData in block {block} brings no data, no checkpoint, no watermark and no source state.",
            rule=5,
            block=block,
        )


def _check_slice(event: AddData | ExecuteTransform, block: Multihash) -> None:
    if event.new_data is None:
        return
    interval = event.new_data.offset_interval
    expected = 0 if event.prev_offset is None else event.prev_offset + 1
    if interval.start != expected:
        raise OffsetsNotSequential(
            f"The slice of block {block} should start at offset {expected}, but starts at {interval.start}.",
            rule=7,
            block=block,
            objects=(event.new_data.physical_hash,),
        )
    if interval.end < interval.start:
        raise InvalidEvent(
            f"The slice of block {block} ends at offset {interval.end}, before its start {interval.start}.",
            rule=8,
            block=block,
            objects=(event.new_data.physical_hash,),
        )


def _check_source(event: AddPushSource | SetPollingSource, block: Multihash) -> None:
    if event.preprocess is not None:
        _check_queries(event.preprocess, block, rule=9)
    fetch = event.fetch if isinstance(event, SetPollingSource) else None
    if isinstance(fetch, FetchStepEthereumLogs) and fetch.chain_id is None and fetch.node_url is None:
        raise InvalidEvent(
            f"The Ethereum source in block {block} needs a chainId or a nodeUrl.", rule=10, block=block
        )
    if event.read.schema is not None and event.read.ddl_schema is not None:
        raise InvalidEvent(
            f"The read step in block {block} gives its schema twice: as DDL and as ODF schema; keep one.",
            rule=11,
            block=block,
        )


def _check_transform(event: SetTransform, block: Multihash) -> None:
    if not event.inputs:
        raise InvalidEvent(f"The transform in block {block} has no inputs.", rule=12, block=block)
    ids = [_input_id(source.dataset_ref) for source in event.inputs]
    repeated = _first_repeated(ids)
    if repeated is not None:
        reference = event.inputs[repeated].dataset_ref
        raise InvalidEvent(
            f"The transform in block {block} has duplicate inputs: {reference} repeats an earlier one "
            "(references that are no identifiers count as one).",
            rule=12,
            block=block,
            objects=(reference,),
        )
    for source, dataset_id in zip(event.inputs, ids, strict=True):
        if dataset_id is None or source.alias is None:
            raise InvalidEvent(
                f"Input {source.dataset_ref} of the transform in block {block} needs an alias, and a dataset "
                "identifier (did:odf:…) as its reference.",
                rule=13,
                block=block,
                objects=(source.dataset_ref,),
            )
    _check_queries(event.transform, block, rule=14)


def _input_id(reference: DatasetId | DatasetAlias) -> DatasetId | None:
    return reference if isinstance(reference, DatasetId) else None


def _first_repeated(ids: list[DatasetId | None]) -> int | None:
    seen = set()
    for at, dataset_id in enumerate(ids):
        if dataset_id in seen:
            return at
        seen.add(dataset_id)
    return None


def _check_queries(transform: TransformSql, block: Multihash, *, rule: int) -> None:
    """A transform is normalised when it is a list of queries, all but the last named."""
    fault = None
    if transform.query is not None:
        fault = "has to list its queries under `queries`, not as a single `query`"
    elif not transform.queries:
        fault = "has no query"
    elif transform.queries[-1].alias is not None:
        fault = "names its last query, which is the output and takes no alias"
    elif any(step.alias is None for step in transform.queries[:-1]):
        fault = "leaves a query before the last one without an alias"
    if fault is not None:
        raise InvalidEvent(f"The transform in block {block} {fault}.", rule=rule, block=block)
