"""Validation of web addresses: the public internet over http and https, and private addresses only if allowed."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import parse_qsl, urlencode

import httpx

from lethe_app.errors import NotAllowed, PageUnreadable

PORTS = {"http": 80, "https": 443}
MAX_ADDRESS_LENGTH, MAX_NAME_LENGTH, MAX_PORT = 2000, 253, 65_535
LOCAL_NAMES = (
    "localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "localdomain", "home.arpa", "onion",
)  # fmt: skip
"""Top-level names that are not resolved on the public internet."""
LOCAL_ADDRESS_ADVICE = "Local addresses can be allowed in the settings."
_PUBLIC_IPV6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_6TO4 = IPv6Network("2002::/16")
_NON_WEB_IPV4 = (IPv4Network("192.88.99.0/24"), IPv4Network("100.64.0.0/10"), IPv4Network("192.0.0.0/24"))
"""6to4 relays, carrier-grade NAT addresses and protocol assignments: none hosts a web page."""
_NAME = re.compile(r"[a-z0-9._-]+")
"""Allowed host names. With other characters, such as a slash written as %2f, a proxy might parse another host."""
_NUMERIC_LABEL = re.compile(r"(0x[0-9a-f]*|\d+)", re.IGNORECASE)
_TRACKING = re.compile(r"utm_.*|[gf]bclid|gclid|msclkid|mc_[ce]id|igshid|ref_src")


def check_address(address: str, *, allow_private: bool = False) -> httpx.URL:
    """Return the address as a URL without fragment if it may be requested. Its name is not resolved here; see `pinned_dns`.

    Raise NotAllowed for a private address, PageUnreadable for anything that is no address of a page.
    """
    if len(address) > MAX_ADDRESS_LENGTH or not address.isprintable() or " " in address.strip():
        raise PageUnreadable("This is not the address of a web page.", "Addresses begin with https://.")
    try:
        url = httpx.URL(address.strip())
        host = host_of(url)
        port = url.port or PORTS.get(url.scheme, 0)
    except (httpx.InvalidURL, ValueError, UnicodeError) as error:
        raise PageUnreadable("This is not the address of a web page.", "Addresses begin with https://.") from error
    is_host = parse_ip(host) is not None or (_NAME.fullmatch(host) is not None and len(host) <= MAX_NAME_LENGTH)
    if url.scheme not in PORTS or not is_host or port > MAX_PORT:
        raise PageUnreadable(f"“{address[:80]}” is not a page on the internet.", "Only http and https addresses are supported.")
    if url.userinfo:
        raise PageUnreadable(
            f"The address of “{host}” contains a user name or password, so it was not opened.", "Remove them from the address."
        )
    if not allow_private:
        check_host(host)
        # Services of the local network usually listen on other ports.
        if port not in PORTS.values():
            raise NotAllowed(
                f"“{host}” is addressed at port {port}, but only ports 80 and 443 are allowed.", LOCAL_ADDRESS_ADVICE
            )
    return url.copy_with(fragment=None)


def host_of(url: httpx.URL) -> str:
    """Return the host name as it is resolved: lower case, without a trailing dot or brackets."""
    return url.raw_host.decode("ascii").lower().rstrip(".").strip("[]")


def check_host(host: str) -> None:
    """Raise NotAllowed for a name of the local network, and for an IP address in a disguised notation (octal, hexadecimal,
    short).
    """
    literal = parse_ip(host)
    if literal is not None:
        if is_private(literal):
            raise NotAllowed(f"{host} is a local address, so it was not opened.", LOCAL_ADDRESS_ADVICE)
        return
    last_label = host.rpartition(".")[2]
    if _NUMERIC_LABEL.fullmatch(last_label):
        raise NotAllowed(f"“{host}” is a disguised IP address, so it was not opened.")
    if "." not in host or any(host == end or host.endswith(f".{end}") for end in LOCAL_NAMES):
        raise NotAllowed(f"“{host}” is a local name, so it was not opened.", LOCAL_ADDRESS_ADVICE)


def parse_ip(host: str) -> IPv4Address | IPv6Address | None:
    """Return the host as an IP address, or None for a name. Leading zeros, octal and short forms are not accepted."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def is_private(ip: IPv4Address | IPv6Address) -> bool:
    """Return whether the address is not on the public internet: private, loopback, link-local, multicast, reserved, shared,
    or one of these embedded in an IPv6 address.
    """
    if isinstance(ip, IPv6Address):
        if ip.scope_id:
            return True
        embedded = _embedded_ipv4(ip)
        if embedded is not None:
            return is_private(embedded)
        if ip not in _PUBLIC_IPV6 or ip.teredo is not None:
            return True
    elif any(ip in network for network in _NON_WEB_IPV4):
        return True
    return not ip.is_global or ip.is_multicast or ip.is_reserved or ip.is_unspecified or ip.is_link_local


def _embedded_ipv4(ip: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address embedded in an IPv6 address (mapped, 6to4 or NAT64), or None."""
    if ip.ipv4_mapped is not None:
        return ip.ipv4_mapped
    if ip in _6TO4:
        return ip.sixtofour
    if ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return None


def page_key(address: str) -> str:
    """Return a key that is equal for different spellings of one page's address. It is not a valid address."""
    try:
        url = httpx.URL(address)
        host = host_of(url).removeprefix("www.")
        query_pairs = sorted(pair for pair in parse_qsl(url.query.decode()) if not _TRACKING.fullmatch(pair[0].lower()))
        port = "" if (url.port or PORTS.get(url.scheme)) == PORTS.get(url.scheme) else f":{url.port}"
    except (httpx.InvalidURL, ValueError, UnicodeError):
        return address
    return f"{host}{port}{url.path.rstrip('/')}?{urlencode(query_pairs)}".rstrip("?")
