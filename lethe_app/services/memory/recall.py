"""A persona's memory at work in a turn: what a message brings up is found, told, kept with it, and leaves its traces."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from lethe_app.brain.lore.evaluation import EvaluationTurn
from lethe_app.brain.proactive.selection import ProactiveEvidence, waiting
from lethe_app.brain.recall.keyword_recall import Pool
from lethe_app.brain.recall.proactive_rules import ProactiveRules
from lethe_app.brain.recall.session_notes import block, learn
from lethe_app.brain.text.scan_window import ScanWindow
from lethe_app.brain.text.utterance import aloud
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.recall import TurnMemory
from lethe_app.errors import LetheError
from lethe_app.prompt.macros import expand
from lethe_app.retrieval.memory_index import Recall
from lethe_app.retrieval.query_terms import unaddressed
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.indexing.service import Indexing
from lethe_app.services.memory.announced import AnnouncedMemories
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.services.memory.lore import LoreKeeping
from lethe_app.services.memory.proactive import Initiative, ProactiveMemory, rules_of, was_announced
from lethe_app.services.memory.search import without
from lethe_app.services.memory.selection import LONGEST_QUESTION, STATES, MemorySelection, RecallContext, RecallResult, present
from lethe_app.services.participants import Participants
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.stable_prefix import StablePrefix, StablePrefixes
from lethe_app.services.scheduling.offload import apart, whole
from lethe_app.services.untrusted_memories import UntrustedMemories
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.key_value import SessionState
from lethe_app.storage.memory.turn_memories import Traces, TurnMemories

log = logging.getLogger(__name__)

WINDOW = 24
"""Messages before the newest one that are read, and more where a world looks for its words in more."""
DEEPEST = 200
"""Messages in which keywords are looked for at most."""
SCRATCH = "scratch"
"""Key of a session's state: what is known of the present conversation."""
USUAL_CONTEXT = 8192
"""Tokens, where no model is loaded."""


@dataclass(frozen=True)
class Remembered:
    """What memory did for one message."""

    memory: TurnMemory
    note: Message | None = None
    """A hidden line that was stored above it."""


class RecallService:
    """`of_turn` is for a message that was just stored; `preview` shows what any text would bring up, without a trace."""

    def __init__(
        self,
        chats: Chats,
        turns: TurnMemories,
        state: SessionState,
        holdings: MemoryCache,
        keeping: LoreKeeping,
        minding: MemorySelection,
        guidance: ProactiveMemory,
        frames: StablePrefixes,
        recall: Recall,
        indexing: Indexing,
        calibration: Calibration,
        preferences: Preferences,
        foreign: UntrustedMemories,
    ) -> None:
        self._chats = chats
        self._turns = turns
        self._state = state
        self._holdings = holdings
        self._keeping = keeping
        self._minding = minding
        self._guidance = guidance
        self._frames = frames
        self._recall = recall
        self._indexing = indexing
        self._calibration = calibration
        self._preferences = preferences
        self._foreign = foreign
        self._keywords = Pool()
        self._telling = AnnouncedMemories(chats, state)

    async def of_turn(self, session: ChatSession, cast: Participants, message: Message, model: LoadedModel) -> Remembered:
        """Everything that comes to mind at this message, stored with it.

        A memory that cannot be read keeps nobody from answering: then nothing comes to mind, and the log says why.
        """
        try:
            return await self._of_turn(session, cast, message, model)
        except LetheError as error:
            log.warning("Nothing could be remembered in this turn: %s", error)
            return Remembered(TurnMemory())

    async def _of_turn(self, session: ChatSession, cast: Participants, message: Message, model: LoadedModel) -> Remembered:
        await self._indexing.index_pending()
        frame = await self._frames.prefix_of(session, cast, model)
        occasion = await self._occasion(session, cast, message, model.context, frame)
        self._indexing.notice(occasion.bound.worlds)
        if not await self._is_newest(session, message):  # an old reply is written anew: the present is not to change
            mind = await self._mind(replace(occasion, states={}))
            memory = TurnMemory(recalled=mind.recalled, blocked=mind.blocked, remark=mind.remark)
            await self._turns.save_turn(message.id, memory)
            return Remembered(memory)
        initiative = await self._initiative(occasion, message)
        if initiative.faded:
            occasion = replace(occasion, memories=occasion.memories.without(initiative.faded))
        mind = await self._mind(occasion)
        return await whole(self._stored(occasion, message, initiative, mind))

    async def _mind(self, occasion: RecallContext) -> RecallResult:
        """What comes to mind, as a prompt may hold it."""
        mind = await self._minding.think(occasion)
        return replace(mind, recalled=await self._foreign.fenced(mind.recalled, occasion.memories.by_guid))

    async def again(self, message_id: UUID) -> TurnMemory | None:
        """What came to mind when this message was said; None if that is not known. What was forgotten since stays out."""
        memory = await self._turns.get(message_id)
        if memory is None:
            return None
        named = {one.memory for one in memory.recalled if not one.world}
        named |= {lead.origin for one in memory.recalled if not one.world for lead in one.leads}
        gone = await self._turns.forgotten(list(named))
        left = [one for each in memory.recalled if (one := without(each, gone))]
        return memory.model_copy(update={"recalled": left, "forgotten": len(memory.recalled) - len(left)})

    async def notes(self, session_id: UUID) -> dict[str, str]:
        """What is known of a conversation as it goes, by key."""
        return scratch_of(await self._state.get(session_id, SCRATCH))

    async def write_notes(self, session_id: UUID, notes: Mapping[str, str]) -> None:
        """The user's own version of it; what is said later adds to it."""
        kept = {key.strip(): value.strip() for key, value in notes.items() if key.strip() and value.strip()}
        await self._state.set(session_id, SCRATCH, kept or None)

    async def preview(self, session: ChatSession, cast: Participants, text: str, context: int = USUAL_CONTEXT) -> TurnMemory:
        """What `text` would bring up in this session if it were said now, and why. Changes nothing."""
        await self._indexing.settle_all()
        message = Message(session_id=session.guid, role=Role.USER, alternatives=[Alternative(content=text)])
        frame = await self._frames.kept(session.guid)
        mind = await self._minding.think(await self._occasion(session, cast, message, context, frame, is_stored=False))
        return TurnMemory(recalled=mind.recalled, blocked=mind.blocked, remark=mind.remark)

    # What is around a message

    async def _occasion(
        self,
        session: ChatSession,
        cast: Participants,
        message: Message,
        context: int,
        frame: StablePrefix | None,
        *,
        is_stored: bool = True,
    ) -> RecallContext:
        exists = is_stored or session.leaf_id is not None
        bound = await self._keeping.bound(cast, session.guid)
        reach = max(WINDOW, 2 * min(self._keeping.depth(bound), DEEPEST))  # hidden lines lie between
        history = await self._chats.tail(session.guid, reach, message.id if is_stored else None) if exists else []
        spoken, asked = await self._counted(message, history, is_stored=is_stored)
        moment, scene = message.time, cast.scene(session, session.added)
        by_meaning = self._preferences.current.rag_enabled and bool(message.content.strip())
        return RecallContext(
            session=session,
            cast=cast,
            text=message.content,
            moment=moment,
            turn=EvaluationTurn(
                id=str(message.id),
                number=asked,
                spoken=spoken,
                moment=moment,
                seed=str(session.guid),
                expand=lambda text: expand(text, scene),
            ),
            window=ScanWindow.of(history, message),
            history=history,
            memories=await self._holdings.memories_of(session.persona_id),
            sessions=await self._chats.mentionable(session.persona_id),
            bound=bound,
            context=context,
            frame=frame,
            told=await self._telling.in_sight(session, frame, message.id if is_stored else None, history),
            states={key: await self._state.get(session.guid, key) for key in STATES},
            meaning=await self._recall.understand(message.content[:LONGEST_QUESTION], present(cast)) if by_meaning else None,
        )

    async def _counted(self, message: Message, history: Sequence[Message], *, is_stored: bool) -> tuple[int, int]:
        """Messages and turns up to this one, itself included."""
        if is_stored:
            standing = await self._chats.standing(message.id)
            return standing.spoken, standing.asked
        if not history:
            return 1, 1
        standing = await self._chats.standing(history[-1].id)
        return standing.spoken + 1, standing.asked + 1

    async def _is_newest(self, session: ChatSession, message: Message) -> bool:
        """Has the user said nothing after it?"""
        later = await self._chats.tail(session.guid, WINDOW)
        said = [one.id for one in later if one.role is Role.USER and not one.hidden]
        return bool(said) and said[-1] == message.id

    # What she brings up of her own accord

    async def _initiative(self, occasion: RecallContext, message: Message) -> Initiative:
        settings = self._preferences.current
        session, cast, moment = occasion.session, occasion.cast, occasion.moment
        if cast.persona.disable_bot_guidance or cast.user.disable_bot_guidance:
            return Initiative()
        standing = await self._chats.standing(message.id)
        if (settings.guidance_latest_only and not standing.is_latest) or was_announced(occasion.history):
            return Initiative()
        rules = rules_of(settings, (await self._calibration.thresholds()).natural)
        felt = await self._guidance.felt(session, cast, message, occasion.history)
        returned = await self._guidance.at_return(
            session,
            cast,
            standing,
            moment.astimezone(),
            occasion.memories.returning,
            rules,
            is_latest=standing.is_latest,
            previous_is_system=bool(occasion.history) and occasion.history[-1].role is Role.SYSTEM,
            felt=felt,
        )
        if returned is not None:
            return Initiative(returned, felt=felt)
        eureka = await self._eureka(occasion, rules)
        faded = await self._guidance.faded(session.persona_id, occasion.memories, moment, rules)
        return replace(eureka, faded=faded, felt=felt)

    async def _eureka(self, occasion: RecallContext, rules: ProactiveRules) -> Initiative:
        due = await apart(len(held := occasion.memories.waiting), partial(waiting, held, occasion.moment, rules))
        keywords = await apart(len(due), partial(self._keywords.keywords, due, occasion.window, occasion.turn))
        told, meaning = [memory.guid for memory in due if memory.category not in rules.silent], occasion.meaning
        distances = await self._recall.distances(meaning, told) if told and meaning is not None else {}
        evidence = {memory.guid: ProactiveEvidence(distances.get(memory.guid), keywords.get(memory.guid, "")) for memory in due}
        tagged, said = self._preferences.current.tagged_events, unaddressed(occasion.text, present(occasion.cast))
        return await self._guidance.of_its_own(
            occasion.session, occasion.cast, said, occasion.moment, due, evidence, rules, tagged=tagged
        )

    # What is kept

    async def _stored(
        self, occasion: RecallContext, message: Message, initiative: Initiative, mind: RecallResult
    ) -> Remembered:
        """The line above the message, what was recalled, and what became of it all: kept at once or, after a crash, not."""
        announced, session = initiative.announced, occasion.session
        line = self._filled(announced.message, occasion) if announced else None
        told = await self._telling.noted(session.guid, [one.memory for one in initiative.recalled], line) if line else {}
        scratch, noted = await self._noted(occasion, message)
        concluded = await self._guidance.concluded(session, initiative)
        before, recalled = occasion.states, [*initiative.recalled, *mind.recalled]
        kept = {key: value for key, value in mind.states.items() if value != before.get(key) and (value or before.get(key))}
        traces = Traces(
            persona_id=session.persona_id,
            session=session.guid,
            message=message.id,
            memory=TurnMemory(
                recalled=recalled, blocked=mind.blocked, scratch=scratch, mood=initiative.mood, remark=mind.remark
            ),
            moment=occasion.moment,
            line=line,
            changed=initiative.changed,
            gone=initiative.gone,
            anew=mind.anew,
            states={**noted, **told, **concluded.states, **kept},
            app_state=concluded.app_state,
        )
        note = await self._turns.leave(traces)
        self._holdings.follow(traces)
        return Remembered(traces.memory, note)

    def _filled(self, line: Message, occasion: RecallContext) -> Message:
        """A hidden line with its macros filled in."""
        text = expand(line.content, occasion.cast.scene(occasion.session, occasion.moment))
        return line.model_copy(update={"alternatives": [Alternative(content=text, created=line.time)]})

    async def _noted(self, occasion: RecallContext, message: Message) -> tuple[str, dict[str, object]]:
        """The facts of this conversation so far in one line, and the session's state where they are others than before."""
        if not self._preferences.current.scratch:
            return "", {}
        known = scratch_of(await self._state.get(occasion.session.guid, SCRATCH))
        learnt = learn(aloud([*occasion.history[-1:], message]), known)
        return block(learnt), {SCRATCH: learnt} if learnt != known else {}


def scratch_of(stored: object) -> dict[str, str]:
    """The session's facts by key, as far as they can be understood."""
    return {str(key): str(value) for key, value in stored.items()} if isinstance(stored, dict) else {}
