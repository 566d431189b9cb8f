"""`lethe archive`: archive sessions in the terminal, with progress."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from lethe_app.cli.chat import choose_persona, show_loading
from lethe_app.domain.chat import ChatSession, PartRecord, SessionPart
from lethe_app.errors import ModelError
from lethe_app.services.sessions.archive_queue import Archived

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices


async def archive(services: AppServices, wanted: argparse.Namespace) -> int:
    """Run `lethe archive`: end open sessions, make title, summary, facts and the other parts, and print the results."""
    persona = await choose_persona(services, wanted.persona)
    if not wanted.rules:
        await load(services, wanted)
    forget = services.archiving.changed.add(tell) if sys.stderr.isatty() and not wanted.json else None
    await services.embedding.ready()
    await services.indexing.catch_up()
    done = []
    for summary in await services.sessions.list(persona.unique_name):
        if summary.archived and not wanted.again:
            continue
        begin = services.archiving.update if summary.archived else services.archiving.archive_session
        if await begin(summary.guid):
            done.append(summary.guid)
    await services.archiving.finish()
    await services.indexing.catch_up()
    if forget:
        forget()
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    facts = await services.knowing.all(persona.unique_name)
    for guid in done:
        session, parts = await services.sessions.open(guid), await services.archiving.parts(guid)
        known = [fact.fact for fact in facts if guid in fact.source_memories and not fact.superseded]
        print(as_object(session, parts, known) if wanted.json else as_lines(session, parts, known), flush=True)
    if not done and not wanted.json:
        print(f"There is nothing to archive for {persona.name}.")
    return 0


async def load(services: AppServices, wanted: argparse.Namespace) -> None:
    """Load and qualify a model. If that fails, print the error and continue, because the rules alone can archive too."""
    forget = services.models.changed.add(show_loading) if sys.stderr.isatty() else None
    try:
        await services.models.load(wanted.model and wanted.model.expanduser().absolute())
        if not wanted.json:
            print("Testing the model…", file=sys.stderr, flush=True)
        verdict = await services.trust.check()
        if verdict is not None and not wanted.json:
            print(f"{verdict.model}: {verdict.detail}", file=sys.stderr, flush=True)
    except ModelError as error:
        print(f"lethe: {error.message} Archiving continues with rules only.", file=sys.stderr)
    finally:
        if forget:
            forget()


def tell(progress: Archived) -> None:
    """Print the progress in one line."""
    if progress.part is not None:
        words = f"{progress.title or 'A conversation'}: {progress.part.value} ({progress.done + 1} of {progress.total})"
        print(f"\r\033[K{words}", end="", file=sys.stderr, flush=True)


def as_lines(session: ChatSession, parts: dict[SessionPart, PartRecord], facts: list[str]) -> str:
    """Format the session for people, with the author of each part."""
    lines = [f"\n{session.name or 'Untitled'} · {session.added:%d %B %Y} · relevance {session.relevance} of 5"]
    lines += [f"  {line}" for line in session.content.splitlines()]
    lines.append(f"  Keywords: {', '.join(session.keywords_main) or 'none'}")
    lines += [f"  Planned: {goal}" for goal in session.future_goals]
    lines += [f"  Fact: {fact}" for fact in facts]
    if session.is_roleplay:
        lines.append("  Mostly roleplay.")
    lines.append("  Made by: " + ", ".join(f"{part.value} {by(record)}" for part, record in parts.items()))
    return "\n".join(lines)


def by(record: PartRecord) -> str:
    """Return the author of a part, and why the model failed where it was asked."""
    maker = record.maker or record.made_by.value
    return f"{maker} ({record.trouble})" if record.trouble else maker


def as_object(session: ChatSession, parts: dict[SessionPart, PartRecord], facts: list[str]) -> str:
    """Format the session as JSON."""
    told = {
        "session": str(session.guid),
        "title": session.name,
        "summary": session.content,
        "keywords": session.keywords_main,
        "future_goals": session.future_goals,
        "relevance": session.relevance,
        "is_roleplay": session.is_roleplay,
        "facts": facts,
        "parts": {
            part.value: {"state": record.state.value, "made_by": record.made_by.value, "maker": record.maker}
            for part, record in parts.items()
        },
    }
    return json.dumps(told, ensure_ascii=False)
