"""Runs a tool, or asks what it would do, so that no tool that never ends or breaks keeps a reply from coming."""

from __future__ import annotations

import asyncio
import logging

from lethe_app.domain.tools import Occasion, Told, Tool, ToolCall
from lethe_app.errors import LetheError
from lethe_app.services.tool_arguments import understood

LOG = logging.getLogger(__name__)


async def carried_out(tool: Tool, call: ToolCall, occasion: Occasion) -> Told:
    """Raises whatever the tool raises, ValidationError for its arguments, and LetheError where it does not come to an end."""
    arguments = understood(tool.arguments, call.arguments)
    try:
        async with asyncio.timeout(tool.seconds) as alarm:
            told = await tool.run(occasion, arguments)
    except TimeoutError as problem:
        if alarm.expired():
            raise LetheError(f"It took longer than {tool.seconds:g} seconds and was given up.") from problem
        raise
    if not isinstance(told, Told):
        raise TypeError("a tool returns what is to be told")
    return told


async def at_stake(tool: Tool, call: ToolCall, occasion: Occasion) -> str:
    """What the user is told beside the arguments. Raises ValidationError and LetheError where the tool would fail."""
    wish = understood(tool.arguments, call.arguments)
    if tool.about is None:
        return ""
    try:
        async with asyncio.timeout(tool.seconds):
            return str(await tool.about(occasion, wish))
    except LetheError:
        raise
    except Exception:  # the code of a plug-in may raise anything; then the arguments say what is wanted
        LOG.info("the tool %s could not tell what is at stake", tool.name, exc_info=True)
        return ""
