"""Tells the voices of a paragraph apart: narration, *actions* and “speech”, each with its weight, its code and its links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from urllib.parse import urlsplit

from markdown_it.token import Token

LINE_BREAK = "\u2028"
"""A line break inside a paragraph, as text documents know it."""


REACH = 1_000
"""Characters in which the end of a quotation is looked for."""


MARKS_OF_SPEECH = 800
"""Quotation marks of one paragraph up to which speech is told from narration."""


class Voice(Enum):
    """Who or what is heard in a span of a roleplay."""

    NARRATION = "narration"
    ACTION = "action"
    SPEECH = "speech"


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text that looks the same throughout."""

    text: str
    voice: Voice = Voice.NARRATION
    italic: bool = False
    bold: bool = False
    struck: bool = False
    code: bool = False
    href: str = ""

    def looks_like(self, other: Span) -> bool:
        return (self.voice, self.italic, self.bold, self.struck, self.code, self.href) == (
            other.voice, other.italic, other.bold, other.struck, other.code, other.href,
        )  # fmt: skip


_ADDRESS = re.compile(r"https?://[^\s<>\"“”]+[^\s<>\"“”.,;:!?)\]'*]")
_QUOTE_MARKS = re.compile(r'["“”„«»「」\u2028]')
_CLOSERS = {'"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "「": "」"}


def is_safe_link(address: str) -> bool:
    """Whether the address may be opened outside: the web and mail only."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return bool(parts.scheme in {"http", "https"} and parts.netloc) or (parts.scheme == "mailto" and bool(parts.path))


def plain_spans(text: str) -> tuple[Span, ...]:
    """Text without any formatting, as a paragraph."""
    return (Span(text.replace("\n", LINE_BREAK)),) if text else ()


def spans_of(children: Iterable[Token]) -> tuple[Span, ...]:
    """The spans of one paragraph, from what the Markdown parser found in it."""
    spans = _merged(_styled(children))
    if 0 < sum(len(_QUOTE_MARKS.findall(span.text)) for span in spans) <= MARKS_OF_SPEECH:
        spans = _merged(_with_speech(spans))
    return tuple(spans)


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Neighbours that look the same become one."""
    merged: list[Span] = []
    for span in spans:
        if merged and merged[-1].looks_like(span):
            merged[-1] = replace(span, text=merged[-1].text + span.text)
        elif span.text:
            merged.append(span)
    return merged


def _styled(children: Iterable[Token]) -> Iterator[Span]:
    style = Span("")
    emphasis = 0
    for token in children:
        match token.type:
            case "text" | "text_special":
                yield from _with_addresses(replace(style, text=token.content))
            case "softbreak" | "hardbreak":
                yield replace(style, text=LINE_BREAK, href="")
            case "em_open" | "em_close":
                emphasis += token.nesting
                style = replace(style, italic=emphasis > 0, voice=Voice.ACTION if emphasis else Voice.NARRATION)
            case "image":
                yield from _image(style, token)
            case "code_inline":
                yield replace(style, text=token.content, code=True)
            case _:
                style = _restyled(style, token)


def _restyled(style: Span, token: Token) -> Span:
    """The look from a token that opens or closes one."""
    match token.type:
        case "strong_open" | "strong_close":
            return replace(style, bold=token.nesting > 0)
        case "s_open" | "s_close":
            return replace(style, struck=token.nesting > 0)
        case "link_open":
            address = str(token.attrs.get("href", ""))
            return replace(style, href=address if is_safe_link(address) else "")
        case "link_close":
            return replace(style, href="")
        case _:
            return style


def _image(style: Span, token: Token) -> Iterator[Span]:
    """A picture is never loaded: its description and its address stand for it."""
    address = str(token.attrs.get("src", ""))
    if token.content:
        yield replace(style, text=token.content + " ")
    yield replace(style, text=address, href=address if is_safe_link(address) else "")


def _with_addresses(span: Span) -> Iterator[Span]:
    """Web addresses standing in the text become links."""
    if span.href or "://" not in span.text:
        yield span
        return
    end = 0
    for found in _ADDRESS.finditer(span.text):
        yield replace(span, text=span.text[end : found.start()])
        address = found.group()
        yield replace(span, text=address, href=address if is_safe_link(address) else "")
        end = found.end()
    yield replace(span, text=span.text[end:])


def _with_speech(spans: list[Span]) -> Iterator[Span]:
    """Marks what stands between quotation marks as speech. One that is never closed ends with its line, or where an action
    begins: the closing mark may be yet to come, or forgotten.
    """
    closers, is_closed, before = "", False, ""
    for number, span in enumerate(spans):
        if span.code:
            yield span
            before = span.text[-1:]
            continue
        if closers and not is_closed and span.voice is Voice.ACTION:
            closers = ""
        start = 0
        for found in _QUOTE_MARKS.finditer(span.text):
            at, mark = found.start(), found.group()
            if closers and (mark == LINE_BREAK or mark in closers):
                end = at if mark == LINE_BREAK else at + 1
                yield replace(span, text=span.text[start:end], voice=Voice.SPEECH)
                start, closers = end, ""
            elif not closers and mark in _CLOSERS and not (span.text[at - 1] if at else before).isalnum():
                yield replace(span, text=span.text[start:at])
                start, closers = at, _CLOSERS[mark]
                is_closed = _is_closed(closers, span.text[at + 1 : at + REACH], spans[number + 1 : number + 40])
        yield replace(span, text=span.text[start:], voice=Voice.SPEECH if closers else span.voice)
        before = span.text[-1:]


def _is_closed(closers: str, rest: str, later: list[Span]) -> bool:
    """Whether a quotation ends on its own line."""
    for text in (rest, *(span.text for span in later if not span.code)):
        line, broken, _ = text.partition(LINE_BREAK)
        if any(closer in line for closer in closers):
            return True
        if broken:
            return False
    return False
