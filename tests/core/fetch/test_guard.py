"""The guard: which addresses are public, and that connections go to those that were checked."""

from __future__ import annotations

import ssl

import pytest
import trustme

from core.fetch import BlockedUrl, GuardedNetwork, UnreachableUrl, client, is_public
from tests.core.fetch.fetching import get
from tests.testing.web import PUBLIC, Names, Routed, Web, serving

# --- Addresses ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address", [PUBLIC, "1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
)
def test_public_addresses(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254"),
        *("169.254.169.254", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.0.0.192", "192.0.2.1"),
        *("198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1"),
        *("255.255.255.255", "192.88.99.1", "168.63.129.16"),
        *("::", "::1", "fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "100::1"),
        *("::ffff:127.0.0.1", "::ffff:7f00:1", "::127.0.0.1", "::ffff:0:127.0.0.1", "2001:db8::1"),
        *("64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::1"),
        *("2001:0:53aa:64c:0:0:80ff:fffe", "2001::1", "3fff::1", "4000::1", "2606:4700::1111%1"),
        *("", "localhost", "127.1", "0x7f.0.0.1"),
    ],
)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["10.0.0.1"], ["::1"], ["fe80::1%eth0"], [PUBLIC, "192.168.0.1"], ["::ffff:7f00:1"]],
)
async def test_a_name_with_any_private_address_is_refused(addresses: list[str]) -> None:
    dialer = Routed(1)
    network = GuardedNetwork(allowed=set(), resolver=Names(evil_example=[addresses]), dialer=dialer)
    with pytest.raises(BlockedUrl) as refused:
        await get("http://evil.example/", network)
    assert dialer.dialled == []
    assert not any(address in refused.value.message for address in addresses)


async def test_the_connection_goes_to_the_address_that_was_checked(web: Web) -> None:
    """A name that changes its answer after the check is not asked again."""
    web.page("/")
    names, dialer = Names(site_example=[[PUBLIC], ["127.0.0.1"]]), Routed(web.port)
    body, fetched = await get("http://site.example/", GuardedNetwork(resolver=names, dialer=dialer))
    assert (body, fetched.url) == (b"<p>Hello</p>", "http://site.example/")
    assert (names.asked, dialer.dialled) == (["site.example"], [(PUBLIC, 80)])
    assert web.asked[0].headers["Host"] == "site.example"


async def test_a_redirect_to_the_same_name_is_checked_again(web: Web) -> None:
    web.redirect("/", "http://site.example/admin")
    names, dialer = Names(site_example=[[PUBLIC], ["127.0.0.1"]]), Routed(web.port)
    with pytest.raises(BlockedUrl):
        await get("http://site.example/", GuardedNetwork(resolver=names, dialer=dialer))
    assert dialer.dialled == [(PUBLIC, 80)]


async def test_the_next_address_is_tried_when_one_is_dead(web: Web) -> None:
    web.page("/")
    dialer = Routed(web.port, dead=["2606:4700::1111"])
    names = Names(site_example=[["2606:4700::1111", PUBLIC]])
    await get("http://site.example/", GuardedNetwork(resolver=names, dialer=dialer))
    assert [address for address, _ in dialer.dialled] == ["2606:4700::1111", PUBLIC]


async def test_open_and_closed_internal_ports_answer_the_same(web: Web) -> None:
    """Nothing is connected to, so nothing can be learnt, not even by the clock."""
    web.page("/")
    answers = set()
    for host in ("127.0.0.1", "10.255.255.1"):
        dialer = Routed(web.port, dead=["10.255.255.1"])
        with pytest.raises(BlockedUrl) as refused:
            await get(f"http://{host}/", GuardedNetwork(allowed=set(), dialer=dialer))
        assert dialer.dialled == []
        answers.add((refused.value.code, refused.value.message))
    assert len(answers) == 1


@pytest.mark.parametrize("error", [OSError("no such name"), UnicodeError("label too long")])
async def test_a_name_without_an_address_is_unreachable(error: Exception) -> None:
    def resolver(host: str, port: int) -> list[str]:
        raise error

    with pytest.raises(UnreachableUrl):
        await get("http://site.example/", GuardedNetwork(resolver=resolver))


async def test_a_refused_connection_is_unreachable() -> None:
    network = GuardedNetwork(resolver=Names(site_example=[[PUBLIC]]), dialer=Routed(1, dead=[PUBLIC]))
    with pytest.raises(UnreachableUrl):
        await get("http://site.example/", network)


# --- TLS ---------------------------------------------------------------------------------------------------


@pytest.fixture
def authority(monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    authority = trustme.CA()
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    monkeypatch.setattr(client, "_tls", lambda: trust)
    return authority


async def test_tls_names_and_checks_the_host_not_the_address(authority: trustme.CA) -> None:
    context, asked = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), []
    authority.issue_cert("site.example").configure_cert(context)
    context.sni_callback = lambda socket, name, _: asked.append(name)
    with serving(context) as web:
        web.page("/")
        names = Names(site_example=[[PUBLIC]], other_example=[[PUBLIC]])
        network = GuardedNetwork(resolver=names, dialer=Routed(web.port))
        assert (await get("https://site.example/", network))[1].mime_type == "text/html"
        with pytest.raises(UnreachableUrl, match="certificate"):
            await get("https://other.example/", network)
    assert asked == ["site.example", "other.example"]
    assert [request.headers["Host"] for request in web.asked] == ["site.example"]
