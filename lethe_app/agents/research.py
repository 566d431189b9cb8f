"""Research tasks: look up subjects of the running session, and of the last archived one, while the user is away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from lethe_app.agents.session_material import (
    LAST_SESSION_KEY,
    UNTIL_KEY,
    MaterialTask,
    describe_role,
    read_strings,
    read_time,
    remove_braces,
    update_state,
)
from lethe_app.agents.task import TaskContext, TaskRequirement, TaskResult, TaskView
from lethe_app.agents.web_reading import (
    MAX_CONTEXT_CHARACTERS,
    NOTHING_KNOWN,
    MergedPages,
    ReadingRequest,
    WebReader,
    join_site_names,
)
from lethe_app.brain.llm_schemas.chunking import format_lines
from lethe_app.brain.llm_schemas.citation_check import is_same_topic
from lethe_app.brain.llm_schemas.web import TopicAnswer, TopicsAnswer
from lethe_app.brain.recall.duplicates import add_search, is_recent_search
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.agent_runs import RunOutcome
from lethe_app.domain.memory import MemoryInsertion, MemoryType, MemoryUnit
from lethe_app.searchable_text import WORD, fold

MIN_NEW_MESSAGES = 30
"""Minimum number of new messages for which a running session is read."""
MAX_MESSAGES_READ = 400
"""Maximum number of its messages that are read."""
MAX_PORTIONS = 4
"""Maximum number of portions of a long session in which subjects are searched; the newest ones are used."""
MAX_TOPICS = 3
RECENT_TOPICS_KEY = "recent"
"""Key of the state: recent subjects."""


@dataclass(frozen=True)
class ResearchAssignment:
    """Session to be read, and parameters of the memories made from the findings."""

    utterances: Sequence[Utterance]
    context: str
    lifetime: timedelta
    extra_priority: int
    final_state: Mapping[str, object]
    """State to be stored when the task is complete."""


class ResearchTask(MaterialTask[ResearchAssignment]):
    """Look up subjects of the last archived session, once. Roleplay sessions are skipped."""

    name = "research"
    title = "Research after conversations"
    help = "Search the internet for up to three topics of an ended conversation."
    every = timedelta(hours=4)
    needs = frozenset({TaskRequirement.MODEL, TaskRequirement.WEB})

    def __init__(self, web_reader: WebReader) -> None:
        self._web_reader = web_reader

    async def find_material(self, view: TaskView) -> ResearchAssignment | None:
        last_session_id = (await view.load_state()).get(LAST_SESSION_KEY)
        for summary in await view.list_sessions(archived=True):
            session = await view.load_session(summary.guid)
            if summary.messages and not session.is_roleplay:
                if not session.content or str(session.guid) == last_session_id:
                    return None  # without a summary the session is not completely archived yet
                utterances, final_state = await view.list_utterances(session.guid), {LAST_SESSION_KEY: str(session.guid)}
                return ResearchAssignment(utterances, session.content, timedelta(days=10), 0, final_state)
        return None

    async def write(self, context: TaskContext, assignment: ResearchAssignment) -> TaskResult:
        """Find subjects, look them up one after the other, and store the findings. If it is cancelled, finished subjects are
        kept.
        """
        context.report_progress("Choosing topics to look up")
        recent_topics = read_strings(await context.load_state(), RECENT_TOPICS_KEY)
        candidates = await _find_topics(context, assignment)
        topics = [topic for topic in candidates if not await _is_known(context, recent_topics, topic.topic)][:MAX_TOPICS]
        found_topics: list[str] = []
        for topic in topics:
            context.report_progress(f"Searching for “{topic.topic}”")
            merged_pages = await self._look_up(context, assignment, topic)
            if merged_pages.plain_text:
                await _store_finding(context, assignment, topic, merged_pages)
                found_topics.append(topic.topic)
            recent_topics = add_search(recent_topics, topic.topic)
            await update_state(context, {RECENT_TOPICS_KEY: recent_topics})
        await update_state(context, assignment.final_state)
        if found_topics:
            return TaskResult(f"{context.persona.name} has read about {_join_quoted(found_topics)}.")
        tried_topics = _join_quoted([topic.topic for topic in topics])
        summary = f"Nothing was found about {tried_topics}." if topics else "There was nothing to look up."
        return TaskResult(summary, outcome=RunOutcome.NOTHING)

    async def _look_up(self, context: TaskContext, assignment: ResearchAssignment, topic: TopicAnswer) -> MergedPages:
        name = context.persona.name
        reason = f"{name} wanted to know more about “{topic.topic}”."
        pages = await self._web_reader.search_and_read(_anonymous_queries(topic, context), reason)
        context.report_progress(f"Reading about “{topic.topic}”")
        request = ReadingRequest(
            name, topic.topic, topic.reason, describe_role(context.persona, context.user), assignment.context
        )
        return await self._web_reader.merge_pages(request, pages, context)


class ActiveResearchTask(ResearchTask):
    """Look up subjects of the newest session that is not archived, once it has enough new messages."""

    name = "active_research"
    title = "Research during conversations"
    help = "Search the internet for up to three topics of a long current conversation."

    async def find_material(self, view: TaskView) -> ResearchAssignment | None:
        newest_sessions = await view.list_sessions(archived=False, limit=1)
        if not newest_sessions or newest_sessions[0].messages < MIN_NEW_MESSAGES:
            return None
        guid, until = newest_sessions[0].guid, read_time(await view.load_state(), UNTIL_KEY)
        utterances = [
            utterance
            for utterance in await view.list_utterances(guid, MAX_MESSAGES_READ)
            if until is None or utterance.time > until
        ]
        if len(utterances) < MIN_NEW_MESSAGES:
            return None
        summary, final_state = (await view.load_session(guid)).content, {UNTIL_KEY: utterances[-1].time.isoformat()}
        return ResearchAssignment(utterances, summary, timedelta(days=7), 1, final_state)


async def _find_topics(context: TaskContext, assignment: ResearchAssignment) -> list[TopicAnswer]:
    """Return the subjects, most urgent first, without duplicates."""
    placeholders = {
        "name": context.persona.name,
        "role": describe_role(context.persona, context.user),
        "context": assignment.context[:MAX_CONTEXT_CHARACTERS] or NOTHING_KNOWN,
    }
    topics: list[TopicAnswer] = []
    for portion in (await context.split_to_fit("topics", TopicsAnswer, assignment.utterances, **placeholders))[-MAX_PORTIONS:]:
        answer = await context.ask("topics", TopicsAnswer, conversation=format_lines(portion), **placeholders)
        for topic in answer.topics:
            if not any(is_same_topic(topic.topic, known_topic.topic) for known_topic in topics) and _anonymous_queries(
                topic, context
            ):
                topics.append(topic)
    return sorted(topics, key=lambda topic: -topic.urgency)


def _anonymous_queries(topic: TopicAnswer, view: TaskView) -> list[str]:
    """Return the queries that do not contain the user's name, so that search engines do not learn who asks."""
    names = {fold(word) for word in WORD.findall(view.user.name)}
    return [query for query in topic.queries if names.isdisjoint(fold(word) for word in WORD.findall(query))]


async def _is_known(context: TaskContext, recent_topics: Sequence[str], topic: str) -> bool:
    """Return whether the subject was looked up recently, according to the task's state and the stored memories."""
    stored_topics = [memory.name for memory in await context.list_memories() if memory.category is MemoryType.WEB_SEARCH]
    return is_recent_search(recent_topics, topic, {}) or any(
        is_same_topic(known_topic, topic) for known_topic in (*recent_topics, *stored_topics)
    )


async def _store_finding(
    context: TaskContext, assignment: ResearchAssignment, topic: TopicAnswer, merged_pages: MergedPages
) -> None:
    """Store the finding as a memory with natural insertion, and a note for the user's return."""
    name, subject = context.persona.name, remove_braces(topic.topic)
    memory = MemoryUnit(
        category=MemoryType.WEB_SEARCH,
        insertion=MemoryInsertion.NATURAL,
        name=subject,
        content=merged_pages.content,
        reason=remove_braces(topic.reason),
        priority=topic.weight + assignment.extra_priority,
        added=context.moment,
        end_time=context.moment + assignment.lifetime,
        sources=merged_pages.addresses,
    )
    stored = await context.memorize(memory)
    await context.save_finding(subject, merged_pages.content, merged_pages.addresses)
    sites = join_site_names(merged_pages.sources)
    note = f"{name} has looked up “{subject}” on the internet meanwhile, and read about it at {sites}."
    await context.leave_note(note, uid=f"research {stored.guid}")


def _join_quoted(topics: Sequence[str]) -> str:
    return ", ".join(f"“{topic}”" for topic in topics)
