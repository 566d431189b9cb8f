"""Only the open internet is read: nothing at home, however its address is written."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from lethe_app.errors import NotAllowed, PageUnreadable
from lethe_app.web.addresses import check_address, is_private, page_key

AT_HOME = [
    "127.0.0.1",
    "127.8.9.1",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.3.4",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "192.0.0.8",
    "192.88.99.1",
    "198.18.0.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a00:1",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::",
    "2002:c0a8:101::1",
    "2001:0:53aa:64c:0:0:0:1",
    "2001:db8::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700::1111%eth0",
    "fec0::1",
    "ff02::1",
    "100::1",
]
OPEN = ["93.184.216.34", "1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::1"]


@pytest.mark.parametrize("address", AT_HOME)
def test_what_is_at_home_is_known(address: str):
    assert is_private(ip_address(address))


@pytest.mark.parametrize("address", OPEN)
def test_what_is_on_the_open_internet_is_known(address: str):
    assert not is_private(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost/",
        "http://LOCALHOST./",
        "http://printer/",
        "http://nas.local/",
        "http://router.home.arpa/",
        "http://db.internal/",
        "http://127.0.0.1./",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.1/",
        "http://127.1/",
        "http://1.2.3.4.5/",
        "http://[::1]/",
        "http://[::ffff:7f00:1]/",
        "http://[fe80::1%25eth0]/",
        "http://ex.com\uff0f.evil.1/",
        "http://example.com:22/",
        "http://example.com:8080/",
        "https://example.com:6379/",
    ],
)
def test_local_names_addresses_and_ports_are_refused(address: str):
    with pytest.raises((NotAllowed, PageUnreadable)):
        check_address(address)


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd",
        "ftp://example.com/",
        "javascript:alert(1)",
        "data:text/html,hello",
        "gopher://example.com/",
        "http:///nothing",
        "//example.com/",
        "example.com",
        "",
        "http://user@example.com/",
        "http://user:secret@example.com/",
        "http://example.com\\@127.0.0.1/",
        "http://exa mple.com/",
        "http://example.com/\r\nHost: evil",
        "http://example.com:99999/",
        "http://0177.0.0.1/",
        "http://１２７.0.0.1/",
        "http://" + "a" * 300 + ".com/",
        "http://127.0.0.1%2f.example.com/",
        "http://127.0.0.1%00.example.com/",
        "http://example.com/" + "a" * 3000,
    ],
)
def test_what_is_no_plain_address_of_a_page_is_refused_even_where_home_is_allowed(address: str):
    with pytest.raises(PageUnreadable):
        check_address(address, allow_private=True)


def test_an_ordinary_address_loses_only_its_fragment():
    assert str(check_address("https://Example.com/a?b=1#part")) == "https://example.com/a?b=1"
    assert check_address("https://münchen.de/ä").raw_host == b"xn--mnchen-3ya.de"


def test_with_local_addresses_allowed_any_port_may_be_used():
    assert check_address("http://localhost:8080/", allow_private=True).port == 8080
    assert check_address("http://192.168.1.1/", allow_private=True).host == "192.168.1.1"


def test_one_page_in_several_spellings_is_the_same_page():
    spellings = [
        "https://www.example.com/a/?utm_source=x&b=2&a=1#top",
        "http://example.com/a?a=1&b=2",
        "https://EXAMPLE.com:443/a?b=2&a=1&fbclid=7",
    ]

    assert len({page_key(each) for each in spellings}) == 1
    assert page_key("https://example.com/a") != page_key("https://example.com/b")
    assert page_key("https://example.com/?p=1") != page_key("https://example.com/?p=2")
