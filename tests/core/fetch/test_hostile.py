"""What somebody writes, resolves or answers to make the server ask its own network.

Each row is refused with its code, and not one connection reaches the target: a server to which every address
that is dialled leads.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import pytest
from pytest import Subtests

from core.fetch import FetchError, FetchLimits, GuardedNetwork
from tests.core.fetch.fetching import LIMITS, get
from tests.testing.web import PUBLIC, Names, Routed, Web, reply

DECIMAL = ["2130706433", "3232235777", "2852039166", "0", "127.0.0.1."]
OCTAL = ["0177.0.0.1", "0177.0.0.01", "017700000001", "00000177.0.0.1", "0251.0376.0251.0376"]
HEX = ["0x7f.0.0.1", "0x7f000001", "0X7F000001", "0x7f.1", "0xa9fea9fe", "0xA9.0xFE.0xA9.0xFE", "0x"]
SHORT = ["127.1", "127.0.1", "10.1", "169.254.43518", "127.1.", "1.2.3.0x4", "0177.1"]
PLAIN = [
    *("127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255"),
    *("192.168.0.1", "100.64.0.1", "198.18.0.1", "192.0.0.8", "192.88.99.1", "192.0.2.1", "203.0.113.7"),
    *("224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255"),
]
METADATA = [
    *(
        "169.254.169.254",
        "169.254.170.2",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
        "[fd00:ec2::254]",
    ),
    *("metadata", "metadata.google.internal", "METADATA.google.internal.", "instance-data.ec2.internal"),
]
WIDE = ["127。0。0。1", "１２７.0.0.1", "①②⑦.⓪.⓪.①", "127．0．0．1", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ"]
IPV6 = [
    *("[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[fe80::1]", "[fec0::1]", "[fc00::1]", "[ff02::1]", "[100::1]"),
    *("[2001:db8::1]", "[3fff::1]", "[4000::1]", "[::1%25lo]", "[fe80::1%25eth0]"),
]
MAPPED = [
    *("[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:a9fe:a9fe]", "[0:0:0:0:0:ffff:10.0.0.1]"),
    *("[::ffff:0:127.0.0.1]", "[::127.0.0.1]", "[::7f00:1]"),
]
NAT64 = ["[64:ff9b::7f00:1]", "[64:ff9b::169.254.169.254]", "[64:ff9b:1::7f00:1]"]
SIX_TO_FOUR = ["[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "[2002:c0a8:1::1]"]
TEREDO = ["[2001:0:53aa:64c:0:0:80ff:fffe]", "[2001::1]", "[2001:0:7f00:1::]"]
LOCAL_NAMES = [
    *("localhost", "LOCALHOST", "localhost.", "x.localhost", "localhost.localdomain", "printer.local"),
    *("router.lan", "nas.home.arpa", "wiki.corp", "postgres", "db.svc.cluster.local", "host.docker.internal"),
]
HOSTS = [
    *(*DECIMAL, *OCTAL, *HEX, *SHORT, *PLAIN, *METADATA, *WIDE),
    *(*IPV6, *MAPPED, *NAT64, *SIX_TO_FOUR, *TEREDO, *LOCAL_NAMES),
]
URLS = [
    # Who is it really?
    *("http://user@127.0.0.1/", "http://user:pw@site.example/", "http://site.example@127.0.0.1/"),
    *("http://127.0.0.1@site.example/", "http://site.example:80@127.0.0.1/", "http://:pw@site.example/"),
    *(
        "http://site.example%40127.0.0.1/",
        "http://site.example\\@127.0.0.1/",
        "http://site.example&@127.0.0.1/",
    ),
    *(
        "http://127.0.0.1#@site.example/",
        "http://127.0.0.1?@site.example/",
        "http://127.0.0.1\\.site.example/",
    ),
    # Letters that others decode
    *("http://%31%32%37.0.0.1/", "http://127.0.0.1%00.site.example/", "http://127.0.0.1%2f.site.example/"),
    *("http://site.example\r\nHost: 127.0.0.1/", "http://127.0.0.1\t.site.example/", "http://127.0.0.1 .x/"),
    # Other ports and schemes
    *(
        "http://site.example:22/",
        "http://site.example:6379/",
        "http://site.example:8000/",
        "http://x.example:0/",
    ),
    *("http://127.0.0.1:80/", "https://127.0.0.1:443/", "https://localhost/", "https://[::1]/"),
    *("file:///etc/passwd", "gopher://site.example/", "dict://site.example:11211/", "ftp://site.example/"),
    *("ldap://site.example/", "data:text/html,x", "javascript:alert(1)", "//127.0.0.1/", "http:127.0.0.1"),
    *("http:///127.0.0.1/", "http:\\\\127.0.0.1/", "127.0.0.1", "unix:/var/run/docker.sock"),
]
HOSTILE = [*(f"http://{host}/latest/meta-data/" for host in HOSTS), *URLS]


class Inside:
    """A network on which every address that is dialled is the target."""

    def __init__(self, web: Web, **answers: list[list[str]]) -> None:
        self.web = web
        self.names = Names(**answers)
        self.dialer = Routed(web.port)
        self.network = GuardedNetwork(allowed=set(), resolver=self.names, dialer=self.dialer)

    async def refuses(self, url: str, code: str = "blocked_url", limits: FetchLimits = LIMITS) -> FetchError:
        with pytest.raises(FetchError) as refused:
            await get(url, self.network, limits)
        assert refused.value.code == code
        return refused.value

    def was_left_alone(self) -> bool:
        """Tell whether nothing was dialled, and the target has heard nothing since the last time."""
        heard = (self.web.connections, list(self.web.asked))
        self.web.connections = 0
        self.web.asked.clear()
        return (self.dialer.dialled, *heard) == ([], 0, [])


def test_the_table_is_long_enough_to_mean_something() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) >= 60


async def test_what_is_written_to_lead_inside_leads_nowhere(subtests: Subtests, web: Web) -> None:
    web.page("/latest/meta-data/")
    for url in HOSTILE:
        inside = Inside(web)
        with subtests.test(url=url):
            await inside.refuses(url)
            assert inside.was_left_alone()
            # Nobody is asked either where such a name leads.
            assert inside.names.asked == []


async def test_the_target_would_have_answered(web: Web) -> None:
    """The table would also pass if nothing could be reached at all."""
    web.page("/latest/meta-data/")
    await get("http://site.example/latest/meta-data/", Inside(web, site_example=[[PUBLIC]]).network)
    assert (web.connections, web.paths()) == (1, ["/latest/meta-data/"])


INNER_ADDRESSES = [
    *(["127.0.0.1"], ["10.0.0.1"], ["169.254.169.254"], ["0.0.0.0"], ["100.100.100.200"], ["::1"]),
    *(["fe80::1%eth0"], ["fd00:ec2::254"], ["::ffff:7f00:1"], ["64:ff9b::a9fe:a9fe"], ["2002:7f00:1::"]),
    *(["2001:0:53aa:64c:0:0:80ff:fffe"], [PUBLIC, "192.168.0.1"], ["192.168.0.1", PUBLIC]),
    *(["2606:4700::1111", "::1"], ["nonsense"], [""]),
]


@pytest.mark.parametrize("name", ["127.0.0.1.nip.example", "metadata.goog", "localtest.example"])
async def test_a_public_name_of_an_inner_address_leads_nowhere(
    subtests: Subtests, web: Web, name: str
) -> None:
    for addresses in INNER_ADDRESSES:
        inside = Inside(web, **{name: [addresses]})
        with subtests.test(addresses=addresses):
            refused = await inside.refuses(f"http://{name}/")
            assert inside.was_left_alone()
            assert not any(address and address in refused.message for address in addresses)


# --- Answers that change -----------------------------------------------------------------------------------


@pytest.mark.parametrize("then", ["127.0.0.1", "169.254.169.254", "::1"])
async def test_a_name_that_changes_after_the_check_is_not_asked_again(web: Web, then: str) -> None:
    web.page("/")
    inside = Inside(web, site_example=[[PUBLIC], [then]])
    await get("http://site.example/", inside.network)
    assert (inside.names.asked, inside.dialer.dialled) == (["site.example"], [(PUBLIC, 80)])


@pytest.mark.parametrize("then", ["127.0.0.1", "169.254.169.254", "::1"])
async def test_a_name_that_changes_between_two_fetches_is_refused_in_the_second(web: Web, then: str) -> None:
    web.page("/")
    inside = Inside(web, site_example=[[PUBLIC], [then]])
    await get("http://site.example/", inside.network)
    await inside.refuses("http://site.example/")
    assert (inside.dialer.dialled, web.connections) == ([(PUBLIC, 80)], 1)


# --- Redirects ---------------------------------------------------------------------------------------------


TARGETS = [
    *("http://127.0.0.1/", "http://2130706433/", "http://0x7f.1/", "http://[::ffff:169.254.169.254]/"),
    *("http://localhost/", "//169.254.169.254/latest/", "http://inside.example/", "http://site.example:22/"),
    *("http://user:pw@site.example/", "ftp://site.example/", "file:///etc/passwd", "javascript:alert(1)"),
    *("http://127.0.0.1:1/", "http://[::1", "http://metadata.google.internal/"),
]


@pytest.mark.parametrize("hop", [1, 2, 3, 4, 5])
async def test_no_redirect_leads_inside_at_whatever_hop(subtests: Subtests, web: Web, hop: int) -> None:
    for number in range(1, hop):
        web.redirect(f"/{number}", f"/{number + 1}")
    for target in TARGETS:
        web.redirect(f"/{hop}", target)
        web.asked.clear()
        inside = Inside(web, site_example=[[PUBLIC]], inside_example=[["10.0.0.1"]])
        with subtests.test(target=target):
            refused = await inside.refuses("http://site.example/1")
            assert inside.dialer.dialled == [(PUBLIC, 80)] * hop
            assert web.paths() == [f"/{number}" for number in range(1, hop + 1)]
            assert target not in refused.message


@pytest.mark.parametrize("hop", [1, 2, 3, 4, 5])
async def test_a_name_may_not_change_between_the_hops(web: Web, hop: int) -> None:
    for number in range(1, 7):
        web.redirect(f"/{number}", f"http://site.example/{number + 1}")
    inside = Inside(web, site_example=[*[[PUBLIC]] * hop, ["127.0.0.1"]])
    await inside.refuses("http://site.example/1")
    assert (inside.dialer.dialled, web.connections) == ([(PUBLIC, 80)] * hop, hop)


# --- Bodies ------------------------------------------------------------------------------------------------


def oversized(request: Any, web: Web) -> None:
    reply(request, 200, b"", Content_Length="1000000")


def endless(request: Any, web: Web) -> None:
    reply(request, 200, b"", Content_Length="")
    while not web.over.is_set():
        request.wfile.write(b"x" * 65536)


def bomb(request: Any, web: Web) -> None:
    reply(request, 200, gzip.compress(b"\0" * 10_000_000), Content_Encoding="gzip")


def nested(request: Any, web: Web) -> None:
    reply(request, 200, gzip.compress(gzip.compress(b"\0" * 1000)), Content_Encoding="gzip, gzip")


def trickling(request: Any, web: Web) -> None:
    reply(request, 200, b"", Content_Length="1000")
    while not web.over.wait(0.02):
        request.wfile.write(b"x")


def silent(request: Any, web: Web) -> None:
    web.over.wait()


def circling(request: Any, web: Web) -> None:
    reply(request, 302, b"", None, Location="/")


def programs(request: Any, web: Web) -> None:
    reply(request, 200, b"MZ", "application/x-msdownload")


@pytest.mark.parametrize(
    ("page", "code"),
    [
        (oversized, "too_large"),
        (endless, "too_large"),
        (bomb, "too_large"),
        (nested, "unsupported_type"),
        (programs, "unsupported_type"),
        (trickling, "unreachable_url"),
        (silent, "unreachable_url"),
        (circling, "unreachable_url"),
    ],
)
async def test_an_answer_meant_to_wear_the_server_out_has_a_code(
    web: Web, page: Callable[[Any, Web], None], code: str
) -> None:
    web.pages["/"] = lambda request: page(request, web)
    inside = Inside(web, site_example=[[PUBLIC]])
    await inside.refuses("http://site.example/", code, FetchLimits(100_000, timeout_secs=0.5))
