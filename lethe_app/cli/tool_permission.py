"""Permission requests of tools in the terminal; denied if there is no interactive input."""

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
    """Ask for permission. `lines` is the interactive input, None if the messages were given on the command line."""
    given = question.about or ", ".join(f"{name}: {value}" for name, value in question.call.arguments.items())
    wish = f"{question.who} would like to {question.title}{f' ({given})' if given else ''}."
    if lines is None:
        print(f"\n[{wish} Declined, because there is no interactive input.]", flush=True)
        return PermissionAnswer.NOT_NOW
    print(f"\n[{wish} y: allow · a: always allow in this conversation · anything else: decline]\n? ", end="", flush=True)
    line = await lines.next()
    return ANSWERS.get((line or "").strip().casefold(), PermissionAnswer.NOT_NOW)
