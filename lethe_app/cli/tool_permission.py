"""Permission requests of tools in the terminal; denied if there is no interactive input."""

from __future__ import annotations

from lethe_app.cli.stdin import TypedLines
from lethe_app.domain.tools import PermissionAnswer
from lethe_app.services.events import ToolPermissionRequested

ANSWERS = {
    "y": PermissionAnswer.ALLOW,
    "yes": PermissionAnswer.ALLOW,
    "a": PermissionAnswer.ALWAYS,
    "always": PermissionAnswer.ALWAYS,
}


async def ask_permission(question: ToolPermissionRequested, lines: TypedLines | None) -> PermissionAnswer:
    """Ask for permission. `lines` is the interactive input, None if the messages were given on the command line."""
    details = question.details or ", ".join(f"{name}: {value}" for name, value in question.call.arguments.items())
    request_text = f"{question.persona_name} would like to {question.title}{f' ({details})' if details else ''}."
    if lines is None:
        print(f"\n[{request_text} Declined, because there is no interactive input.]", flush=True)
        return PermissionAnswer.NOT_NOW
    print(
        f"\n[{request_text} y: allow · a: always allow in this conversation · anything else: decline]\n? ", end="", flush=True
    )
    line = await lines.read_line()
    return ANSWERS.get((line or "").strip().casefold(), PermissionAnswer.NOT_NOW)
