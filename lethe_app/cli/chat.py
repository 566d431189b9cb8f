"""`lethe chat`: chat with a persona in the terminal, through the same services as the window."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

from lethe_app.cli.stdin import TypedLines
from lethe_app.cli.tool_permission import permission
from lethe_app.domain.chat import ChatSession, Message
from lethe_app.domain.persona import Persona
from lethe_app.domain.tools import PermissionAnswer
from lethe_app.errors import LetheError
from lethe_app.services.events import AskTool, Finished, Loading, ModelState, ReplyText, ToolUsed, TurnEvent

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices

HELP = "/new starts a new conversation · /again regenerates the reply · /quit exits · Ctrl+C stops a reply"


async def converse(services: AppServices, wanted: argparse.Namespace) -> int:
    """Run `lethe chat`: send the messages of `--say` and exit, or chat until the user leaves."""
    persona = await choose_persona(services, wanted.persona)
    session = await (services.sessions.new if wanted.new else services.sessions.resume)(persona.unique_name)
    forget = services.models.changed.add(show_loading) if sys.stderr.isatty() else None
    try:
        await services.models.load(wanted.model and wanted.model.expanduser().absolute())
    finally:
        if forget:
            forget()
    talk = TerminalChat(services, persona, session, as_json=wanted.json)
    if wanted.say:
        for text in wanted.say:
            await talk.say(text)
        return 0
    return await talk.interactively()


async def choose_persona(services: AppServices, wish: str | None) -> Persona:
    """Return a persona by name or file name, ignoring case; without `wish` the last one used, else the first. Raise
    LetheError if there is none.
    """
    personas = await services.library.personas()
    if not personas:
        raise LetheError("There is no persona to talk to.", "Put a persona file into the “personas” folder.")
    sought = (wish or services.preferences.current.last_persona).casefold()
    for persona in personas:
        if sought and sought in {persona.name.casefold(), persona.unique_name.casefold()}:
            return persona
    if wish:
        names = ", ".join(persona.name for persona in personas)
        raise LetheError(f"There is no persona called “{wish}”.", f"Available personas: {names}.")
    return personas[0]


def show_loading(state: ModelState) -> None:
    """Print the progress of loading the model in one line."""
    if isinstance(state, Loading):
        print(f"\rLoading {state.name} … {state.fraction:.0%}", end="", file=sys.stderr, flush=True)
    else:
        print("\r\033[K", end="", file=sys.stderr, flush=True)


class TerminalChat:
    """Session in the terminal."""

    def __init__(self, services: AppServices, persona: Persona, session: ChatSession, *, as_json: bool) -> None:
        self._services = services
        self._persona = persona
        self._session = session
        self._as_json = as_json
        self._lines: TypedLines | None = None

    async def say(self, text: str) -> None:
        """Send one message and print the reply."""
        if not self._as_json:
            print(f"\n> {text}" if text else "", flush=True)
        await self._play(self._services.chat.send(self._session.guid, text), text)

    async def interactively(self) -> int:
        """Read lines until the end of the input or /quit."""
        print(f"{self._persona.name}: {self._persona.tagline}\n{HELP}")
        await self._show_recent()
        lines = self._lines = TypedLines()
        while True:
            print("\n> ", end="", flush=True)
            line = await lines.next()
            if line is None or line.strip() == "/quit":
                return 0
            await self._obey(line.strip())

    async def _obey(self, line: str) -> None:
        try:
            if line == "/new":
                self._session = await self._services.sessions.new(self._persona.unique_name)
                await self._show_recent()
            elif line == "/again":
                await self._again()
            elif line.startswith("/"):
                print(HELP)
            else:
                await self._play_interruptibly(self._services.chat.send(self._session.guid, line), line)
        except LetheError as error:
            print(f"\n[{error}]", file=sys.stderr)

    async def _again(self) -> None:
        last = await self._newest()
        if last is not None:
            await self._play_interruptibly(self._services.chat.regenerate(self._session.guid, last.id), "")

    async def _newest(self) -> Message | None:
        count = len(await self._services.sessions.outline(self._session.guid))
        page = await self._services.sessions.page(self._session.guid, max(0, count - 1), 1)
        return page[0] if page else None

    async def _show_recent(self, lines: int = 6) -> None:
        """Print the last messages of the session."""
        count = len(await self._services.sessions.outline(self._session.guid))
        for message in await self._services.sessions.page(self._session.guid, max(0, count - lines), lines):
            if not message.hidden:
                print(f"\n{message.speaker_name}: {message.content}")

    async def _play_interruptibly(self, turn: AsyncGenerator[TurnEvent], text: str) -> None:
        """Print the events of a turn; Ctrl+C stops the reply instead of the program."""
        task = asyncio.ensure_future(self._play(turn, text))
        loop = asyncio.get_running_loop()
        otherwise = signal.getsignal(signal.SIGINT)
        with suppress(NotImplementedError):  # Windows has no signal handlers in the loop
            loop.add_signal_handler(signal.SIGINT, task.cancel)
        try:
            await task
        except asyncio.CancelledError:
            print(" …")
        finally:
            with suppress(NotImplementedError):
                loop.remove_signal_handler(signal.SIGINT)
            # `remove_signal_handler` restores Python's default, not the handler that was installed before.
            signal.signal(signal.SIGINT, otherwise)

    async def _play(self, turn: AsyncGenerator[TurnEvent], text: str) -> None:
        async with aclosing(turn) as events:
            async for event in events:
                if isinstance(event, ReplyText) and not self._as_json:
                    print(event.text, end="", flush=True)
                elif isinstance(event, AskTool):
                    event.decide(PermissionAnswer.NOT_NOW if self._as_json else await permission(event, self._lines))
                elif isinstance(event, ToolUsed) and not self._as_json:
                    print(f"[{event.result.shown}]", flush=True)
                elif isinstance(event, Finished):
                    self._conclude(event, text)

    def _conclude(self, event: Finished, text: str) -> None:
        if not self._as_json:
            print(flush=True)
            return
        usage = event.usage
        told = {
            "persona": self._persona.unique_name,
            "session": str(self._session.guid),
            "said": text,
            "reply": event.message.content,
            "thinking": event.message.thinking,
            "model": event.message.current.model,
            "prompt_tokens": usage.prompt_tokens,
            "evaluated_tokens": usage.evaluated_tokens,
            "reply_tokens": usage.reply_tokens,
            "tokens_per_second": round(usage.tokens_per_second, 1),
            "reason": usage.reason.value,
        }
        print(json.dumps(told), flush=True)
