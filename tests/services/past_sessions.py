"""Conversations that were held already, models that may be trusted, and homes as they were at some moment."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

from lethe_app.app import build
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import Alternative, ChatSession, Message, PartState, Role, SessionPart
from lethe_app.domain.clock import now
from lethe_app.paths import Paths
from lethe_app.services.extraction.qualification import QualificationResult, key_of
from lethe_app.services.sessions.archive_parts import ORDER
from lethe_app.storage.chats.archive_jobs import ArchiveJobs
from lethe_app.storage.chats.sessions import SessionStore

NUTS = (
    "I am allergic to peanuts, so no satay for me.",
    "Noted. The cook will be told before supper.",
    "My sister Ines lives in Porto, and I want to visit her in May.",
    "Then we should look at the ferry timetable soon.",
    "I work as a carpenter at the old shipyard.",
    "That explains the sawdust on your sleeves.",
)
"""A talk between Tomas and Mira in which three things are said that last."""
ANSWERS: dict[SessionPart, object] = {
    SessionPart.SUMMARY: {
        "paragraphs": ["Tomas told Mira of his allergy, of his sister Ines in Porto and of his work as a carpenter."]
    },
    SessionPart.TITLE: {"title": "Peanuts and Porto"},
    SessionPart.KEYWORDS: {"keywords": ["peanuts", "Porto", "Ines", "carpenter"]},
    SessionPart.GOALS: {"goals": ["Tomas wants to visit Ines in May."]},
    SessionPart.RELEVANCE: {"relevance": 8},
    SessionPart.ROLEPLAY: {"is_roleplay": False},
}


def stated(
    line: int, quote: str, fact: str, *, about: str = "Tomas", kind: str = "other", changes: int = 0
) -> dict[str, object]:
    """One fact of a model's answer."""
    return {"line": line, "quote": quote, "about": about, "kind": kind, "fact": fact, "changes": changes}


def concluded(line: int, quote: str, conclusion: str) -> dict[str, object]:
    """One conclusion of a model's answer."""
    return {"line": line, "quote": quote, "conclusion": conclusion}


A_FACT = {"facts": [stated(1, "I am allergic to peanuts", "Tomas is allergic to peanuts.", kind="health")]}


def chats_of(services: AppServices) -> SessionStore:
    return services.session_store


async def hold(
    services: AppServices,
    *lines: str | tuple[Role, str],
    session: ChatSession | None = None,
    at: datetime | None = None,
    persona: str = "mira-test",
    user: str = "tomas",
    pause: timedelta = timedelta(minutes=1),
) -> ChatSession:
    """A conversation in which user and persona said these lines, in turn unless they have roles; or some more of one."""
    began = at or now()
    if session is None:
        session = await chats_of(services).add_session(ChatSession(persona_id=persona, user_id=user, added=began))
    speakers = {Role.USER: session.user_id or user, Role.ASSISTANT: session.persona_id}
    names = {speaker: (await services.library.persona(speaker)).name for speaker in speakers.values()}
    turns = [(list(speakers)[place % 2], line) if isinstance(line, str) else line for place, line in enumerate(lines)]
    said = [
        Message(
            session_id=session.guid,
            role=role,
            speaker=speakers[role],
            speaker_name=names[speakers[role]],
            time=began + place * pause,
            alternatives=[Alternative(content=text, created=began + place * pause)],
        )
        for place, (role, text) in enumerate(turns)
    ]
    if said:
        await chats_of(services).add_messages(said)
    return await services.sessions.open(session.guid)


async def archive(services: AppServices, session: ChatSession) -> None:
    """Archive a session to the end, as when nobody waits for anything."""
    assert await services.archive_queue.archive_session(session.guid)
    await services.archive_queue.finish()


def answers(parts: Sequence[SessionPart] = ORDER, **other: object) -> list[str]:
    """What a good model says when asked for these parts, in the order in which it is asked."""
    found: list[object] = []
    for part in sorted(parts, key=ORDER.index):
        if part.value in other:
            found += other[part.value] if isinstance(other[part.value], list) else [other[part.value]]
        else:
            found.append(A_FACT if part is SessionPart.FACTS else ANSWERS[part])
    return [text if isinstance(text, str) else json.dumps(text) for text in found]


async def trusted(services: AppServices, script: Path, *, name: str = "good", facts: bool = True, **fields: object) -> None:
    """Load a scripted model and believe it."""
    await load_script(services, script, name=name, **fields)
    qualify(services, facts=facts)


async def load_script(services: AppServices, script: Path, *, name: str = "good", **fields: object) -> None:
    """Load a scripted model."""
    path = script.with_name(f"{name}.json")
    texts = fields.pop("answers", [])
    assert isinstance(texts, list)
    fields["answers"] = [text if isinstance(text, str) else json.dumps(text) for text in texts]
    path.write_text(json.dumps(fields), encoding="utf-8")
    await services.models.load(path)


def qualify(services: AppServices, *, facts: bool = True) -> None:
    """Believe the loaded model, as if it had passed the self-test."""
    state = services.models.state
    services.qualification._known[key_of(state.model)] = QualificationResult(
        model=state.model.file.name, facts=1.0, may_write_facts=facts, may_write_summaries=True, checked=now(), detail=""
    )


async def again(services: AppServices) -> None:
    """What happens in the background when a model was loaded: what only rules have made is made anew."""
    verdict = services.qualification.verdict
    trusted_with = [
        part for part in SessionPart if (verdict.may_write_facts if part is SessionPart.FACTS else verdict.may_write_summaries)
    ]
    await ArchiveJobs(services.database).requeue_parts(trusted_with, verdict.model)
    await services.archive_queue.finish()


async def open_parts(services: AppServices, session: ChatSession) -> set[SessionPart]:
    return {
        part for part, record in (await services.archive_queue.parts(session.guid)).items() if record.state is PartState.PENDING
    }


async def archived_parts(services: AppServices, session: ChatSession) -> dict[str, object]:
    """What the archive knows of a session and of its facts, comparable between homes."""
    found = await services.sessions.open(session.guid)
    facts = await services.facts.facts_of(session.persona_id)
    return {
        "archived": found.archived,
        "texts": (found.name, found.content, found.keywords_main, found.future_goals, found.relevance, found.is_roleplay),
        "facts": sorted((fact.fact, fact.reference_count, fact.superseded, fact.made_by) for fact in facts),
        "parts": {
            part: (record.state, record.made_by) for part, record in (await services.archive_queue.parts(session.guid)).items()
        },
    }


async def copy_home(services: AppServices, to: Path) -> Path:
    """The home as it would be found if the program ended now."""

    def copy() -> None:
        to.mkdir(parents=True)
        for path in services.paths.home.glob("*"):
            if path.is_dir():
                shutil.copytree(path, to / path.name)
            elif "lock" not in path.name:
                shutil.copy(path, to / path.name)

    await services.database.run_outside_transaction(copy)
    return to


@asynccontextmanager
async def opened(home: Path) -> AsyncIterator[AppServices]:
    """Another start of the program, in this home."""
    services = await build(Paths.standard(home), engine="echo")
    try:
        yield services
    finally:
        await services.close()
