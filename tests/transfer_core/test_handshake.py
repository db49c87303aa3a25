"""Which dialect a connection speaks (wire-published.md, end)."""

import pytest

from odf_core.transfer import DEPLOYED, DIALECTS, PUBLISHED, SUBPROTOCOL, choose_dialect, split_offer
from odf_core.transfer.errors import UnsupportedSubprotocol


@pytest.mark.parametrize("offered", [None, [], ()])
def test_no_offer_means_the_deployed_dialect_and_no_echo(offered):
    assert choose_dialect(offered) is DEPLOYED
    assert DEPLOYED.subprotocol is None


@pytest.mark.parametrize("others", [[], ["mqtt"], ["odf/smart-transfer-protocol/v2", "x"]])
def test_an_offer_of_the_published_dialect_is_echoed(others):
    assert choose_dialect([*others, SUBPROTOCOL]) is PUBLISHED
    assert choose_dialect([SUBPROTOCOL, *others]).subprotocol == "odf/smart-transfer-protocol/v1"


@pytest.mark.parametrize(
    "offered", [["mqtt"], ["odf/smart-transfer-protocol/v2"], [SUBPROTOCOL.upper()], [""]]
)
def test_other_offers_are_refused(offered):
    with pytest.raises(UnsupportedSubprotocol) as raised:
        choose_dialect(offered)
    assert SUBPROTOCOL in raised.value.message


def test_offers_are_cut_at_commas_only():
    assert split_offer(f"mqtt, {SUBPROTOCOL} ,x") == ["mqtt", SUBPROTOCOL, "x"]
    assert split_offer("") == split_offer(" , ") == []


def test_names_of_dialects():
    assert [dialect.name for dialect in DIALECTS] == ["deployed", "published"]
