"""Projections of current state, and the objects that blocks bring."""

from odf_core.chain import KEY_EVENT_KINDS, Projection, Vocabulary, new_objects
from odf_core.identity import ObjectKind, ObjectRef
from odf_core.metadata import EVENT_TYPE, AddData, ExecuteTransform, SetVocab, Timestamp, event_kind
from tests.builders.chain_builder import chain


def full():
    return (
        chain()
        .seed()
        .vocab(offset_column="nr", event_time_column="day")
        .schema()
        .push_source("a")
        .push_source("b")
        .disable_push_source("a")
        .info("first")
        .info("second", ["k"])
        .license()
        .attachments()
        .add_data(10, watermark="2024-01-01T00:00:00Z", checkpoint=b"c", source_state="s")
        .add_data(5)
        .add_data(None, watermark="2024-01-02T00:00:00Z")
    )


def test_current_state():
    builder = full()
    state = Projection.of(builder.blocks)
    assert (state.head, state.sequence_number) == (builder.head, 12)
    assert state.system_time == builder.last.block.system_time
    assert state.seed == builder.blocks[0].block.event
    assert state.vocabulary == Vocabulary(offset_column="nr", event_time_column="day")
    assert state.schema == builder.blocks[2].block.event
    assert list(state.push_sources) == ["b"] and state.polling_source is None
    assert state.info == builder.blocks[7].block.event
    assert state.license == builder.blocks[8].block.event
    assert state.attachments == builder.blocks[9].block.event
    assert state.watermark == Timestamp.parse("2024-01-02T00:00:00Z")
    assert (state.last_offset, state.num_records) == (14, 15)
    assert state.last_checkpoint == builder.blocks[10].block.event.new_checkpoint
    assert state.last_add_data == builder.last.block.event and state.last_query is None


def test_of_a_derivative():
    builder = chain().seed("derivative").transform("one").schema().execute_transform(3)
    state = Projection.of(builder.blocks)
    assert state.transform == builder.blocks[1].block.event
    assert state.last_query == builder.last.block.event
    assert (state.last_offset, state.num_records, state.watermark) == (2, 3, None)


def test_polling_source_comes_and_goes():
    builder = chain().seed().polling_source()
    assert Projection.of(builder.blocks).polling_source == builder.last.block.event
    builder.disable_polling_source()
    assert Projection.of(builder.blocks).polling_source is None


def test_of_nothing():
    state = Projection()
    assert state.head is None and state.num_records == 0 and state.vocabulary == Vocabulary()


def test_of_key_blocks_all_is_right_but_the_number_of_records():
    builder = full()
    whole = Projection.of(builder.blocks)
    keys = [item for item in builder.blocks if event_kind(item.block.event) in KEY_EVENT_KINDS]
    sparse = Projection.of([*keys, builder.last])
    for name in Projection.__dataclass_fields__:
        if name != "num_records":
            assert getattr(sparse, name) == getattr(whole, name), name


def test_key_events_are_all_but_the_data():
    assert set(EVENT_TYPE) - KEY_EVENT_KINDS == {"AddData", "ExecuteTransform"}


def test_vocabulary_defaults():
    assert Vocabulary.of(None) == Vocabulary("offset", "op", "system_time", "event_time")
    assert Vocabulary.of(SetVocab(operation_type_column="o")).operation_type_column == "o"


def test_new_objects():
    builder = full()
    first = builder.blocks[10].block
    data_ref, checkpoint_ref = new_objects(first)
    assert data_ref == ObjectRef(
        ObjectKind.DATA_SLICE, first.event.new_data.physical_hash, first.event.new_data.size
    )
    assert checkpoint_ref.kind is ObjectKind.CHECKPOINT and checkpoint_ref.size == 1
    assert builder.objects[checkpoint_ref] == b"c" and len(builder.objects[data_ref]) == data_ref.size
    assert [len(new_objects(item.block)) for item in builder.blocks] == [0] * 10 + [2, 2, 1]
    assert str(data_ref) == f"DataSlice {data_ref.hash}"


def test_builder_lays_the_dataset_out():
    builder = full()
    files = builder.files()
    assert files["refs/head"] == str(builder.head).encode()
    assert files[f"blocks/{builder.head}"] == builder.last.data
    assert [name.split("/")[0] for name in files].count("data") == 2
    assert [name.split("/")[0] for name in files].count("checkpoints") == 1


def test_builder_makes_the_kinds_it_names():
    assert isinstance(full().last_event(AddData), AddData)
    assert full().last_event(ExecuteTransform) is None
