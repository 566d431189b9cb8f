"""Convert the inline tokens of a paragraph into spans of uniform style: narration or *action*, weight, code and links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from urllib.parse import unquote, urlsplit

from markdown_it.token import Token

from lethe_app.ui.transcript.markdown.highlighting import CodeKind

LINE_BREAK = "\u2028"
"""Line break inside a paragraph of a QTextDocument (U+2028)."""


class TextKind(Enum):
    """Kind of text in a roleplay, which decides its colour."""

    NARRATION = "narration"
    ACTION = "action"
    SPEECH = "speech"


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Run of text in one style."""

    text: str
    text_kind: TextKind = TextKind.NARRATION
    italic: bool = False
    bold: bool = False
    strikethrough: bool = False
    code: bool = False
    code_kind: CodeKind = CodeKind.PLAIN
    href: str = ""
    """Address of a link that may be opened; empty if the span is no link."""

    def has_same_style(self, other: TextSpan) -> bool:
        """Return whether another span has the same style."""
        return (self.text_kind, self.italic, self.bold, self.strikethrough, self.code, self.href) == (
            other.text_kind, other.italic, other.bold, other.strikethrough, other.code, other.href,
        )  # fmt: skip


_ADDRESS = re.compile(r"https?://[^\s<>\"“”]+[^\s<>\"“”.,;:!?)\]'*]")
"""Bare web address. Punctuation at its end belongs to the sentence."""


def is_safe_link(address: str) -> bool:
    """Return whether an address may be opened in another program: http, https and mailto only."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return bool(parts.scheme in {"http", "https"} and parts.netloc) or (parts.scheme == "mailto" and bool(parts.path))


def create_plain_spans(text: str) -> tuple[TextSpan, ...]:
    """Return a text as one span without style; empty for an empty text."""
    return (TextSpan(text.replace("\n", LINE_BREAK)),) if text else ()


def convert_tokens(children: Iterable[Token]) -> tuple[TextSpan, ...]:
    """Convert inline tokens to spans; speech is not detected yet."""
    return tuple(merge_spans(_iter_styled_spans(children)))


def merge_spans(spans: Iterable[TextSpan]) -> list[TextSpan]:
    """Merge neighbouring spans of the same style, and drop empty ones."""
    result: list[TextSpan] = []
    for span in spans:
        if result and result[-1].has_same_style(span):
            result[-1] = replace(span, text=result[-1].text + span.text)
        elif span.text:
            result.append(span)
    return result


def _iter_styled_spans(children: Iterable[Token]) -> Iterator[TextSpan]:
    style = TextSpan("")
    emphasis = 0
    links: list[_Link] = []
    previous_type = ""
    for token in children:
        match token.type:
            case "link_open":
                links.append(_Link(token))
                style = replace(style, href=links[-1].safe_address)
                yield replace(style, text=links[-1].prefix)
            case "link_close":
                yield replace(style, text=links[-1].build_suffix(is_empty=previous_type == "link_open"))
                links.pop()
                style = replace(style, href="")
            case "text" | "text_special":
                yield from _split_at_addresses(replace(style, text=token.content))
            case "softbreak" | "hardbreak":
                yield replace(style, text=LINE_BREAK, href="")
            case "em_open" | "em_close":
                emphasis += token.nesting
                style = replace(style, italic=emphasis > 0, text_kind=TextKind.ACTION if emphasis else TextKind.NARRATION)
            case "image":
                yield from _iter_image_spans(style, token)
            case "code_inline":
                yield replace(style, text=token.content, code=True)
            case _:
                style = _update_style(style, token)
        previous_type = token.type


def _update_style(style: TextSpan, token: Token) -> TextSpan:
    """Return the style after a token that opens or closes bold or strikethrough text."""
    match token.type:
        case "strong_open" | "strong_close":
            return replace(style, bold=token.nesting > 0)
        case "s_open" | "s_close":
            return replace(style, strikethrough=token.nesting > 0)
        case _:
            return style


class _Link:
    """Link of a message. One that is not safe is shown as its Markdown, one without text by its address."""

    def __init__(self, token: Token) -> None:
        self._address, self._title = str(token.attrs.get("href", "")), str(token.attrs.get("title", ""))
        self.safe_address = self._address if is_safe_link(self._address) else ""
        self.prefix = "" if self.safe_address else "["

    def build_suffix(self, *, is_empty: bool) -> str:
        suffix = (self._address if is_empty else "") if self.safe_address else f"]({unquote(self._address)})"
        return suffix + _format_title(self._title)


def _format_title(title: str) -> str:
    return f" ({title})" if title else ""


def _iter_image_spans(style: TextSpan, token: Token) -> Iterator[TextSpan]:
    """Yield description and address of an image; images are never loaded."""
    address, title = str(token.attrs.get("src", "")), str(token.attrs.get("title", ""))
    if token.content:
        yield replace(style, text=token.content + " ")
    yield replace(style, text=address if address or token.content else "![]()", href=address if is_safe_link(address) else "")
    yield replace(style, text=_format_title(title))


def _split_at_addresses(span: TextSpan) -> Iterator[TextSpan]:
    """Split a span at bare web addresses, which become links."""
    if span.href or "://" not in span.text:
        yield span
        return
    end = 0
    for match in _ADDRESS.finditer(span.text):
        yield replace(span, text=span.text[end : match.start()])
        address = match.group()
        yield replace(span, text=address, href=address if is_safe_link(address) else "")
        end = match.end()
    yield replace(span, text=span.text[end:])
