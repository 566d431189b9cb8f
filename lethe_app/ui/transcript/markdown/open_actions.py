"""Close an *action* at the end of an unfinished text, so that it is shown as an action while it is generated."""

from __future__ import annotations

import re

from markdown_it.token import Token

from lethe_app.ui.transcript.markdown.parser import parse_inline

_ACTION_START = re.compile(r"(?:^|\s)\*(?![\s*])")
_CLOSERS = ("*", "**", "***")
"""Missing closing marks to try: that of the action, alone or together with that of bold text inside it."""


def close_open_action(tokens: list[Token]) -> list[Token]:
    """Return the tokens of an unfinished text with an action that is open in its last paragraph closed."""
    index = _find_last_paragraph(tokens)
    if index is None:
        return tokens
    paragraph = tokens[index]
    children = _parse_closed(paragraph.content.rstrip()) if _has_stray_mark(paragraph) else None
    return tokens if children is None else [*tokens[:index], paragraph.copy(children=children), *tokens[index + 1 :]]


def _find_last_paragraph(tokens: list[Token]) -> int | None:
    """Return the index of the inline token of the paragraph at the end of the text; None if the text ends with something
    else.
    """
    index = len(tokens) - 1
    while index > 0 and tokens[index].nesting < 0:
        index -= 1
    return index if index > 0 and tokens[index].type == "inline" and tokens[index - 1].type == "paragraph_open" else None


def _has_stray_mark(paragraph: Token) -> bool:
    has_stray_asterisk = any(child.type == "text" and "*" in child.content for child in paragraph.children or [])
    return has_stray_asterisk and _ACTION_START.search(paragraph.content) is not None


def _parse_closed(content: str) -> list[Token] | None:
    for closer in _CLOSERS:
        children = [child for child in parse_inline(content + closer) if child.type != "text" or child.content]
        if _ends_in_action(children):
            return children
    return None


def _ends_in_action(children: list[Token]) -> bool:
    """Return whether the last element is an action that was opened by `*` at the start or after white space.

    An action inside it would mean that the first mark was a slip, and that the text after the inner one is no action.
    """
    if not children or children[-1].type != "em_close" or children[-1].markup != "*":
        return False
    level = children[-1].level
    start = next(at for at in range(len(children) - 2, -1, -1) if (children[at].type, children[at].level) == ("em_open", level))
    if any(child.type == "em_open" and child.markup == "*" for child in children[start + 1 :]):
        return False
    previous_token = children[start - 1] if start else None
    return previous_token is None or previous_token.type in {"softbreak", "hardbreak"} or previous_token.content[-1:].isspace()
