"""The dream task: merge and sort memories and facts, and learn how the user wants to be talked to.

Every result is a change: proposed, or, if the user chose so, applied at once. Each change is stored in one transaction with
its effect, so that a cancelled dream has applied some changes completely and the others not at all.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import ClassVar, Protocol
from uuid import UUID

from lethe_app.agents.session_material import read_strings, read_time, update_state
from lethe_app.agents.task import NOTHING, AgentTask, TaskContext, TaskResult, TaskView
from lethe_app.brain.dreams.consolidation import (
    DREAM,
    MergeDecision,
    build_changes,
    can_change_fact,
    can_change_memory,
    count_categories,
    group_by_identical_words,
    group_by_pairs,
    merge_identical,
    normalize_category,
    signature,
)
from lethe_app.brain.dreams.corrections import CorrectionStrength
from lethe_app.brain.dreams.dislikes import (
    MAX_DISLIKED_REPLIES,
    MIN_DISLIKED_REPLIES,
    DislikedReply,
    format_disliked_replies,
    infer_dislike,
)
from lethe_app.brain.dreams.preferences import (
    CorrectionRemark,
    PreferenceRemarks,
    build_anti_pattern_change,
    build_preference_change,
    build_worded_anti_pattern,
    group_remarks,
)
from lethe_app.brain.fact_guard.grounding import is_grounded
from lethe_app.brain.llm_schemas.chunking import format_lines
from lethe_app.brain.llm_schemas.memories import AntiPatternAnswer, CommonPatternAnswer, ConsolidationAnswer, PreferencesAnswer
from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.agent_runs import ChangeState, ProducedKind, ProducedRecord, RecordedChange
from lethe_app.domain.changes import ChangedRecord, ChangedRecords
from lethe_app.domain.memory import MemoryUnit
from lethe_app.errors import ModelError

MAX_MODEL_QUERIES = 40
"""Groups and single notes about which the model is asked in one dream; the rest waits for the next."""
MAX_COMPARED = 200
"""Records whose neighbours are searched in one dream, newest first."""
LAST_DREAM_KEY, JUDGED_NOTES_KEY, BY_MODEL_KEY = "last", "filed", "by_model"
"""Keys of the state: start of the last dream, notes that were already judged one by one, and whether a model was qualified."""
MAX_JUDGED = 2000
MAX_NOTE_CHARACTERS = 600
PREFERENCE_WORDS = ("wants", "prefers", "likes", "asks", "wishes", "be", "being")
"""Words of a preference sentence that need not occur in the user's message."""
_NEGATION = re.compile(r"\b(?:stop|quit|hate|dislike|enough(?: with)?|less|fewer)\b", re.IGNORECASE)
"""Words that express a negation without “not”."""
PLACEHOLDER_REASON = "objected"
"""Placeholder reason of a model that found none; it is left out of the grounding check."""
ASKED_REPLIES_KEY = "thumbs"
"""Key of the state: the replies about which a model was asked last. Without a new one it is not asked again."""


class FeedbackInputs(Protocol):
    """The user's feedback on replies, from which a dream concludes preferences and dislikes."""

    async def list_new_messages(self, persona_id: str) -> list[list[Utterance]]:
        """Return the user's messages to the persona since the last evaluation, grouped by session."""

    async def collect_remarks(self, persona_id: str, model_remarks: Sequence[CorrectionRemark]) -> list[CorrectionRemark]:
        """Store the remarks of a model, and return all remarks from which nothing was concluded yet."""

    async def session_of(self, message: UUID) -> UUID:
        """Return the session of a message."""

    async def mark_concluded(self, persona_id: str, messages: Collection[UUID]) -> None:
        """Mark the remarks of these messages as concluded."""

    async def list_disliked(self, persona_id: str) -> list[DislikedReply]:
        """Return replies with a thumb down without a reason, from which nothing was concluded yet, oldest first."""

    async def newest_time(self, persona_id: str) -> datetime | None:
        """Return the time of the user's last rating of a reply or reason for one."""


async def propose_preferences(
    context: TaskContext, feedback: FeedbackInputs, may_write: Callable[[], bool]
) -> AsyncIterator[tuple[RecordedChange, list[UUID]]]:
    """Yield each proposed change with the messages it was concluded from; `may_write` returns whether a model is loaded that
    is qualified to write text of its own.
    """
    persona_id, new_remarks = context.persona.unique_name, list[CorrectionRemark]()
    if may_write():
        for utterances in await feedback.list_new_messages(persona_id):
            new_remarks += await _extract_remarks(context, feedback, utterances)
    for preference_remarks in group_remarks(await feedback.collect_remarks(persona_id, new_remarks)):
        if preference_remarks.is_frequent_enough:
            change = await _build_change(context, may_write, preference_remarks)
            yield change, [remark.message for remark in preference_remarks.remarks]


async def _extract_remarks(
    context: TaskContext, feedback: FeedbackInputs, utterances: Sequence[Utterance]
) -> list[CorrectionRemark]:
    """Let a model extract preferences. One that is not grounded in the line it refers to is discarded."""
    remarks: list[CorrectionRemark] = []
    names = {"user": context.user.name, "name": context.persona.name}
    for portion in await context.split_to_fit("infer", PreferencesAnswer, utterances, **names):
        answer = await context.ask("infer", PreferencesAnswer, conversation=format_lines(portion, numbered=True), **names)
        for stated in answer.wishes:
            line = portion[stated.line - 1] if stated.line <= len(portion) else None
            # “Stop”, “hate” and similar words become “not”, so that the grounding check sees equal polarity.
            if line is not None and is_grounded(
                stated.wish, [_NEGATION.sub("not", line.text)], [*names.values(), *PREFERENCE_WORDS]
            ):
                session, values = await feedback.session_of(line.id), {"words": line.text, "strength": stated.strength}
                remarks.append(CorrectionRemark(message=line.id, session=session, at=line.time, wish=stated.wish, **values))
    return remarks


async def _build_change(
    context: TaskContext, may_write: Callable[[], bool], preference_remarks: PreferenceRemarks
) -> RecordedChange:
    origin = (context.persona.unique_name, context.run_id, context.moment)
    has_strong_objection = any(
        remark.unwanted and remark.strength is CorrectionStrength.STRONG for remark in preference_remarks.remarks
    )
    if not has_strong_objection:
        return build_preference_change(preference_remarks, context.user.name, origin)
    answer = await _word_anti_pattern(context, preference_remarks) if may_write() else None
    if answer is None:
        return build_anti_pattern_change(preference_remarks, context.user.name, origin)
    domain = normalize_category(answer.domain).replace("/", "-")
    return build_worded_anti_pattern(answer.avoid, answer.because, answer.instead, domain, preference_remarks, origin)


async def _word_anti_pattern(context: TaskContext, preference_remarks: PreferenceRemarks) -> AntiPatternAnswer | None:
    """Let a model word an anti-pattern. Return None if the answer contains words that the user did not use."""
    quotes, names = [remark.words for remark in preference_remarks.distinct_remarks], (context.user.name, context.persona.name)
    try:
        answer = await context.ask("avoid", AntiPatternAnswer, words="\n".join(quotes), user=names[0], name=names[1])
    except ModelError:
        return None
    parts = [f"Don't {answer.avoid}.", *([f"{answer.because}."] if PLACEHOLDER_REASON not in answer.because else [])]
    if not answer.is_clear or not answer.avoid.strip() or not answer.because.strip():
        return None
    if answer.instead.strip():
        parts.append(f"{answer.instead}.")
    return answer if all(_is_grounded_part(part, quotes, names) for part in parts) else None


def _is_grounded_part(part: str, quotes: Sequence[str], names: Collection[str]) -> bool:
    """Return whether a part of the answer is grounded, with or without its negation: an objection often states the opposite
    of what the user wants.
    """
    positive = part.removeprefix("Don't ")
    return any(is_grounded(variant, quotes, names) for variant in (positive, f"Not {positive}"))


class DreamInputs(Protocol):
    """Inputs of a dream besides its task context and the user's feedback."""

    def may_write(self) -> bool:
        """Return whether a model is loaded that is qualified to write text of its own."""

    async def neighbours(self, persona_id: str, record: ChangedRecord) -> list[UUID]:
        """Return the records so similar that they may say the same."""

    async def describe_record(self, record: ChangedRecord, max_characters: int) -> str:
        """Return the record's text in at most `max_characters` characters, quoted if it is untrusted."""

    async def known_signatures(self, persona_id: str) -> set[str]:
        """Return the signatures of all recorded changes, whatever their state."""

    async def submit_change(self, change: RecordedChange, *, apply_now: bool) -> RecordedChange:
        """Propose the change, or apply it. Return it as DECLINED if it is no longer possible."""


class Dream(AgentTask):
    """The dream task. It works with rules alone, and better with a qualified model."""

    name = DREAM
    title: ClassVar[str] = "Dreams"
    help: ClassVar[str] = "Merge duplicate memories and learn how you like to be talked to."
    every = timedelta(hours=24)

    def __init__(self, inputs: DreamInputs, feedback: FeedbackInputs) -> None:
        self._inputs, self._feedback = inputs, feedback

    async def observe(self, view: TaskView) -> bool:
        state = await view.load_state()
        last_dream_at = read_time(state, LAST_DREAM_KEY)
        if last_dream_at is None or last_dream_at > view.moment or (self._inputs.may_write() and not state.get(BY_MODEL_KEY)):
            return True
        newest_sessions = await view.list_sessions(limit=1)
        activity_times = [
            *(session.last_activity for session in newest_sessions),
            *(memory.added for memory in (await view.list_memories())[:1]),
        ]
        activity_times += [fact.last_seen for fact in (await view.list_facts())[:1]]
        activity_times += filter(None, [await self._feedback.newest_time(view.persona.unique_name)])
        # Without the upper bound, a record that a wrong clock dated ahead would count as new until that date.
        return any(last_dream_at < moment <= view.moment for moment in activity_times)

    async def execute(self, context: TaskContext) -> TaskResult:
        started_at, known_signatures = context.moment, await self._inputs.known_signatures(context.persona.unique_name)
        context.report_progress("Reviewing past messages")
        proposals = [proposal async for proposal in propose_preferences(context, self._feedback, self._inputs.may_write)]
        change_counts = [
            await self._submit_changes(context, known_signatures, [change], concluded) for change, concluded in proposals
        ]
        if self._inputs.may_write():
            change_counts.append(await self._propose_dislike(context, known_signatures))
        context.report_progress("Tidying up memories")
        count = sum(change_counts) + await self._consolidate(context, known_signatures)
        await update_state(context, {LAST_DREAM_KEY: started_at.isoformat(), BY_MODEL_KEY: self._inputs.may_write()})
        if not count:
            return NOTHING
        change_count = "1 change" if count == 1 else f"{count} changes"
        return TaskResult(f"{change_count} applied." if context.settings.dreams_apply else f"{change_count} proposed.")

    async def _propose_dislike(self, context: TaskContext, known_signatures: set[str]) -> int:
        """Propose what the user may dislike, which thumb ratings alone suggest to a qualified model; rules cannot detect it.
        This is never applied at once, whatever the settings.
        """
        disliked = (await self._feedback.list_disliked(context.persona.unique_name))[-MAX_DISLIKED_REPLIES:]
        message_ids, state = [str(reply.message) for reply in disliked], await context.load_state()
        if len(disliked) < MIN_DISLIKED_REPLIES or message_ids == state.get(ASKED_REPLIES_KEY):
            return 0
        names = context.user.name, context.persona.name
        values = {"user": names[0], "name": names[1], "replies": format_disliked_replies(disliked, *names)}
        change, supporting_replies = None, list[DislikedReply]()
        with suppress(ModelError):  # it could not say
            answer = await context.ask("disliked", CommonPatternAnswer, **values)
            supporting_replies = [disliked[index] for index in answer.reply_indices(len(disliked))]
            origin = (context.persona.unique_name, context.run_id, context.moment)
            change = infer_dislike(answer.pattern, supporting_replies, names, origin)
        await update_state(context, {ASKED_REPLIES_KEY: message_ids})
        concluded = [reply.message for reply in supporting_replies]
        return (
            0
            if change is None
            else await self._submit_changes(context, known_signatures, [change], concluded, only_propose=True)
        )

    async def _submit_changes(
        self,
        context: TaskContext,
        known_signatures: set[str],
        changes: Sequence[RecordedChange],
        concluded_messages: Collection[UUID] = (),
        *,
        only_propose: bool = False,
    ) -> int:
        """Return the number of changes that are new and possible."""
        apply_now = context.settings.dreams_apply and not only_propose
        count = 0
        for change in changes:
            if signature(change) in known_signatures:
                continue
            known_signatures.add(signature(change))
            # The beginning of the text after the change, or else of the text before it.
            text = ChangedRecords.after(change).text or ChangedRecords.before(change).text
            title = " ".join(text.split())[:60]
            await context.record_result(ProducedRecord(kind=ProducedKind.CHANGE, id=str(change.id), title=title))
            submitted = await self._inputs.submit_change(change, apply_now=apply_now)
            count += submitted.state is not ChangeState.DECLINED
        if concluded_messages:
            await self._feedback.mark_concluded(context.persona.unique_name, concluded_messages)
        return count

    async def _consolidate(self, context: TaskContext, known_signatures: set[str]) -> int:
        """Merge records of equal wording first, which needs no model, then let a qualified model judge the others."""
        count = 0
        for group in group_by_identical_words(await _changeable_records(context)):
            count += await self._apply_decision(context, known_signatures, group, merge_identical(group))
        return count + (await self._consolidate_with_model(context, known_signatures) if self._inputs.may_write() else 0)

    async def _consolidate_with_model(self, context: TaskContext, known_signatures: set[str]) -> int:
        records = await _changeable_records(context)
        similar_pairs = [
            (record.guid, neighbour_guid)
            for record in records[:MAX_COMPARED]
            for neighbour_guid in await self._inputs.neighbours(context.persona.unique_name, record)
            if neighbour_guid != record.guid
        ]
        groups = group_by_pairs(records, similar_pairs)
        grouped_guids = {record.guid for group in groups for record in group}
        judged_guids = read_strings(await context.load_state(), JUDGED_NOTES_KEY)
        known_guids = grouped_guids | {UUID(guid) for guid in judged_guids}
        single_groups: list[list[ChangedRecord]] = [
            [record]
            for record in records
            if isinstance(record, MemoryUnit) and not record.filed_under and record.guid not in known_guids
        ]
        count = 0
        for group in [*groups, *single_groups][:MAX_MODEL_QUERIES]:
            decision = await self._ask_decision(context, group)
            count += await self._apply_decision(context, known_signatures, group, decision)
            if len(group) == 1:
                judged_guids.append(str(group[0].guid))
                await update_state(context, {JUDGED_NOTES_KEY: judged_guids[-MAX_JUDGED:]})
        return count

    async def _ask_decision(self, context: TaskContext, group: Sequence[ChangedRecord]) -> MergeDecision:
        category_list = ", ".join(count_categories(await context.list_memories())) or "(none yet)"
        descriptions = [await self._inputs.describe_record(record, MAX_NOTE_CHARACTERS) for record in group]
        notes = "\n".join(f"{number}. {description}" for number, description in enumerate(descriptions, 1))
        answer = await context.ask("dream", ConsolidationAnswer, categories=category_list[:MAX_NOTE_CHARACTERS], notes=notes)
        return answer.to_decision(len(group))

    async def _apply_decision(
        self, context: TaskContext, known_signatures: set[str], group: Sequence[ChangedRecord], decision: MergeDecision
    ) -> int:
        names, moment = (context.persona.name, context.user.name), context.moment
        changes = build_changes(decision, group, context.persona.unique_name, context.run_id, moment, names)
        return await self._submit_changes(context, known_signatures, changes)


async def _changeable_records(view: TaskView) -> list[ChangedRecord]:
    """Return the records a dream may change: memories newest first, then facts newest first."""
    memories = [record for record in await view.list_memories() if can_change_memory(record, view.moment)]
    return [*memories, *(record for record in await view.list_facts() if can_change_fact(record))]
