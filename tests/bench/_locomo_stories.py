"""Conversations in the public LoCoMo format as they come into storage: as given, or as the program itself reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID, uuid4

from lethe_app.brain.reading.extractor import extract_statements
from lethe_app.brain.summary import digest
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.passage import Passage
from lethe_app.retrieval import passage_builder
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.services.indexing.service import of_fact, of_session
from lethe_app.storage.chats.sessions import SessionStore

EVIDENCE = re.compile(r"D:?(\d+):0*(\d+)")
ADVERSARIAL = 5


@dataclass(frozen=True)
class Asked:
    """One question and where its answer is."""

    text: str
    category: int
    sessions: frozenset[UUID]
    turns: frozenset[UUID]


@dataclass
class Story:
    """One conversation as it came into storage."""

    name: str
    last: datetime
    speakers: tuple[str, str]
    turns: dict[str, tuple[UUID, UUID]] = field(default_factory=dict)
    """Dialog id → message and session."""
    questions: list[Asked] = field(default_factory=list)


async def ingest(recall: MemoryIndex, chats: SessionStore, sample: dict, *, own: bool = False) -> Story:
    """Everything said and known, as the program itself stores it; then the meaning of all of it.

    With `own` neither the observations nor the summaries of the file are read: what is known is what our rules take from the
    lines, as when a session is archived without a model.
    """
    story = begin(sample)
    for number in sessions_of(sample):
        await ingest_session(recall, chats, story, sample, number, own=own)
    await embed_all(recall)
    story.questions = [asked for item in sample["qa"] if (asked := question_of(item, story)).turns]
    return story


def begin(sample: dict) -> Story:
    """Return the story of a conversation of which nothing is stored yet."""
    talk = sample["conversation"]
    return Story(str(sample["sample_id"]), datetime.min.replace(tzinfo=UTC), (talk["speaker_a"], talk["speaker_b"]))


async def ingest_session(
    recall: MemoryIndex, chats: SessionStore, story: Story, sample: dict, number: int, *, own: bool
) -> UUID:
    """Store one session with its facts and summary; return its id."""
    owner, talk = story.name, sample["conversation"]
    began = moment_of(talk[f"session_{number}_date_time"])
    story.last = max(story.last, began)
    session = await chats.add_session(ChatSession(persona_id=owner, added=began))
    passages, lines = [], []
    for place, turn in enumerate(talk[f"session_{number}"]):
        role = Role.USER if turn["speaker"] == talk["speaker_a"] else Role.ASSISTANT
        told = Message(session_id=session.guid, role=role, speaker_name=turn["speaker"], time=began,
                       alternatives=[Alternative(content=turn["text"])])  # fmt: skip
        await chats.add_message(told)
        story.turns[turn["dia_id"]] = (told.id, session.guid)
        lines.append(Utterance(told.id, role, turn["speaker"], turn["text"], began))
        text = turn["text"] + (f" (shares a picture: {turn['blip_caption']})" if turn.get("blip_caption") else "")
        passages += passage_builder.message_passages(owner, session.guid, told.id, place, turn["speaker"], text, began)
    await recall.replace([], passages + (_told(session, lines) if own else _given(session, sample, number)))
    return session.guid


async def embed_all(recall: MemoryIndex) -> None:
    """Embed every passage that has no vector yet."""
    while await recall.embed_pending():
        pass


def sessions_of(sample: dict) -> list[int]:
    """The numbers of the sessions in which something is said."""
    talk = sample["conversation"]
    return sorted(int(found[1]) for key in talk if (found := re.fullmatch(r"session_(\d+)", key)) and talk[key])


def first_sessions(sample: dict, count: int) -> dict:
    """The conversation when it was young, with the questions that can be answered by then."""
    last = [*sessions_of(sample), 0][:count][-1]
    talk = {
        key: value
        for key, value in sample["conversation"].items()
        if not (found := re.match(r"session_(\d+)", key)) or int(found[1]) <= last
    }
    asked = [item for item in sample["qa"] if all(session <= last for session, _turn in places_of(item))]
    return {**sample, "conversation": talk, "qa": asked}


def question_of(item: dict, story: Story) -> Asked:
    """Evidence ids that name no turn are dropped, as in the format's own reading."""
    places = [f"D{session}:{turn}" for session, turn in places_of(item)]
    known = [story.turns[place] for place in places if place in story.turns]
    turns, sessions = frozenset(turn for turn, _ in known), frozenset(session for _, session in known)
    return Asked(str(item["question"]), int(item["category"]), sessions, turns)


def places_of(item: dict) -> list[tuple[int, int]]:
    """Session and turn of each piece of evidence."""
    return [(int(one), int(two)) for evidence in item["evidence"] for one, two in EVIDENCE.findall(str(evidence))]


def moment_of(text: str) -> datetime:
    """Such as “1:56 pm on 8 May, 2023”."""
    return datetime.strptime(text.upper(), "%I:%M %p ON %d %B, %Y").replace(tzinfo=UTC)


def _given(session: ChatSession, sample: dict, number: int) -> list[Passage]:
    """What the file says is known of a session, and what it came to."""
    owner, began = session.persona_id, session.added
    facts = [fact[0] for some in sample["observation"].get(f"session_{number}_observation", {}).values() for fact in some]
    passages = [
        passage for fact in facts for passage in passage_builder.fact_passages(owner, session.guid, uuid4(), fact, began)
    ]
    summary = sample["session_summary"].get(f"session_{number}_summary", "")
    return passages + passage_builder.summary_passages(owner, session.guid, summary, began)


def _told(session: ChatSession, lines: Sequence[Utterance]) -> list[Passage]:
    """The same by our rules, as the archive writes it."""
    made = digest.build_digest(lines)
    over = session.model_copy(update={"name": made.title, "content": made.summary})
    facts = [
        ExtractedFact(fact=each.text, first_seen=each.time, last_seen=each.time, source_memories=[session.guid])
        for each in extract_statements(lines)
    ]
    return of_session(over) + [passage for fact in facts for passage in of_fact(session.persona_id, fact, [over])]
