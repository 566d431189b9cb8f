"""The rules of sites are understood as RFC 9309 has them, and those of the worst sites in no time."""

from __future__ import annotations

import time

import pytest

from lethe_app.web.robots import RobotsRules


def allowed(text: str, path: str) -> bool:
    return RobotsRules(text).allows(f"https://a.example{path}")


@pytest.mark.parametrize(
    ("text", "path", "may"),
    [
        ("User-agent: *\n\nDisallow: /\n", "/a", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf?c", True),
        ("User-agent: *\nDisallow: /*/private", "/tomas/private/a", False),
        ("User-agent: *\nDisallow: /*?print=", "/a?print=1", False),
        ("User-agent: *\nDisallow: /\nAllow: /open", "/open/a", True),
        ("User-agent: *\nAllow: /open\nDisallow: /", "/closed", False),
        ("User-agent: *\nAllow: /a\nDisallow: /a", "/a", True),
        ("User-agent: *\nDisallow: /$", "/", False),
        ("User-agent: *\nDisallow: /$", "/a", True),
        ("User-agent: *\nDisallow: /exact$", "/exactly", True),
        ("User-agent: *\nDisallow: /a*b*c$", "/axxbyyc", False),
        ("User-agent: *\nDisallow: /a*b*c$", "/axxbyycd", True),
        ("User-agent: *\nDisallow: /aa*a$", "/aa", True),
        ("User-agent: *\nDisallow: /käse", "/k%C3%A4se", False),
        ("User-agent: *\nDisallow: /k%c3%a4se", "/k%C3%A4se", False),
        ("User-agent: *\nDisallow: /%7Etomas", "/~tomas/a", False),
        ("User-agent: *\nDisallow:", "/a", True),
        ("User-agent: *\nDisallow: / # everything", "/a", False),
        ("USER-AGENT : *\nDISALLOW : /a", "/a", False),
        ("User-agent: Greedy\nUser-agent: Lethe\nDisallow: /a", "/a", False),
        ("User-agent: lethe\nDisallow: /a\nUser-agent: *\nDisallow: /", "/b", True),
        ("User-agent: *\nDisallow: /a\nUser-agent: Greedy\nDisallow:\nUser-agent: *\nDisallow: /b", "/b", False),
        ("User-agent: Lethe/1.0\nDisallow: /a", "/a", False),
        ("User-agent: thelethe\nDisallow: /", "/a", True),
        # A name that ours begins with counts as ours: stricter than RFC 9309, as many older rules mean it.
        ("User-agent: let\nDisallow: /", "/a", False),
        ("User-agent: Lethe\nAllow: /\nUser-agent: *\nDisallow: /", "/a", True),
        ("Disallow: /", "/a", True),
        ("User-agent: *\nSitemap: https://a.example/map\nDisallow: /a", "/a", False),
        ("User-agent: Greedy\nSitemap: https://a.example/map\nUser-agent: *\nDisallow: /a", "/a", False),
        ("", "/a", True),
    ],
)
def test_a_path_is_allowed_or_not(text: str, path: str, *, may: bool):
    assert allowed(text, path) is may


@pytest.mark.parametrize(
    ("said", "seconds"), [("4", 4), ("0.5", 0.5), ("-3", 0), ("soon", 0), ("inf", 0), ("nan", 0), ("1e3", 1000), ("", 0)]
)
def test_the_time_between_two_visits(said: str, seconds: float):
    assert RobotsRules(f"User-agent: *\nCrawl-delay: {said}\nDisallow: /a").delay == seconds


def test_the_worst_rules_take_no_time():
    stars = "User-agent: *\n" + f"Disallow: /{'*a' * 400}b$\n" * 600
    began = time.process_time()

    assert allowed(stars, "/" + "a" * 1900)
    assert time.process_time() - began < 1
