"""Names, aliases, references and name patterns."""

import base64
import json

import pytest

from odf_core.identity import (
    AccountName,
    AmbiguousAlias,
    DatasetAlias,
    DatasetAliasPattern,
    DatasetAliasRemote,
    DatasetId,
    DatasetIdRemote,
    DatasetName,
    DatasetNamePattern,
    DatasetUrl,
    InvalidDid,
    InvalidName,
    InvalidReference,
    RepoName,
    parse_dataset_ref,
    parse_dataset_ref_any,
    parse_dataset_ref_pattern,
    parse_dataset_ref_remote,
    split_dataset_ref_any,
)
from odf_core.identity.names import MAX_NAME_CHARS
from tests.vectors import require_vectors

ID = DatasetId(bytes(range(32)))


def _vectors(part):
    return json.loads(require_vectors("metadata/refs.json").read_text())[part]


def _accepts(parse, text):
    try:
        parse(text)
    except (InvalidName, InvalidReference, InvalidDid):
        return False
    return True


def test_vector_names():
    for case in _vectors("datasetName"):
        assert _accepts(DatasetName, case["text"]) is case["ok"], case


def test_vector_aliases():
    for part, parse in (
        ("datasetAlias", DatasetAlias.parse),
        ("datasetAliasRemote", DatasetAliasRemote.parse),
    ):
        for case in _vectors(part):
            if case["parsed"] is None:
                assert not _accepts(parse, case["text"]), case
                continue
            alias = parse(case["text"])
            assert [getattr(alias, name) for name in alias.__dataclass_fields__] == case["parsed"]
            assert str(alias) == case["text"]


def test_vector_patterns():
    for case in _vectors("namePattern"):
        assert _accepts(DatasetNamePattern.parse, case["text"]) is case["ok"], case


def test_vector_equality():
    for case in _vectors("equality"):
        one, other = DatasetAlias.parse(case["a"]), DatasetAlias.parse(case["b"])
        assert (one == other) is case["equal"]
        assert (hash(one) == hash(other)) is case["equal"]


def test_vector_any_references():
    for case in _vectors("refAny"):
        if case["parsed"] is None:
            assert not _accepts(split_dataset_ref_any, case["text"])
            continue
        assert _described(split_dataset_ref_any(case["text"])) == case["parsed"]


def _described(reference):
    match reference:
        case DatasetAlias(account, name):
            return {"kind": "LocalAlias", "account": account, "name": name}
        case AmbiguousAlias(first, name):
            return {"kind": "AmbiguousAlias", "first": first, "name": name}
        case DatasetAliasRemote(repo, account, name):
            return {"kind": "RemoteAlias", "repo": repo, "account": account, "name": name}
        case DatasetIdRemote(repo, dataset_id):
            return {"kind": "ID", "repo": repo, "id": str(dataset_id)}
        case DatasetUrl():
            return {"kind": "Url"}


def test_names_keep_their_spelling_and_compare_without_case():
    name = DatasetName("Net.Example")
    assert str(name) == "Net.Example" and name.folded == "net.example"
    assert name == DatasetName("net.EXAMPLE") == "NET.example"
    assert len({name, DatasetName("NET.EXAMPLE"), DatasetName("other")}) == 2
    assert name != AccountName("Net.Example") and name != DatasetName("other") and name != 1
    assert DatasetName("k") != "\u212a", "the Kelvin sign lower-cases to k, but is not ASCII"


@pytest.mark.parametrize(
    "text", ["", "-a", "a-", "a--b", "a..b", ".a", "a.", "a.-b", "a_b", "a b", "ä", "a\n", "a/b", "%"]
)
@pytest.mark.parametrize("kind", [DatasetName, AccountName, RepoName])
def test_refuses_names(kind, text):
    with pytest.raises(InvalidName):
        kind(text)


def test_names_are_bounded():
    assert DatasetName("a" * MAX_NAME_CHARS)
    for text in ("a" * (MAX_NAME_CHARS + 1), "a-" * 5_000_000 + "a"):
        with pytest.raises(InvalidName):
            DatasetName(text)


def test_dataset_ref():
    assert parse_dataset_ref(str(ID)) == ID
    assert parse_dataset_ref("account/name") == DatasetAlias(AccountName("account"), DatasetName("name"))
    with pytest.raises(InvalidDid):
        parse_dataset_ref("did:odf:zz")
    for text in ("", "a/b/c", "did:key:z6Mk", "a/", "/a", "/" * 1_000_000):
        with pytest.raises(InvalidReference):
            parse_dataset_ref(text)


def test_remote_refs():
    assert parse_dataset_ref_remote(str(ID)) == DatasetIdRemote(None, ID)
    assert parse_dataset_ref_remote(f"repo/{ID}") == DatasetIdRemote(RepoName("repo"), ID)
    assert str(parse_dataset_ref_remote(f"repo/{ID}")) == f"repo/{ID}"
    assert str(parse_dataset_ref_remote("repo/account/name")) == "repo/account/name"
    for url in (
        "https://example.org/a",
        "odf+http://localhost:8080/x/",
        "file:///tmp/x",
        "s3+https://host/b",
    ):
        assert parse_dataset_ref_remote(url) == DatasetUrl(url)
    for text in (
        "name",
        "a/b/c/d",
        "https://",
        "ht_tp://x",
        "https://a b",
        "-r/" + str(ID),
        "https://" + "a" * 5000,
    ):
        with pytest.raises(InvalidReference):
            parse_dataset_ref_remote(text)


def test_base64url_ids_stand_alone_only():
    """The grammar's characters lack '-' and '_' (metadata.md 7)."""
    dataset_id = DatasetId(b"\xfb\xff" * 16)
    text = "did:odf:u" + base64.urlsafe_b64encode(dataset_id.to_bytes()).decode().rstrip("=")
    assert "_" in text
    assert parse_dataset_ref_remote(text) == DatasetIdRemote(None, dataset_id)
    with pytest.raises(InvalidReference):
        parse_dataset_ref_remote("repo/" + text)


def test_any_ref_is_resolved_by_the_known_repositories():
    assert parse_dataset_ref_any("first/name", {"first"}.__contains__) == DatasetAliasRemote(
        RepoName("first"), None, DatasetName("name")
    )
    assert parse_dataset_ref_any("first/name", set().__contains__) == DatasetAlias(
        AccountName("first"), DatasetName("name")
    )
    assert parse_dataset_ref_any("name", set().__contains__) == DatasetAlias(None, DatasetName("name"))


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("%", ["a", "net.example"], []),
        ("net.%", ["net.a", "NET.example.com"], ["net", "netting", "a.net.b"]),
        ("%.com", ["a.com", "a.b.COM"], ["com", "a.comx"]),
        ("net%.ex%.com", ["net.ex.com", "network.example.com", "net.a.ex.com.com"], ["net.com", "netex.com"]),
        ("a%b%a", ["aba", "axbxa", "abba"], ["aa", "ab", "ba"]),
        ("%ab%", ["ab", "xaby", "aab"], ["ba", "a-b"]),
        ("ab%ba", ["abba", "ab-ba"], ["aba"]),
        ("Exact", ["exact", "EXACT"], ["exactly"]),
    ],
)
def test_patterns_match(pattern, matching, others):
    parsed = DatasetNamePattern.parse(pattern)
    assert str(parsed) == pattern
    assert [name for name in matching if not parsed.matches(DatasetName(name))] == []
    assert [name for name in others if parsed.matches(DatasetName(name))] == []


@pytest.mark.parametrize("text", ["", "-%", "%-", "%.", "a%.", "%-.%", "a--%", "%a_b%", "a/%/b", "%" * 1000])
def test_refuses_patterns(text):
    with pytest.raises(InvalidName):
        DatasetNamePattern.parse(text)


def test_alias_patterns():
    pattern = DatasetAliasPattern.parse("Me/net.%")
    assert str(pattern) == "Me/net.%"
    assert pattern.matches(DatasetAlias.parse("me/net.a"))
    assert not pattern.matches(DatasetAlias.parse("you/net.a"))
    assert not pattern.matches(DatasetAlias.parse("net.a"))
    assert DatasetAliasPattern.parse("net.%").matches(DatasetAlias.parse("you/net.a"))
    assert parse_dataset_ref_pattern(str(ID)) == ID
    with pytest.raises(InvalidName):
        parse_dataset_ref_pattern("a/b/c")
    with pytest.raises(InvalidName):
        parse_dataset_ref_pattern("/net.%")
