"""Quotation of untrusted text for a model: fenced, attributed to its source, and unable to inject instructions or roles.

The fence carries a random number drawn for this quotation, so that no text can contain it; every line is prefixed, so that
no line can open anything else; and the role headers of all formats are broken up by invisible characters.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from lethe_app.domain.presets import InstructPreset
from lethe_app.domain.web import PageText, sanitized
from lethe_app.errors import FileError
from lethe_app.prompt.control_tokens import JOINER, ControlTokenFilter
from lethe_app.prompt.group import join_names

QUOTE_PREFIX = "> "
MAX_SITE_LENGTH, MAX_TITLE_LENGTH, MAX_ADDRESS_LENGTH = 80, 200, 300
_PLACEHOLDER = re.compile(r"\{(site|mark|quote)\}")
_TOKEN = re.compile(r"<<?/?[^<>\s]{1,60}>>?|\[/?\w{1,40}\]")
"""Pattern of control tokens in all formats."""
_FENCE = re.compile(r"^\[quote ([0-9a-f]+)\]\n", re.MULTILINE)
_HEADERS = ("system", "user", "human", "assistant", "model", "developer", "tool", "instruction", "response", "input", "ai")
"""Role headers of formats that have no control tokens."""
_UNKNOWN_SITE = "an unknown page"
_OWN_MARKUP = ("{{", "}}", "<SystemEvent")
"""Macro braces, and the start of a system event line, which a quotation inside a conversation must not contain either."""
MAX_SITES = 3
"""Sites named for a text that was taken from several pages."""
MAX_ADDRESSES = 5
"""Addresses named for a text that was taken from several pages."""


class UntrustedTextQuoter:
    """Renders quotations with the frame in `resources/prompts/quoted.md`, disarming the role headers of all formats. Create
    it once.
    """

    def __init__(self, frame: Path, formats: Iterable[InstructPreset], draw_nonce: Callable[[], str] | None = None) -> None:
        """Read the frame. `draw_nonce` returns the random number of a fence.

        Raise FileError if the frame is unreadable or lacks a placeholder.
        """
        try:
            self._frame = frame.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise FileError(frame, f"it cannot be read: {error}") from error
        if set(_PLACEHOLDER.findall(self._frame)) != {"site", "mark", "quote"}:
            raise FileError(frame, "{site}, {mark} and {quote} must all occur in it")
        self._control_filter = ControlTokenFilter({*turn_markers(formats), *_OWN_MARKUP})
        self._draw_nonce = draw_nonce or (lambda: secrets.token_hex(4))

    def quote_page(self, page: PageText) -> str:
        """Return the page between fences, with its source. It also accepts a search engine's snippet."""
        title, address = _to_one_line(page.title, MAX_TITLE_LENGTH), _to_one_line(page.address, MAX_ADDRESS_LENGTH)
        body = sanitized(page.text) + ("\n…" if page.is_cut else "")
        # Title and address are written by the page's author, too, and therefore stay inside the fence.
        quote = self._prefix_lines([f"Title: {title}", f"Address: {address}", *body.split("\n")])
        return self._fill_frame(site_of(page.address), self._draw_unused_nonce(quote), quote)

    def quote_stored(self, text: str, addresses: Sequence[str], key: str) -> str:
        """Return stored text from web pages between fences that stay the same as long as the text does.

        A newly drawn number would change the start of prompts from turn to turn, so it is derived from the text and `key`.
        The key must be something random that was created after the pages were written, such as the id of the memory;
        otherwise a page could predict the number.
        """
        unique_addresses = list(dict.fromkeys(_to_one_line(one, MAX_ADDRESS_LENGTH) for one in addresses))
        quote = self._prefix_lines(
            [*(f"Address: {one}" for one in unique_addresses[:MAX_ADDRESSES]), *sanitized(text).split("\n")]
        )
        return self._fill_frame(sites_of(addresses), _derive_nonce(quote, key), quote)

    def quote_document(self, location: str, text: str) -> str:
        """Return a passage of a document of the user's, line by line as a quotation; `location` is its title with the page."""
        title = self._control_filter(_to_one_line(location, MAX_TITLE_LENGTH))
        return f"From the document “{title}”:\n{self._prefix_lines(sanitized(text).split(chr(10)))}"

    def _prefix_lines(self, lines: Iterable[str]) -> str:
        return "\n".join(f"{QUOTE_PREFIX}{self._control_filter(line)}".rstrip() for line in lines)

    def _fill_frame(self, site: str, nonce: str, quote: str) -> str:
        values = {"site": site, "mark": nonce, "quote": quote}
        return _PLACEHOLDER.sub(lambda match: values[match[1]], self._frame)

    def quote_pages(self, pages: Iterable[PageText]) -> str:
        """Return all pages, each between its own fences."""
        return "\n\n".join(map(self.quote_page, pages))

    def _draw_unused_nonce(self, quote: str) -> str:
        """Draw a number that does not occur in the quotation."""
        nonce = self._draw_nonce()
        while nonce in quote:
            nonce = self._draw_nonce()
        return nonce


def site_of(address: str) -> str:
    """Return the host name of an address; an attacker controls only letters, digits, dots and hyphens of it."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return _UNKNOWN_SITE
    return host[:MAX_SITE_LENGTH] if re.fullmatch(r"[a-z0-9.:-]+", host) else _UNKNOWN_SITE


def sites_of(addresses: Iterable[str]) -> str:
    """Return the distinct host names of several addresses as a list in words."""
    names = list(dict.fromkeys(site_of(one) for one in addresses)) or [_UNKNOWN_SITE]
    if len(names) > MAX_SITES:
        names = [*names[:MAX_SITES], "other sites"]
    return join_names(names)


def is_quoted(text: str) -> bool:
    """Return whether the text contains a fence."""
    return _FENCE.search(text) is not None


def strip_quotes(text: str) -> str:
    """Return the quoted text without fences and prefixes, for display; other text is returned unchanged."""
    begin = _FENCE.search(text)
    if begin is None:
        return text
    quoted_part = text[begin.end() :].partition(f"\n[end of quote {begin[1]}]")
    lines = [line.removeprefix(QUOTE_PREFIX.strip()).strip() for line in quoted_part[0].split("\n")]
    words = "\n".join(line for line in lines if not line.startswith("Address: ")).strip()
    return words.replace(JOINER, "")


def turn_markers(formats: Iterable[InstructPreset]) -> set[str]:
    """Return every string by which a format opens or closes a turn."""
    found = {f"{written}:" for header in _HEADERS for written in (header, header.upper(), header.title())}
    for preset in formats:
        special = (preset.note_start or "", preset.first_user_start, preset.last_user_start, preset.first_bot_start)
        opening = (preset.system_start, preset.user_start, preset.bot_start, preset.reply_start, *special)
        ends = (preset.system_end, preset.user_end, preset.bot_end, preset.note_end or "")
        closing = (*ends, preset.thinking_start, preset.thinking_end)
        for text in (preset.bos, *opening, *closing, *preset.stop_strings):
            found.update(_TOKEN.findall(text))
        found.update(line.strip() for text in (*opening, *preset.stop_strings) for line in text.splitlines())
    return {spelling for spelling in found if len(spelling) > 2}


def _derive_nonce(quote: str, key: str) -> str:
    """Return a number that does not occur in the quotation and is the same for the same text."""
    nonce = ""
    while not nonce or nonce in quote:
        nonce = hashlib.blake2b(f"{nonce}\n{key}\n{quote}".encode(errors="surrogatepass"), digest_size=4).hexdigest()
    return nonce


def _to_one_line(text: str, max_length: int) -> str:
    line = " ".join(sanitized(text).split())
    return line if len(line) <= max_length else f"{line[: max_length - 1]}…"
