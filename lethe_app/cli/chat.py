"""`lethe chat`: chat with a persona in the terminal, through the same services as the window."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lethe_app.domain.chat import ChatSession, Message
from lethe_app.domain.persona import Persona
from lethe_app.domain.tools import PermissionAnswer
from lethe_app.errors import FileError, LetheError
from lethe_app.services.events import (
    ModelLoading,
    ModelState,
    ReplyFinished,
    ReplyText,
    ToolPermissionRequested,
    ToolUsed,
    TurnEvent,
)

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices

HELP = "/new starts a new conversation · /again regenerates the reply · /quit exits · Ctrl+C stops a reply"
PERMISSION_ANSWERS = {
    "y": PermissionAnswer.ALLOW,
    "yes": PermissionAnswer.ALLOW,
    "a": PermissionAnswer.ALWAYS,
    "always": PermissionAnswer.ALWAYS,
}


async def run_chat_session(services: AppServices, options: argparse.Namespace) -> int:
    """Run `lethe chat`: send the messages of `--say` and exit, or chat until the user leaves."""
    persona = await choose_persona(services, options.persona)
    session = await (services.sessions.new if options.new else services.sessions.resume)(persona.unique_name)
    await load_model(services, options.model)
    chat = TerminalChat(services, persona, session, as_json=options.json)
    if options.say:
        for text in options.say:
            await chat.send_message(text)
        return 0
    return await chat.run_interactive()


async def choose_persona(services: AppServices, requested: str | None) -> Persona:
    """Return a persona by name or file name, ignoring case; without `requested` the last one used, else the first. Raise
    LetheError if there is none.
    """
    personas = await services.library.personas()
    if not personas:
        raise LetheError("There is no persona to talk to.", "Put a persona file into the “personas” folder.")
    wanted_name = (requested or services.preferences.current.last_persona).casefold()
    for persona in personas:
        if wanted_name and wanted_name in {persona.name.casefold(), persona.unique_name.casefold()}:
            return persona
    if requested:
        names = ", ".join(persona.name for persona in personas)
        raise LetheError(f"There is no persona called “{requested}”.", f"Available personas: {names}.")
    return personas[0]


async def choose_world(services: AppServices, requested: str) -> tuple[str, str]:
    """Return file name and name of a world that is requested by either, ignoring case. Raise FileError if there is none."""
    worlds, wanted = await services.library.worlds(), requested.casefold()
    found = next((stem for stem, world in worlds.items() if wanted in (stem.casefold(), world.name.casefold())), None)
    if found is None:
        raise FileError(requested, "is not a world", remedy=f"There are: {', '.join(worlds)}.")
    return found, worlds[found].name


async def load_model(services: AppServices, path: Path | None) -> None:
    """Load a model, with progress in one line; without `path` the last one chosen. Raise ModelError."""

    def print_loading(state: ModelState) -> None:
        text = f"Loading {state.name} … {state.fraction:.0%}" if isinstance(state, ModelLoading) else ""
        print_line(text, is_temporary=True)

    unsubscribe = services.models.changed.add(print_loading)
    try:
        await services.models.load(path)
    finally:
        unsubscribe()


def print_line(text: str, *, is_temporary: bool = False) -> None:
    """Print a line about what is being done. A temporary one replaces the one before, and is printed in a terminal only."""
    if not is_temporary:
        print(text, file=sys.stderr, flush=True)
    elif sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def build_progress_printer(label: str, *, quiet: bool) -> Callable[[float], None]:
    """Return a callback that prints progress in one line, unless `quiet`."""

    def print_progress(fraction: float) -> None:
        if not quiet:
            print_line(f"{label} … {fraction:.0%}" if fraction < 1 else "", is_temporary=True)

    return print_progress


def print_json(value: object) -> None:
    """Print a value as one line of JSON."""
    print(json.dumps(value, ensure_ascii=False), flush=True)


class TypedLines:
    """Queue of typed lines. `read_line` returns one line after the other and None once the input has ended.

    Neither `input` nor `sys.stdin` is used: a thread that blocks in them keeps the program from ending until Enter is
    pressed.
    """

    def __init__(self) -> None:
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), daemon=True, name="typed-lines").start()

    async def read_line(self) -> str | None:
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)
        return line

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        """Pass every line to the event loop, then None. Runs in a thread that does not delay the exit of the program."""
        encoding = sys.stdin.encoding or "utf-8"
        with suppress(RuntimeError):  # the loop is closed: nobody waits for a line
            with suppress(OSError), open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as source:
                for line in source:
                    loop.call_soon_threadsafe(self._lines.put_nowait, line.decode(encoding, "replace"))
            loop.call_soon_threadsafe(self._lines.put_nowait, None)


class TerminalChat:
    """Session in the terminal."""

    def __init__(self, services: AppServices, persona: Persona, session: ChatSession, *, as_json: bool) -> None:
        self._services = services
        self._persona = persona
        self._session = session
        self._as_json = as_json
        self._lines: TypedLines | None = None
        if not as_json:
            services.forgetting.changed.add(lambda forgotten: print(f"[forgotten: {forgotten.what}]", flush=True))

    async def send_message(self, text: str) -> None:
        """Send one message and print the reply."""
        if not self._as_json:
            print(f"\n> {text}" if text else "", flush=True)
        await self._print_turn(self._services.chat.send(self._session.guid, text), text)

    async def run_interactive(self) -> int:
        """Read lines until the end of the input or /quit."""
        print(f"{self._persona.name}: {self._persona.tagline}\n{HELP}")
        await self._show_recent()
        lines = self._lines = TypedLines()
        while True:
            print("\n> ", end="", flush=True)
            line = await lines.read_line()
            if line is None or line.strip() == "/quit":
                return 0
            await self._handle_line(line.strip())

    async def _handle_line(self, line: str) -> None:
        try:
            if line == "/new":
                self._session = await self._services.sessions.new(self._persona.unique_name)
                await self._show_recent()
            elif line == "/again":
                if newest := await self._load_newest(1):
                    turn = self._services.chat.regenerate(self._session.guid, newest[0].id)
                    await self._print_turn_interruptibly(turn, "")
            elif line.startswith("/"):
                print(HELP)
            else:
                await self._print_turn_interruptibly(self._services.chat.send(self._session.guid, line), line)
        except LetheError as error:
            print(f"\n[{error}]", file=sys.stderr)

    async def _load_newest(self, count: int) -> Sequence[Message]:
        total = len(await self._services.sessions.outline(self._session.guid))
        return await self._services.sessions.page(self._session.guid, max(0, total - count), count)

    async def _show_recent(self) -> None:
        """Print the last messages of the session."""
        for message in await self._load_newest(6):
            if not message.hidden:
                print(f"\n{message.speaker_name}: {message.content}")

    async def _print_turn_interruptibly(self, turn: AsyncGenerator[TurnEvent], text: str) -> None:
        """Print the events of a turn; Ctrl+C stops the reply instead of the program."""
        task = asyncio.ensure_future(self._print_turn(turn, text))
        loop = asyncio.get_running_loop()
        previous_handler = signal.getsignal(signal.SIGINT)
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
            signal.signal(signal.SIGINT, previous_handler)

    async def _print_turn(self, turn: AsyncGenerator[TurnEvent], text: str) -> None:
        async with aclosing(turn) as events:
            async for event in events:
                if isinstance(event, ReplyText) and not self._as_json:
                    print(event.text, end="", flush=True)
                elif isinstance(event, ToolPermissionRequested):
                    event.decide(PermissionAnswer.NOT_NOW if self._as_json else await ask_permission(event, self._lines))
                elif isinstance(event, ToolUsed) and not self._as_json:
                    print(f"[{event.result.shown}]", flush=True)
                elif isinstance(event, ReplyFinished):
                    self._print_result(event, text)

    def _print_result(self, event: ReplyFinished, text: str) -> None:
        if not self._as_json:
            print(flush=True)
            return
        usage = event.usage
        output = {
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
        print(json.dumps(output), flush=True)


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
    return PERMISSION_ANSWERS.get((line or "").strip().casefold(), PermissionAnswer.NOT_NOW)
