"""Blocks of this folder's own, one or more for every event, for tests that need no vectors."""

from odf_core.identity import ARROW0_SHA3_256, DatasetAlias, DatasetId, Multihash
from odf_core.metadata import (
    AddData,
    AddPushSource,
    AttachmentEmbedded,
    AttachmentsEmbedded,
    Checkpoint,
    CompressionFormat,
    DataField,
    DataSchema,
    DatasetKind,
    DataSlice,
    DataTypeInt64,
    DataTypeList,
    DataTypeMap,
    DataTypeOption,
    DataTypeString,
    DataTypeTimestamp,
    DisablePollingSource,
    DisablePushSource,
    EventTimeSourceFromPath,
    ExecuteTransform,
    ExecuteTransformInput,
    ExtraAttributes,
    FetchStepMqtt,
    FetchStepUrl,
    MergeStrategyAppend,
    MergeStrategySnapshot,
    MetadataBlock,
    MetadataEvent,
    MqttQos,
    MqttTopicSubscription,
    OffsetInterval,
    PrepStepDecompress,
    PrepStepPipe,
    ReadStepCsv,
    ReadStepNdJson,
    RequestHeader,
    Seed,
    SetAttachments,
    SetDataSchema,
    SetInfo,
    SetLicense,
    SetPollingSource,
    SetTransform,
    SetVocab,
    SourceCachingForever,
    SourceState,
    SqlQueryStep,
    TemporalTable,
    Timestamp,
    TimeUnit,
    TransformInput,
    TransformSql,
)

ID = DatasetId(bytes(range(32)))
HASH = Multihash.sha3_256(b"something")
LOGICAL = Multihash(ARROW0_SHA3_256, bytes(32))
TIME = Timestamp.parse("2026-11-21T10:20:30.123456789Z")
SLICE = DataSlice(
    logical_hash=LOGICAL, physical_hash=HASH, offset_interval=OffsetInterval(start=10, end=19), size=2048
)
SCHEMA = DataSchema(
    fields=(
        DataField(name="offset", type=DataTypeInt64()),
        DataField(name="at", type=DataTypeTimestamp(unit=TimeUnit.MILLISECOND, timezone="UTC")),
        DataField(
            name="tags",
            type=DataTypeOption(inner=DataTypeList(item_type=DataTypeString())),
            extra=ExtraAttributes.from_object({"b": [1, 2.5], "a": {"ü": None}}),
        ),
        DataField(name="more", type=DataTypeMap(key_type=DataTypeString(), value_type=DataTypeInt64())),
    ),
)
SQL = TransformSql(
    engine="datafusion",
    queries=(SqlQueryStep(alias="step", query="select 1"), SqlQueryStep(query="select *\nfrom step")),
    temporal_tables=(TemporalTable(name="t", primary_key=("id",)),),
)

EVENTS: tuple[MetadataEvent, ...] = (
    Seed(dataset_id=ID, dataset_kind=DatasetKind.ROOT),
    Seed(dataset_id=ID, dataset_kind=DatasetKind.DERIVATIVE),
    AddData(),
    AddData(
        prev_checkpoint=HASH,
        prev_offset=9,
        new_data=SLICE,
        new_checkpoint=Checkpoint(physical_hash=HASH, size=1),
        new_watermark=TIME,
        new_source_state=SourceState(source_name="default", kind="odf/etag", value="x"),
        extra=ExtraAttributes.from_object({}),
    ),
    ExecuteTransform(
        query_inputs=(
            ExecuteTransformInput(
                dataset_id=ID, prev_block_hash=HASH, new_block_hash=HASH, prev_offset=0, new_offset=3
            ),
            ExecuteTransformInput(dataset_id=ID),
        ),
        new_data=SLICE,
    ),
    SetPollingSource(
        fetch=FetchStepUrl(
            url="https://example.com/a.zip",
            event_time=EventTimeSourceFromPath(pattern="(.*)"),
            cache=SourceCachingForever(),
            headers=(RequestHeader(name="Accept", value="*/*"),),
        ),
        prepare=(
            PrepStepDecompress(format=CompressionFormat.ZIP, sub_path="a.csv"),
            PrepStepPipe(command=("jq", ".")),
        ),
        read=ReadStepCsv(header=False, separator="", ddl_schema=("id BIGINT",), schema=SCHEMA),
        preprocess=SQL,
        merge=MergeStrategySnapshot(primary_key=("id",), compare_columns=()),
    ),
    SetPollingSource(
        fetch=FetchStepMqtt(
            host="h",
            port=0,
            topics=(
                MqttTopicSubscription(path="t", qos=MqttQos.AT_MOST_ONCE),
                MqttTopicSubscription(path="u"),
            ),
        ),
        read=ReadStepNdJson(),
        merge=MergeStrategyAppend(),
    ),
    SetTransform(
        inputs=(
            TransformInput(dataset_ref=ID, alias="one"),
            TransformInput(dataset_ref=DatasetAlias.parse("me/Two")),
        ),
        transform=SQL,
    ),
    SetVocab(event_time_column="when"),
    SetAttachments(
        attachments=AttachmentsEmbedded(items=(AttachmentEmbedded(path="README.md", content=""),))
    ),
    SetInfo(description="A dataset\nof two lines\n", keywords=()),
    SetLicense(short_name="CC0", name="Public domain", website_url="https://example.com"),
    SetDataSchema(raw_arrow_schema=b"\x00\x01\x02"),
    SetDataSchema(schema=SCHEMA),
    AddPushSource(source_name="default", read=ReadStepCsv(), merge=MergeStrategyAppend()),
    DisablePushSource(source_name="default"),
    DisablePollingSource(),
)

BLOCKS: tuple[MetadataBlock, ...] = tuple(
    MetadataBlock(
        system_time=TIME,
        prev_block_hash=HASH if number else None,
        sequence_number=number,
        event=event,
    )
    for number, event in enumerate(EVENTS)
)
