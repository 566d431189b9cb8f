"""`lethe archive`: archive sessions in the terminal, with progress."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from lethe_app.cli.chat import choose_persona, load_model, print_json, print_line
from lethe_app.domain.chat import ChatSession, PartRecord, SessionPart
from lethe_app.errors import ModelError
from lethe_app.services.sessions.archive_queue import ArchiveProgress

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices


async def archive(services: AppServices, options: argparse.Namespace) -> int:
    """Run `lethe archive`: end open sessions, make title, summary, facts and the other parts, and print the results."""
    persona = await choose_persona(services, options.persona)
    if not options.rules:
        await qualify_model(services, options)
    unsubscribe = services.archive_queue.changed.add((lambda _: None) if options.json else print_progress)
    await services.embedding.ensure_loaded()
    await services.indexing.catch_up()
    archived_ids = []
    for summary in await services.sessions.list(persona.unique_name):
        if summary.archived and not options.again:
            continue
        start_archiving = services.archive_queue.update if summary.archived else services.archive_queue.archive_session
        if await start_archiving(summary.guid):
            archived_ids.append(summary.guid)
    await services.archive_queue.finish()
    await services.indexing.catch_up()
    unsubscribe()
    print_line("", is_temporary=True)  # removes the line of progress
    facts = await services.facts.facts_of(persona.unique_name)
    for guid in archived_ids:
        session, parts = await services.sessions.open(guid), await services.archive_queue.parts(guid)
        fact_texts = [fact.fact for fact in facts if guid in fact.source_memories and not fact.superseded]
        print_as = print_session_json if options.json else print_session
        print_as(session, parts, fact_texts)
    if not archived_ids and not options.json:
        print(f"There is nothing to archive for {persona.name}.")
    return 0


async def qualify_model(services: AppServices, options: argparse.Namespace) -> None:
    """Load and qualify a model. If that fails, print the error and continue, because the rules alone can archive too."""
    try:
        await load_model(services, options.model)
        if not options.json:
            print_line("Testing the model…")
        verdict = await services.qualification.check()
        if verdict is not None and not options.json:
            print_line(f"{verdict.model}: {verdict.detail}")
    except ModelError as error:
        print_line(f"lethe: {error.message} Archiving continues with rules only.")


def print_progress(progress: ArchiveProgress) -> None:
    """Print the progress in one line."""
    if progress.part is not None:
        line = f"{progress.title or 'A conversation'}: {progress.part.value} ({progress.done + 1} of {progress.total})"
        print_line(line, is_temporary=True)


def print_session(session: ChatSession, parts: dict[SessionPart, PartRecord], facts: list[str]) -> None:
    """Print the session for people, with the author of each part."""
    lines = [f"\n{session.name or 'Untitled'} · {session.added:%d %B %Y} · relevance {session.relevance} of 5"]
    lines += [f"  {line}" for line in session.content.splitlines()]
    lines.append(f"  Keywords: {', '.join(session.keywords_main) or 'none'}")
    lines += [f"  Planned: {goal}" for goal in session.future_goals]
    lines += [f"  Fact: {fact}" for fact in facts]
    if session.is_roleplay:
        lines.append("  Mostly roleplay.")
    makers = [
        f"{part.value} {record.maker or record.made_by.value}{f' ({record.trouble})' if record.trouble else ''}"
        for part, record in parts.items()
    ]
    print(*lines, f"  Made by: {', '.join(makers)}", sep="\n", flush=True)


def print_session_json(session: ChatSession, parts: dict[SessionPart, PartRecord], facts: list[str]) -> None:
    """Print the session as JSON."""
    fields = {
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
    print_json(fields)
