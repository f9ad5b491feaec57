"""Domain rules: what an entry means, whatever somebody writes before, behind and around a host."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from search.web.domains import DomainRule, in_all, matches, place_of

labels = st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True)
hosts = st.lists(labels, min_size=2, max_size=4).map(".".join)
segments = st.text("abcABC012-_~é水 %/.", min_size=1, max_size=6).filter(
    lambda text: "/" not in text and text not in (".", "..") and "%" not in text
)
paths = st.lists(segments, max_size=3)
schemes = st.sampled_from(["http://", "https://", "HTTPS://"])
ports = st.sampled_from(["", ":80", ":443", ":8443"])
names = st.sampled_from(["", "user@", "user:password@", "other.example@"])
dots = st.sampled_from(["", "."])


def url_of(host: str, path: list[str], *, scheme: str = "https://", name: str = "", port: str = "") -> str:
    encoded = "/".join(segment.replace(" ", "%20") for segment in path)
    return f"{scheme}{name}{host}{port}/{encoded}"


@given(hosts, paths, schemes, names, ports, dots, st.booleans())
def test_nothing_but_host_and_path_matters(
    host: str, path: list[str], scheme: str, name: str, port: str, dot: str, loud: bool
) -> None:
    written = (host.upper() if loud else host) + dot
    url = url_of(written, path, scheme=scheme, name=name, port=port)
    assert matches(url, [DomainRule.parse(host)])
    assert matches(f"{url}?q=1#top", [DomainRule.parse(f"{scheme}{written}{port}")])
    assert place_of(url)[0] == host


@given(hosts, labels, paths)
def test_subdomains_are_meant_and_look_alikes_are_not(host: str, label: str, path: list[str]) -> None:
    rule = DomainRule.parse(host)
    assert matches(url_of(f"{label}.{host}", path), [rule])
    for other in (f"{label}{host}", f"{host}.{label}x", f"{label}-{host}", f"{host}{label}"):
        assume(not other.endswith(f".{host}"))
        assert not matches(url_of(other, path), [rule])
    assert not matches(url_of(f"{label}.invalid", path, name=f"{host}@"), [rule])
    assert not matches(f"https://{label}.invalid/{host}?{host}#{host}", [rule])


@given(hosts, labels, paths)
def test_a_suffix_means_what_lies_below(host: str, label: str, path: list[str]) -> None:
    rule = DomainRule.parse(f".{host}")
    assert rule.is_suffix
    assert matches(url_of(f"{label}.{host}", path), [rule])
    assert not matches(url_of(host, path), [rule])
    assert not matches(url_of(f"{label}{host}", path), [rule])
    assert matches(f"https://whitehouse.gov/{label}", [DomainRule.parse(".gov")])


@given(hosts, paths.filter(bool), paths, labels)
def test_a_path_is_a_prefix_up_to_a_slash(host: str, path: list[str], rest: list[str], more: str) -> None:
    rule = DomainRule.parse(url_of(host, path))
    assert matches(url_of(host, path), [rule])
    assert matches(url_of(host, path + rest), [rule])
    assert matches(url_of(f"www.{host}", path + rest), [rule])
    assert not matches(url_of(host, [*path[:-1], path[-1] + more]), [rule])
    assert not matches(url_of(host, []), [rule])


@given(st.text(max_size=60))
def test_any_text_is_an_entry_or_a_value_error(text: str) -> None:
    try:
        rule = DomainRule.parse(text)
    except ValueError as error:
        assert str(error).startswith("must be a host")
    else:
        assert rule.host.isascii()
        assert rule.host == rule.host.lower()
        assert DomainRule.parse(rule.host) == DomainRule(rule.host)
        assert isinstance(matches(text, [rule]), bool)


@given(st.text(max_size=60), hosts)
def test_any_text_is_matched_or_not(text: str, host: str) -> None:
    assert matches(text, [DomainRule(host)]) in (True, False)
    assert matches(f"https://{text}", [DomainRule(host)]) in (True, False)


def test_names_compare_as_idna_writes_them() -> None:
    for written in ("bücher.example", "BÜCHER.example", "xn--bcher-kva.example", "bücher。example"):
        assert DomainRule.parse(written) == DomainRule("xn--bcher-kva.example")
        assert matches(f"https://www.{written}/", [DomainRule.parse("bücher.example")])


@pytest.mark.parametrize(
    ("entry", "host", "path"),
    [
        ("Example.ORG", "example.org", ""),
        (" example.org ", "example.org", ""),
        ("example.org.", "example.org", ""),
        ("example.org:8080", "example.org", ""),
        ("http://example.org/", "example.org", ""),
        ("https://example.org/Blog/", "example.org", "/Blog"),
        ("example.org/a%20b/%C3%A9", "example.org", "/a b/é"),
        ("https://example.org/watch?v=1#t", "example.org", "/watch"),
        ("example.org/a/../b", "example.org", "/b"),
        (".gov", ".gov", ""),
        (".co.uk", ".co.uk", ""),
        ("gov", "gov", ""),
        ("my_host", "my_host", ""),
        ("127.0.0.1", "127.0.0.1", ""),
    ],
)
def test_entries(entry: str, host: str, path: str) -> None:
    assert DomainRule.parse(entry) == DomainRule(host, path)


@pytest.mark.parametrize(
    "entry",
    [
        "",
        " ",
        ".",
        "..",
        "..gov",
        "-example.org",
        "*.example.org",
        "exa mple.org",
        "example..org",
        "ftp://example.org",
        "javascript:alert(1)",
        "user@example.org",
        "https://good.example@evil.example",
        "example.org:port",
        "example.org\\evil.example",
        "/path",
        "//example.org",
        "https://",
        "example.org/a\nb",
        "a" * 300,
        "example.org/" + "a" * 600,
        "ｅxample.org",
    ],
)
def test_what_is_no_entry(entry: str) -> None:
    with pytest.raises(ValueError, match=r"must be a host, as example\.org, a \.suffix, or a URL"):
        DomainRule.parse(entry)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example\\@good.example/",
        "https://evil.example\\.good.example/",
        "https://evil.example%2f.good.example/",
        "https://evil.example/.good.example",
        "https://evil.example?.good.example",
        "https://evil.example#.good.example",
        "https://good.example.evil.example/",
        "https://good.example@evil.example/",
        "https://good.example:pass@evil.example/",
        "https://evilgood.example/",
        "//good.example/",
        "ftp://good.example/",
        "https:good.example",
        "good.example",
        "https://good.example\x00.evil.example/",
        "",
    ],
)
def test_who_is_not_a_host_but_looks_so(url: str) -> None:
    assert not matches(url, [DomainRule("good.example")])


@pytest.mark.parametrize(
    "url", ["/blog/../admin", "/blog/%2e%2e/admin", "/blog/./../admin", "/blogs", "//admin"]
)
def test_a_path_is_where_it_leads(url: str) -> None:
    assert not matches(f"https://a.example{url}", [DomainRule("a.example", "/blog")])


@pytest.mark.parametrize(
    "url", ["/blog", "/blog/", "/blog?x", "/blog#x", "//blog/x", "/%62log", "/x/../blog/y"]
)
def test_a_path_may_be_written_in_many_ways(url: str) -> None:
    assert matches(f"https://a.example{url}", [DomainRule("a.example", "/blog")])


places = st.sampled_from(
    [
        DomainRule(host, path)
        for host in ("a.example", "b.a.example", ".a.example", ".example", "c.example", "example")
        for path in ("", "/x", "/x/y", "/z")
    ]
)
lists = st.lists(st.lists(places, min_size=1, max_size=4), min_size=1, max_size=3)
urls = st.builds(
    "https://{}{}".format,
    st.sampled_from(["a.example", "b.a.example", "c.b.a.example", "c.example", "example", "d.example"]),
    st.sampled_from(["", "/x", "/x/y", "/x/y/w", "/z", "/w"]),
)


@given(lists, urls)
def test_what_is_in_all_lists_is_what_one_rule_of_each_means(lists: list[list[DomainRule]], url: str) -> None:
    assert matches(url, in_all(lists)) == all(matches(url, rules) for rules in lists)


@given(places, urls)
def test_the_site_of_a_rule_covers_it(rule: DomainRule, url: str) -> None:
    site = DomainRule(rule.site)
    if matches(url, [rule]):
        assert matches(url, [site])
    if rule.is_exactly_a_site and place_of(url)[0] != rule.site:
        assert matches(url, [rule]) == matches(url, [site])
