"""Research tasks: look up subjects of the running session, and of the last archived one, while the user is away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from lethe_app.agents.task import NOTHING, AgentTask, Need, Result, Sight, TaskContext
from lethe_app.agents.web_reading import LONGEST_CONTEXT, NOTHING_KNOWN, Gathering, Merge, ReadingRequest, sites
from lethe_app.brain.llm_schemas.chunking import format_lines
from lethe_app.brain.llm_schemas.citation_check import is_same_topic
from lethe_app.brain.llm_schemas.web import TopicAnswer, Topics
from lethe_app.brain.recall.duplicates import add_search, is_recent_search
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.agent_runs import RunOutcome
from lethe_app.domain.chat import ChatSession, SessionSummary
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.retrieval.query_terms import WORD, fold

LEAST_NEW = 30
"""Minimum number of new messages for which a running session is read."""
MOST_READ = 400
"""Maximum number of its messages that are read."""
MOST_PORTIONS = 4
"""Maximum number of portions of a long session in which subjects are searched; the newest ones are used."""
MOST_TOPICS = 3
LONGEST_ROLE = 400
UNTIL, LAST, RECENT = "until", "last", "recent"
"""Keys of the state: time of the newest message that was read, the session that was read, and recent subjects."""


@dataclass(frozen=True)
class Assignment:
    """Session to be read, and parameters of the memories made from the findings."""

    lines: Sequence[Utterance]
    context: str
    lasts: timedelta
    more_priority: int
    done: Mapping[str, object]
    """State to be stored when the task is complete."""


class ActiveResearchTask(AgentTask):
    """Look up subjects of the running session once it has enough new messages."""

    name = "active_research"
    title = "Research during conversations"
    help = "Look up as many as three topics of a long current conversation on the internet."
    every = timedelta(hours=4)
    needs = frozenset({Need.MODEL, Need.WEB})

    def __init__(self, gathering: Gathering) -> None:
        self._gathering = gathering

    async def observe(self, sight: Sight) -> bool:
        return await _running(sight) is not None

    async def execute(self, scene: TaskContext) -> Result:
        found = await _running(scene)
        if found is None:
            return NOTHING
        session, lines = found
        told = (await scene.session(session.guid)).content
        done = {UNTIL: lines[-1].time.isoformat()}
        return await research(scene, self._gathering, Assignment(lines, told, timedelta(days=7), 1, done))


class ResearchTask(AgentTask):
    """Look up subjects of the last archived session, once."""

    name = "research"
    title = "Research after conversations"
    help = "Look up as many as three topics of an ended conversation on the internet."
    every = timedelta(hours=4)
    needs = frozenset({Need.MODEL, Need.WEB})

    def __init__(self, gathering: Gathering) -> None:
        self._gathering = gathering

    async def observe(self, sight: Sight) -> bool:
        return await _ended(sight) is not None

    async def execute(self, scene: TaskContext) -> Result:
        session = await _ended(scene)
        if session is None:
            return NOTHING
        lines = await scene.lines(session.guid)
        done = {LAST: str(session.guid)}
        return await research(scene, self._gathering, Assignment(lines, session.content, timedelta(days=10), 0, done))


async def research(scene: TaskContext, gathering: Gathering, asked: Assignment) -> Result:
    """Find subjects, look them up one after the other, and store the findings. If it is cancelled, finished subjects are
    kept.
    """
    scene.progress("Choosing topics to look up")
    recent = [str(one) for one in _list((await scene.state()).get(RECENT))]
    topics = [one for one in await _topics(scene, asked) if not await _is_known(scene, recent, one.topic)]
    found: list[str] = []
    for topic in topics[:MOST_TOPICS]:
        scene.progress(f"Searching for “{topic.topic}”")
        merge = await _looked_up(scene, gathering, asked, topic)
        if merge.plain_text:
            await _keep(scene, asked, topic, merge)
            found.append(topic.topic)
        recent = add_search(recent, topic.topic)
        await scene.set_state({**await scene.state(), RECENT: recent})
    await scene.set_state({**await scene.state(), **asked.done})
    return _told(scene, found, [one.topic for one in topics[:MOST_TOPICS]])


async def _topics(scene: TaskContext, asked: Assignment) -> list[TopicAnswer]:
    """Return the subjects, most urgent first, without duplicates."""
    gaps = {"name": scene.persona.name, "role": role_of(scene), "context": asked.context[:LONGEST_CONTEXT] or NOTHING_KNOWN}
    found: list[TopicAnswer] = []
    for lines in (await scene.portions("topics", Topics, asked.lines, **gaps))[-MOST_PORTIONS:]:
        answer = await scene.ask("topics", Topics, conversation=format_lines(lines), **gaps)
        for topic in answer.topics:
            if not any(is_same_topic(topic.topic, one.topic) for one in found) and _queries(topic, scene):
                found.append(topic)
    return sorted(found, key=lambda topic: -topic.urgency)


def _queries(topic: TopicAnswer, scene: Sight) -> list[str]:
    """Return the queries that do not contain the user's name, so that search engines do not learn who asks."""
    names = {fold(word) for word in WORD.findall(scene.user.name)}
    return [one for one in topic.queries if names.isdisjoint(fold(word) for word in WORD.findall(one))]


async def _is_known(scene: TaskContext, recent: Sequence[str], topic: str) -> bool:
    """Return whether the subject was looked up recently, according to the task's state and the stored memories."""
    kept = [one.name for one in await scene.memories() if one.category is MemoryType.WEB_SEARCH]
    return is_recent_search(recent, topic, {}) or any(is_same_topic(one, topic) for one in (*recent, *kept))


async def _looked_up(scene: TaskContext, gathering: Gathering, asked: Assignment, topic: TopicAnswer) -> Merge:
    name = scene.persona.name
    why = f"{name} wanted to know more about “{topic.topic}”."
    pages = await gathering.pages(_queries(topic, scene), why, scene.count)
    scene.progress(f"Reading about “{topic.topic}”")
    wish = ReadingRequest(name, topic.topic, topic.reason, role_of(scene), asked.context)
    return await gathering.merged(wish, pages, scene)


async def _keep(scene: TaskContext, asked: Assignment, topic: TopicAnswer, merge: Merge) -> None:
    """Store the finding as a memory with natural insertion, and a note for the user's return."""
    memory = MemoryUnit(
        category=MemoryType.WEB_SEARCH,
        insertion=MemoryInsertion.NATURAL,
        name=_bare(topic.topic),
        content=merge.content,
        reason=_bare(topic.reason),
        priority=topic.weight + asked.more_priority,
        added=scene.moment,
        end_time=scene.moment + asked.lasts,
        sources=merge.addresses,
    )
    kept = await scene.memorize(memory)
    words = f"{scene.persona.name} has looked up “{_bare(topic.topic)}” on the internet meanwhile, and read about it at "
    await scene.leave_note(f"{words}{sites(merge.sources)}.", uid=f"research {kept.guid}")


def _told(scene: TaskContext, found: Sequence[str], tried: Sequence[str]) -> Result:
    if found:
        return Result(f"{scene.persona.name} has read about {_quoted(found)}.")
    if tried:
        return Result(f"Nothing was found about {_quoted(tried)}.", outcome=RunOutcome.NOTHING)
    return Result("There was nothing to look up.", outcome=RunOutcome.NOTHING)


def _quoted(topics: Sequence[str]) -> str:
    return ", ".join(f"“{one}”" for one in topics)


def _bare(text: str) -> str:
    """Remove macro braces, because the text is inserted into prompts."""
    return text.replace("{{", "").replace("}}", "")


def role_of(sight: Sight) -> str:
    """Return the persona's bio in a few sentences."""
    bio = (sight.persona.mini_bio or sight.persona.bio).replace("{{char}}", sight.persona.name)
    return " ".join(bio.replace("{{user}}", sight.user.name).split())[:LONGEST_ROLE]


async def _running(sight: Sight) -> tuple[SessionSummary, list[Utterance]] | None:
    """Return the persona's newest session that is not archived, with its new lines, if there are enough of them."""
    for session in await sight.sessions(archived=False, most=1):
        if session.messages < LEAST_NEW:
            return None
        until = (await sight.state()).get(UNTIL)
        known = datetime.fromisoformat(until) if isinstance(until, str) else None
        lines = [one for one in await sight.lines(session.guid, MOST_READ) if known is None or one.time > known]
        return (session, lines) if len(lines) >= LEAST_NEW else None
    return None


async def _ended(sight: Sight) -> ChatSession | None:
    """Return the persona's last archived session, unless it was read already. Roleplay sessions are skipped."""
    done = (await sight.state()).get(LAST)
    for one in await sight.sessions(archived=True):
        if not one.messages:
            continue
        session = await sight.session(one.guid)
        if not session.is_roleplay:
            is_new = bool(session.content) and str(session.guid) != done  # without a summary it is not wholly archived yet
            return session if is_new else None
    return None


def _list(kept: object) -> list[object]:
    return kept if isinstance(kept, list) else []
