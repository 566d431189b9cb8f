"""Asks on the terminal whether a tool may be used; where nobody types, the answer is no."""

from __future__ import annotations

from lethe_app.cli.stdin import TypedLines
from lethe_app.domain.tools import PermissionAnswer
from lethe_app.services.events import AskTool

ANSWERS = {
    "y": PermissionAnswer.ALLOW,
    "yes": PermissionAnswer.ALLOW,
    "a": PermissionAnswer.ALWAYS,
    "always": PermissionAnswer.ALWAYS,
}


async def permission(question: AskTool, lines: TypedLines | None) -> PermissionAnswer:
    """`lines` is what is typed in a conversation, None where the words came with the command."""
    given = question.about or ", ".join(f"{name}: {value}" for name, value in question.call.arguments.items())
    wish = f"{question.who} would like to {question.title}{f' ({given})' if given else ''}."
    if lines is None:
        print(f"\n[{wish} Nobody is here to be asked, so not now.]", flush=True)
        return PermissionAnswer.NOT_NOW
    print(f"\n[{wish} y: allow · a: always in this conversation · anything else: not now]\n? ", end="", flush=True)
    line = await lines.next()
    return ANSWERS.get((line or "").strip().casefold(), PermissionAnswer.NOT_NOW)
