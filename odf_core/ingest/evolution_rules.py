"""What an event may change in a dataset that exists: what the chain's rules leave open (metadata.md 6),
and what would make its records unreadable or its next ingest impossible (data.md 2, 3.5)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar, NoReturn

from odf_core.chain import Projection, Vocabulary
from odf_core.chain.likeness import alike
from odf_core.chain.schema_rules import listed_faults, schema_faults
from odf_core.data import declared_schema, odf_schema_to_arrow
from odf_core.errors import InvalidInput
from odf_core.ingest.history import missing_system_columns, system_columns
from odf_core.metadata import (
    AddData,
    AddPushSource,
    DataField,
    DatasetKind,
    DataType,
    DataTypeDate,
    DataTypeInt32,
    DataTypeInt64,
    DataTypeTimestamp,
    DisablePollingSource,
    DisablePushSource,
    ExecuteTransform,
    MetadataEvent,
    Seed,
    SetAttachments,
    SetDataSchema,
    SetInfo,
    SetLicense,
    SetPollingSource,
    SetTransform,
    SetVocab,
    event_kind,
    normalise_transform,
    resolve_inputs,
)
from odf_core.metadata.snapshot import ResolveInput

_INSTANT = DataTypeTimestamp()


class EventRefused(InvalidInput):
    """An event that may not follow what the dataset has become."""

    code: ClassVar[str] = "event_refused"


def refuse(why: str, *place: str | int) -> NoReturn:
    """Raises `EventRefused`; `place` are the steps from the event to the fault."""
    raise EventRefused(why, extras={"place": list(place or ("kind",))})


def normalised(event: MetadataEvent, at: Projection, resolve: ResolveInput) -> MetadataEvent:
    """The event as blocks hold it: queries as lists, inputs by id. Raises `EventRefused` for a kind of
    event that this kind of dataset does not take by hand, and `MissingInputs`."""
    kind = at.seed.dataset_kind if at.seed is not None else None
    match event:
        case Seed():
            refuse("A Seed begins a dataset; one that exists takes no second.")
        case AddData():
            refuse("AddData is made by `odf ingest`, `odf pull` and `odf set-watermark`, not by hand.")
        case ExecuteTransform():
            refuse("ExecuteTransform is made by computing the dataset, not by hand.")
        case SetPollingSource() | AddPushSource():
            _require_kind(event, kind, DatasetKind.ROOT)
            if event.preprocess is not None:
                return replace(event, preprocess=normalise_transform(event.preprocess, _refuse_transform))
        case DisablePollingSource() | DisablePushSource():
            _require_kind(event, kind, DatasetKind.ROOT)
        case SetTransform():
            _require_kind(event, kind, DatasetKind.DERIVATIVE)
            inputs = resolve_inputs(event.inputs, "The transform", resolve)
            return replace(
                event, inputs=inputs, transform=normalise_transform(event.transform, _refuse_transform)
            )
    return event


def stands_already(event: MetadataEvent, at: Projection) -> bool:
    """Whether the dataset says just that now."""
    match event:
        case SetVocab():
            return Vocabulary.of(event) == at.vocabulary
        case SetInfo():
            return event == at.info
        case SetLicense():
            return event == at.license
        case SetAttachments():
            return event == at.attachments
        case SetTransform():
            return event == at.transform
        case SetPollingSource():
            return alike(at.polling_source, event)
        case AddPushSource():
            return alike(at.push_sources.get(event.source_name), event)
        case SetDataSchema():
            return alike(at.schema, event)
    return False


def check_change(event: MetadataEvent, at: Projection) -> None:
    """Raises `EventRefused` for a vocabulary or a schema by which records that are in the dataset, or are
    to come, could not be read; and `UnsupportedArrowType` for a schema that no file can have."""
    if isinstance(event, SetVocab):
        _check_vocabulary(event, at)
    elif isinstance(event, SetDataSchema):
        _check_schema(event, at)


def system_column_faults(fields: Sequence[DataField], vocabulary: Vocabulary) -> list[str]:
    """What of a root dataset's schema is not as every slice has it (data.md 2): the four system columns
    first, in their order and types."""
    wanted: tuple[tuple[str, Sequence[DataType], str], ...] = (
        (vocabulary.offset_column, (DataTypeInt64(),), "Int64"),
        (vocabulary.operation_type_column, (DataTypeInt32(),), "Int32"),
        (vocabulary.system_time_column, (_INSTANT,), "Timestamp in milliseconds UTC"),
        (vocabulary.event_time_column, (_INSTANT, DataTypeDate()), "Timestamp in milliseconds UTC, or Date"),
    )
    faults = []
    for place, (name, types, words) in enumerate(wanted):
        found = fields[place] if place < len(fields) else None
        if found is None or found.name != name:
            faults.append(f"column {place + 1} is {found.name if found else 'missing'}, not {name}")
        elif not any(alike(found.type, data_type) for data_type in types):
            faults.append(f"{name} is not {words}, required")
    return faults


def _refuse_transform(why: str) -> NoReturn:
    refuse(f"{why[:1].upper()}{why[1:]}.")


def _require_kind(event: MetadataEvent, found: DatasetKind | None, needed: DatasetKind) -> None:
    if found is not needed:
        refuse(f"{event_kind(event)} is for {needed} datasets, and this one is {found}.")


def _check_vocabulary(event: SetVocab, at: Projection) -> None:
    vocabulary = Vocabulary.of(event)
    names = system_columns(vocabulary)
    twice = _first_twice(names)
    if twice is not None:
        refuse(f"Two system columns would be called {twice!r}; give each a name of its own.")
    schema = declared_schema(at.schema)
    if schema is None:
        return
    if not missing_system_columns(schema, vocabulary) and missing_system_columns(schema, at.vocabulary):
        return  # it mends what an event from elsewhere has broken
    changes = ", ".join(
        f"{old!r} to {new!r}"
        for old, new in zip(system_columns(at.vocabulary), names, strict=True)
        if old != new
    )
    refuse(
        f"The vocabulary cannot be changed ({changes}) once the schema is declared, for the records that are "
        "there have the old names; make a new dataset, or take this one back to before its schema "
        "(`odf reset`)."
    )


def _check_schema(event: SetDataSchema, at: Projection) -> None:
    if event.schema is None:
        refuse("Give the schema as `schema` (an ODF schema); raw Arrow schemas are of old chains only.")
    fields = event.schema.fields
    twice = _first_twice(item.name for item in fields)
    if twice is not None:
        refuse(f"The schema has the column {twice!r} twice; name each once.", "schema")
    odf_schema_to_arrow(event.schema)
    old = declared_schema(at.schema)
    if old is not None:
        is_raw = at.schema is not None and at.schema.schema is None
        faults = schema_faults(old, event.schema, ignore_optionality=is_raw)
        if faults:
            refuse(
                f"The schema cannot be changed so, for the records that are there: {listed_faults(faults)}. "
                "Optional columns may be added, columns may be moved, attributes changed; anything else "
                "takes a new dataset.",
                "schema",
            )
    if at.seed is not None and at.seed.dataset_kind is DatasetKind.ROOT:
        faults = system_column_faults(fields, at.vocabulary)
        if faults and not (old is not None and system_column_faults(old.fields, at.vocabulary)):
            names = ", ".join(system_columns(at.vocabulary))
            refuse(
                f"The schema of a root dataset begins with its system columns ({names}), but here "
                f"{listed_faults(faults)}.",
                "schema",
            )


def _first_twice(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
