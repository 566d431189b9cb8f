"""Decides which addresses may be read: the open internet over http and https, and nothing at home unless that is allowed."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import parse_qsl, urlencode

import httpx

from lethe_app.errors import NotAllowed, PageUnreadable

PORTS = {"http": 80, "https": 443}
LONGEST, LONGEST_NAME, MOST_PORTS = 2000, 253, 65_535
AT_HOME = ("localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "localdomain", "home.arpa", "onion")
"""Ends of names that lead nowhere on the open internet."""
HOME_ADVICE = "The settings can allow addresses at home."
_OPEN_6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_6TO4 = IPv6Network("2002::/16")
_CLOSED_4 = (IPv4Network("192.88.99.0/24"), IPv4Network("100.64.0.0/10"), IPv4Network("192.0.0.0/24"))
"""Relays of 6to4, shared addresses of providers, and addresses of protocols: no page lies there."""
_NAME = re.compile(r"[a-z0-9._-]+")
"""With anything else in it, such as a letter written as %2f, a proxy might read another name."""
_NUMERIC = re.compile(r"(0x[0-9a-f]*|\d+)", re.IGNORECASE)
_TRACKING = re.compile(r"utm_.*|[gf]bclid|gclid|msclkid|mc_[ce]id|igshid|ref_src")


def checked(address: str, *, allow_private: bool = False) -> httpx.URL:
    """The address, if it may be asked for at all. Its name is not looked up here; see `pinned`.

    Raises NotAllowed for what is at home, PageUnreadable for what is no address of a page.
    """
    if len(address) > LONGEST or not address.isprintable() or " " in address.strip():
        raise PageUnreadable("This is no address of a page.", "Addresses begin with https://.")
    try:
        url = httpx.URL(address.strip())
        host = host_of(url)
        port = url.port or PORTS.get(url.scheme, 0)
    except (httpx.InvalidURL, ValueError, UnicodeError) as error:
        raise PageUnreadable("This is no address of a page.", "Addresses begin with https://.") from error
    is_host = literal_of(host) is not None or (_NAME.fullmatch(host) is not None and len(host) <= LONGEST_NAME)
    if url.scheme not in PORTS or not is_host or port > MOST_PORTS:
        raise PageUnreadable(f"“{address[:80]}” is no page on the internet.", "Only http and https are read.")
    if url.userinfo:
        raise PageUnreadable(f"The address of “{host}” carries a name or password; it is not used.", "Take them out of it.")
    if not allow_private:
        check_name(host)
        if port not in PORTS.values():
            raise NotAllowed(f"“{host}” is asked for at port {port}; only 80 and 443 are used.", HOME_ADVICE)
    return url.copy_with(fragment=None)


def host_of(url: httpx.URL) -> str:
    """The name as it is looked up: in lower case, without the dot at its end."""
    return url.raw_host.decode("ascii").lower().rstrip(".").strip("[]")


def check_name(host: str) -> None:
    """Raises NotAllowed for a name that can only be at home, and for a number written so as not to look like one."""
    literal = literal_of(host)
    if literal is not None:
        if is_at_home(literal):
            raise NotAllowed(f"{host} is an address at home; it is not read.", HOME_ADVICE)
        return
    last = host.rpartition(".")[2]
    if _NUMERIC.fullmatch(last):
        raise NotAllowed(f"“{host}” is a number in disguise and no name; it is not read.")
    if "." not in host or any(host == end or host.endswith(f".{end}") for end in AT_HOME):
        raise NotAllowed(f"“{host}” is a name at home; it is not read.", HOME_ADVICE)


def literal_of(host: str) -> IPv4Address | IPv6Address | None:
    """The host, where it is a number and no name. Leading zeroes, octal and short forms are no numbers here."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def is_at_home(ip: IPv4Address | IPv6Address) -> bool:
    """Anything but the open internet: private, loopback, link-local, multicast, reserved, shared, or that in disguise."""
    if isinstance(ip, IPv6Address):
        if ip.scope_id:
            return True
        inner = _inner(ip)
        if inner is not None:
            return is_at_home(inner)
        if ip not in _OPEN_6 or ip.teredo is not None:
            return True
    elif any(ip in network for network in _CLOSED_4):
        return True
    return not ip.is_global or ip.is_multicast or ip.is_reserved or ip.is_unspecified or ip.is_link_local


def _inner(ip: IPv6Address) -> IPv4Address | None:
    """The old address that a new one stands for: mapped, 6to4, or through a translating gateway."""
    if ip.ipv4_mapped is not None:
        return ip.ipv4_mapped
    if ip in _6TO4:
        return ip.sixtofour
    if ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return None


def same_page(address: str) -> str:
    """What two spellings of one page have in common, for telling that they are the same; not to be asked for."""
    try:
        url = httpx.URL(address)
        host = host_of(url).removeprefix("www.")
        asked = sorted(pair for pair in parse_qsl(url.query.decode()) if not _TRACKING.fullmatch(pair[0].lower()))
        port = "" if (url.port or PORTS.get(url.scheme)) == PORTS.get(url.scheme) else f":{url.port}"
    except (httpx.InvalidURL, ValueError, UnicodeError):
        return address
    return f"{host}{port}{url.path.rstrip('/')}?{urlencode(asked)}".rstrip("?")
