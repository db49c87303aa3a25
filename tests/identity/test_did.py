"""Identifiers of datasets and accounts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odf_core.identity import (
    AccountId,
    DatasetId,
    InvalidDid,
    InvalidName,
    PkhAccountId,
    parse_account_id,
)
from tests.vectors import require_vectors

KEY = bytes(range(32))


def _vectors(part):
    return json.loads(require_vectors("metadata/multiformats.json").read_text())[part]


def test_vector_pairs():
    for case in _vectors("didOdfKey"):
        value = DatasetId.parse(case["did:odf"])
        assert value.to_bytes().hex() == case["bytesHex"]
        assert str(value) == case["did:odf"]
        assert value.to_did_key() == case["did:key"]
        assert DatasetId.from_did_key(case["did:key"]) == value
        assert DatasetId.from_bytes(bytes.fromhex(case["bytesHex"])) == value
        if case["seed"] is not None:
            assert DatasetId.from_name_seed(case["seed"]) == value


def test_vector_parse():
    for case in _vectors("didParse"):
        if case["ok"]:
            assert str(DatasetId.parse(case["text"])) == case.get("canonical", case["text"])
        else:
            with pytest.raises(InvalidDid):
                DatasetId.parse(case["text"])


def test_vector_wallets():
    for case in _vectors("didPkh"):
        value = parse_account_id(case["text"])
        assert isinstance(value, PkhAccountId)
        assert str(value) == case["text"]
        assert value.bare_address == case["withoutPrefix"]


@given(st.binary(min_size=32, max_size=32))
def test_round_trips(key):
    value = DatasetId(key)
    assert DatasetId.parse(str(value)) == value
    assert DatasetId.from_did_key(value.to_did_key()) == value
    assert DatasetId.from_bytes(value.to_bytes()) == value
    assert str(value) == "did:odf:" + value.multibase == "did:odf:fed01" + key.hex()
    assert DatasetId.parse("did:odf:" + value.to_did_key().removeprefix("did:key:")) == value


def test_fresh_ids_belong_to_their_key():
    value, private_key = DatasetId.generate()
    assert private_key.public_key().public_bytes_raw() == value.public_key
    assert DatasetId.generate()[0] != value


def test_accounts_and_datasets_are_not_equal():
    assert AccountId(KEY) != DatasetId(KEY)
    assert parse_account_id(str(AccountId(KEY))) == AccountId(KEY)


def test_account_of_a_predefined_name():
    expected = "did:odf:fed016b61ed2ab1b63a006b61ed2ab1b63a00b016d65607000000e0821aafbf163e6f"
    assert str(AccountId.from_name_seed("kamu")) == expected
    with pytest.raises(InvalidName):
        AccountId.from_name_seed("a" * 33)


@pytest.mark.parametrize(
    ("text", "defect"),
    [
        ("", "nothing"),
        ("fed01" + KEY.hex(), "no prefix"),
        ("DID:ODF:fed01" + KEY.hex(), "prefix in capitals"),
        ("did:key:fed01" + KEY.hex(), "other method"),
        ("did:odf:", "no key"),
        ("did:odf:fed01" + KEY[:31].hex(), "key too short"),
        ("did:odf:fed01" + KEY.hex() + "00", "key too long"),
        ("did:odf:f1620" + KEY.hex(), "a hash"),
        ("did:odf:f01ed011620" + KEY.hex(), "an id of ODF before 0.34"),
        ("did:odf:fed01" + KEY.hex() + "\n", "trailing newline"),
        ("did:odf:" + "f" * 1_000_000, "too long"),
    ],
    ids=lambda value: value if len(value) < 30 else "",
)
def test_refuses(text, defect):
    with pytest.raises(InvalidDid) as caught:
        DatasetId.parse(text)
    assert len(caught.value.message) < 500


@pytest.mark.parametrize(
    "text",
    [
        "did:pkh:eip155:1",
        "did:pkh:eip155:1:",
        "did:pkh:EIP155:1:0xab",
        "did:pkh:e:1:0xab",
        "did:pkh:eip155:1:0xab\n",
        "did:pkh:eip155:1:" + "a" * 129,
        "did:pkh:eip155:1:0x:ab",
    ],
)
def test_refuses_wallets(text):
    with pytest.raises(InvalidDid):
        parse_account_id(text)
