"""What a stranger's manifest reaches on a node: the public internet, and what its operator allows."""

import ipaddress
import socket

import pytest

from odf_core.ingest.errors import FetchNotAllowed
from odf_core.ingest.fetch import FetchPolicy, InvalidFetchPolicy, Permission, fetch
from odf_core.ingest.fetch.addresses import is_public, parse_address
from odf_core.metadata.sources import FetchStepUrl
from tests.ingest.fetching import Site, context_in, left_over

NOT_PUBLIC = """
0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.192
192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.250 240.0.0.1
255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::7f00:1 64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::1
100::1 2001::1 2001:db8::1 2002:7f00:1::1 3fff::1 fc00::1 fd12:3456::1 fe80::1 fe80::1%eth0 fec0::1
ff02::1 4000::1
"""
PUBLIC = """
1.1.1.1 8.8.8.8 100.63.255.255 100.128.0.0 172.15.0.1 172.32.0.1 2606:4700::1111 2a00:1450::1
"""


@pytest.mark.parametrize("text", NOT_PUBLIC.split())
def test_addresses_that_are_not_of_the_public_internet(text):
    address = parse_address(text)
    assert not is_public(address)
    with pytest.raises(FetchNotAllowed) as raised:
        FetchPolicy.node().require_address(address, "host")
    allowed = raised.value.extras["value"]
    FetchPolicy.node([allowed]).require_address(address, "host")
    FetchPolicy.node(["private_addresses"]).require_address(address, "host")
    FetchPolicy.person().require_address(address, "host")


@pytest.mark.parametrize("text", PUBLIC.split())
def test_addresses_of_the_public_internet(text):
    FetchPolicy.node().require_address(ipaddress.ip_address(text), "host")


@pytest.mark.parametrize("item", ["pipes", "network:10.0.0.0/99", "network:host", "network:10.1.0.0/8", ""])
def test_settings_that_mean_nothing_are_refused(item):
    with pytest.raises(InvalidFetchPolicy, match=r"ingest\.allow"):
        FetchPolicy.node([item])


def test_a_network_and_variables_are_allowed_by_name():
    policy = FetchPolicy.node(["network:10.1.0.0/16", "network:fd00::/8", "env:A", "pipe"])
    policy.require_address(ipaddress.ip_address("10.1.2.3"), "host")
    policy.require_address(ipaddress.ip_address("fd00::1"), "host")
    with pytest.raises(FetchNotAllowed):
        policy.require_address(ipaddress.ip_address("10.2.0.1"), "host")
    assert policy.variables_of({"A": "1", "B": "2"}) == {"A": "1"}
    assert FetchPolicy.person().variables_of({"A": "1", "B": "2"}) == {"A": "1", "B": "2"}
    policy.require(Permission.PIPE, "x")
    with pytest.raises(FetchNotAllowed, match="'mqtt' in the setting"):
        policy.require(Permission.MQTT, "x")


@pytest.fixture
def site():
    site = Site()
    yield site
    site.close()


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0.0.0.0",
             "[::1]", "[::ffff:127.0.0.1]", "LOCALHOST.", "127.0.0.1."],
)  # fmt: skip
@pytest.mark.parametrize("scheme", ["http", "https", "ftp"])
def test_a_url_that_resolves_to_this_machine_is_not_asked(tmp_path, site, host, scheme):
    context = context_in(tmp_path, FetchPolicy.node())
    site.put("/a", b"secret")
    url = f"{scheme}://{host}:{site.port}/a"
    # A form of address that the system's resolver does not know is no way in either.
    with pytest.raises((FetchNotAllowed,) if _resolves(host) else Exception):
        fetch(FetchStepUrl(url=url), None, context)
    assert site.requests == []
    assert left_over(context) == []


def _resolves(host):
    try:
        return bool(socket.getaddrinfo(host.strip("[]"), 80))
    except OSError:
        return False


def test_a_redirect_leads_no_further_than_a_url(tmp_path, site):
    inside = Site()
    try:
        inside.put("/meta", b"secret")
        # Only the first server's address is allowed; the name leads to another address of this machine.
        site.redirect("/a", f"http://127.0.0.2:{inside.port}/meta")
        context = context_in(tmp_path, FetchPolicy.node(["network:127.0.0.1/32"]))
        with pytest.raises(FetchNotAllowed, match=r"127\.0\.0\.2"):
            fetch(FetchStepUrl(url=site.url("/a")), None, context)
        assert (len(site.requests), inside.requests, left_over(context)) == (1, [], [])
    finally:
        inside.close()


def resolver_answering(answers):
    """Replaces the system's resolver: what a hostile name server says the first and the second time."""
    real = socket.getaddrinfo

    def resolve(host, port, *args, **kwargs):
        if host == "rebind.example":
            found = answers.pop(0)
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]
        return real(host, port, *args, **kwargs)

    return resolve


def test_a_name_is_resolved_once_and_its_examined_address_is_connected_to(tmp_path, site, monkeypatch):
    site.put("/a", b"x")
    answers = [["127.0.0.1"], ["10.255.255.1"]]
    monkeypatch.setattr(socket, "getaddrinfo", resolver_answering(answers))
    context = context_in(tmp_path, FetchPolicy.node(["network:127.0.0.1/32"]))
    assert fetch(FetchStepUrl(url=site.url("/a", "rebind.example")), None, context).size == 1
    assert answers == [["10.255.255.1"]]
    assert site.requests[0][1]["host"] == f"rebind.example:{site.port}"


def test_one_private_address_among_public_ones_refuses_the_name(tmp_path, site, monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", resolver_answering([["8.8.8.8", "127.0.0.1"]]))
    with pytest.raises(FetchNotAllowed, match=r"rebind\.example \(127\.0\.0\.1\)"):
        fetch(
            FetchStepUrl(url=site.url("/a", "rebind.example")), None, context_in(tmp_path, FetchPolicy.node())
        )
    assert site.requests == []
