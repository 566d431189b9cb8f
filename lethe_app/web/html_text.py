"""Conversion of a web page to plain text: main text without menus, links and invisible characters."""

from __future__ import annotations

import codecs
import logging
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from lethe_app.domain.web import sanitized
from lethe_app.web.bounded_threads import run_in_bounded_thread

SECONDS = 8.0
"""Time limit for extracting the main text; after that, title and description are used."""
MAX_TEXT_LENGTH = 200_000
"""Characters of text kept of a page."""
MAX_HEAD_LENGTH = 200_000
"""Characters of source in which title and description are searched."""
CountTokens = Callable[[list[str]], Awaitable[list[int]]]

_CHARSETS = re.compile(
    r"utf-(8|16|16-le|16-be)|ascii|iso8859-\d+|cp(125\d|866|949|932|936|874)|koi8-[ru]|gb(2312|k|18030)|big5|big5hkscs"
    r"|shift_jis|euc_(jp|kr)|iso2022_jp|mac-(roman|cyrillic)|tis-620"
)
"""Accepted encodings by Python name. Python's other codecs are no character encodings."""
_READ_AS_CP1252 = {"ascii", "iso8859-1"}
"""Encodings that browsers read as their superset Windows-1252, and that pages therefore declare while using it."""
_META = re.compile(rb"""<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE)
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{1,2000}\)")
_BARE_LINK = re.compile(r"(?:https?|ftp)://(?:www\.)?([\w.-]{1,100})[^\s<>\"“”]*|data:[^\s<>\"“”]{20,}", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?…。！？])\s+")


@dataclass(frozen=True)
class ExtractedText:
    """Text extracted from a page."""

    title: str
    text: str
    is_description: bool = False


def decode_body(body: bytes, charset: str) -> str:
    """Decode `body` with the encoding given by its byte order mark, the server or the page; never fails."""
    for bom, name in _BOMS:
        if body.startswith(bom):
            return body.removeprefix(bom).decode(name, "replace")
    declaration = _META.search(body[:4096])
    declared = declaration[1].decode("ascii") if declaration else ""
    if declared.lower().startswith("utf-16"):  # a declaration that was found as ASCII is not in UTF-16
        declared = "utf-8"
    for label in (charset, declared, "utf-8"):
        codec = _find_codec(label)
        if codec == "utf-8":
            text = _decode_utf8(body)
            if text is not None:
                return text
        elif codec:  # trusted: charset_normalizer misreads half of the short texts in the tests
            return body.decode(codec, "replace")
    return body.decode("cp1252", "replace")


def _find_codec(label: str) -> str:
    try:
        name = codecs.lookup(label).name if label else ""
    except (LookupError, ValueError):
        return ""
    if name in _READ_AS_CP1252:
        return "cp1252"
    return name if _CHARSETS.fullmatch(name) else ""


def _decode_utf8(body: bytes) -> str | None:
    """Decode as UTF-8, tolerating a few broken or cut-off characters (less than 1 %); None if it is another encoding."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        text = body.decode("utf-8", "replace")
        return text if text.count("\ufffd") * 100 < len(text) else None


def remove_links(text: str) -> str:
    """Replace links by their text, and bare addresses by the name of their site."""
    return _BARE_LINK.sub(lambda link: link[1] or "", _MARKDOWN_LINK.sub(r"\1", text))


def one_line(text: str, max_characters: int) -> str:
    """Return the cleaned text in one line of at most `max_characters`."""
    line = " ".join(remove_links(sanitized(text)).split())
    return line if len(line) <= max_characters else line[: max_characters - 1].rstrip() + "…"


async def extract_text(body: bytes, kind: str, charset: str, seconds: float = SECONDS) -> ExtractedText:
    """Return title and main text of a page, or the description in its head. Runs in a thread for at most `seconds` per step."""
    head, text = ExtractedText("", "", is_description=True), ""
    with suppress(TimeoutError):
        if kind == "text/plain":
            return ExtractedText("", await run_in_bounded_thread(lambda: _plain_text(decode_body(body, charset)), seconds))
        source, head = await run_in_bounded_thread(lambda: _decode_page(body, charset), seconds)
        text = await run_in_bounded_thread(lambda: _plain_text(main_text(source)), seconds)
    # A shorter text is most likely the menu of a page without text.
    return ExtractedText(head.title, text) if text and len(text) >= len(head.text) else head


def _decode_page(body: bytes, charset: str) -> tuple[str, ExtractedText]:
    source = _DECLARATION.sub("", decode_body(body, charset).replace("\0", ""))
    return source, parse_head(source)


def _plain_text(text: str) -> str:
    return remove_links(sanitized(text[:MAX_TEXT_LENGTH]))


def main_text(source: str) -> str:
    """Return the main text of a page; empty if none is found. Blocking."""
    import trafilatura  # noqa: PLC0415 - takes a second, and most users never read a page

    try:
        text = trafilatura.extract(source, include_comments=False, include_links=False, include_images=False)
    except Exception:  # the library may raise anything on a malformed page
        return ""
    return text or ""


def parse_head(source: str) -> ExtractedText:
    """Return title and description from the head of a page. Blocking."""
    import trafilatura  # noqa: PLC0415 - as above

    for name in ("trafilatura", "htmldate", "courlan", "justext"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # a page without text is no problem of the program
    title, meta = "", dict[str, str]()
    with suppress(Exception):  # as above
        page = trafilatura.load_html(source[:MAX_HEAD_LENGTH])
        if page is not None:
            title = str(page.findtext(".//title") or "")
            for element in page.iter("meta"):
                meta.setdefault((element.get("name") or element.get("property") or "").lower(), element.get("content") or "")
    description = meta.get("description") or meta.get("og:description") or ""
    return ExtractedText(one_line(meta.get("og:title") or title, 200), one_line(description, 500), is_description=True)


async def truncate_to_tokens(text: str, max_tokens: int, count_tokens: CountTokens) -> tuple[str, bool]:
    """Return the beginning of `text` with at most `max_tokens` tokens, ending with a whole paragraph or sentence if possible.

    The second value tells whether anything was cut.
    """
    (tokens,) = await count_tokens([text])
    if tokens <= max_tokens:
        return text, False
    beginning, tokens_left = "", max_tokens
    for paragraph in text.split("\n"):
        (tokens,) = await count_tokens([paragraph + "\n"])
        if tokens > tokens_left:
            beginning += await _fit_beginning(paragraph, tokens_left, count_tokens)
            break
        beginning, tokens_left = f"{beginning}{paragraph}\n", tokens_left - tokens
    return beginning.strip(), True


async def _fit_beginning(paragraph: str, max_tokens: int, count_tokens: CountTokens) -> str:
    """Return as many whole sentences as fit, or whole words if not even one sentence fits."""
    for parts in (_SENTENCE.split(paragraph), paragraph.split(" ")):
        kept = 0
        low, high = 0, len(parts)
        while low < high:
            middle = (low + high + 1) // 2
            (tokens,) = await count_tokens([" ".join(parts[:middle])])
            low, high = (middle, high) if tokens <= max_tokens else (low, middle - 1)
        kept = low
        if kept:
            return " ".join(parts[:kept])
    return ""
