"""A persona's memory at work in a turn: what a message brings up is found, told, kept with it, and leaves its traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from lethe_app.brain.evaluation import Turn
from lethe_app.brain.guidance import Rules
from lethe_app.brain.natural import Evidence, waiting
from lethe_app.brain.pool import Pool
from lethe_app.brain.said import aloud
from lethe_app.brain.scratch import block, learn
from lethe_app.brain.window import Window
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.recollection import TurnMemory
from lethe_app.prompt.macros import expand
from lethe_app.retrieval.recall import Recall
from lethe_app.services.calibration import Calibration
from lethe_app.services.casting import Cast
from lethe_app.services.frames import Frames
from lethe_app.services.guidance import Announced, Guidance, rules_of, to_forget
from lethe_app.services.holdings import Holdings
from lethe_app.services.indexing import Indexing
from lethe_app.services.lore import LoreKeeping
from lethe_app.services.minding import STATES, Mind, Minding, Occasion
from lethe_app.services.preferences import Preferences
from lethe_app.storage.chats import Chats
from lethe_app.storage.state import SessionState
from lethe_app.storage.turns import TurnMemories

WINDOW = 24
"""Messages before the newest one in which keywords are looked for at most; worlds say in how many of them."""
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


class Recollecting:
    """`of_turn` is for a message that was just stored; `preview` shows what any text would bring up, without a trace."""

    def __init__(
        self,
        chats: Chats,
        turns: TurnMemories,
        state: SessionState,
        holdings: Holdings,
        keeping: LoreKeeping,
        minding: Minding,
        guidance: Guidance,
        frames: Frames,
        recall: Recall,
        indexing: Indexing,
        calibration: Calibration,
        preferences: Preferences,
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
        self._keywords = Pool()

    async def of_turn(self, session: ChatSession, cast: Cast, message: Message, model: LoadedModel) -> Remembered:
        """Everything that comes to mind at this message, stored with it."""
        await self._indexing.settle()
        frame = await self._frames.of(session, cast, model)
        occasion = replace(await self._occasion(session, cast, message, model.context), frame=frame)
        announced = await self._announced(occasion, message)
        mind = await self._minding.think(occasion)
        note = await self._told(occasion, message, announced) if announced is not None else None
        memory = TurnMemory(
            recalled=[*(announced.recalled if announced else ()), *mind.recalled],
            blocked=mind.blocked,
            scratch=await self._noted(occasion, message),
        )
        await self._keep(occasion, message, memory, mind)
        return Remembered(memory, note)

    async def again(self, message_id: UUID) -> TurnMemory | None:
        """What came to mind when this message was said; None if that is not known. What was forgotten since stays out."""
        memory = await self._turns.get(message_id)
        if memory is None:
            return None
        gone = await self._turns.forgotten([one.memory for one in memory.recalled if not one.world])
        return memory.model_copy(update={"recalled": [one for one in memory.recalled if one.memory not in gone]})

    async def preview(self, session: ChatSession, cast: Cast, text: str, context: int = USUAL_CONTEXT) -> TurnMemory:
        """What `text` would bring up in this session if it were said now, and why. Changes nothing."""
        await self._indexing.settle_all()
        message = Message(session_id=session.guid, role=Role.USER, alternatives=[Alternative(content=text)])
        mind = await self._minding.think(await self._occasion(session, cast, message, context, is_stored=False))
        return TurnMemory(recalled=mind.recalled, blocked=mind.blocked)

    # What is around a message

    async def _occasion(
        self, session: ChatSession, cast: Cast, message: Message, context: int, *, is_stored: bool = True
    ) -> Occasion:
        exists = is_stored or session.leaf_id is not None
        history = await self._chats.tail(session.guid, WINDOW, message.id if is_stored else None) if exists else []
        spoken, asked = await self._counted(message, history, is_stored=is_stored)
        moment = message.time
        return Occasion(
            session=session,
            cast=cast,
            text=message.content,
            moment=moment,
            turn=Turn(
                id=str(message.id),
                number=asked,
                spoken=spoken,
                moment=moment,
                seed=str(session.guid),
                expand=lambda text: expand(text, cast.scene(session, session.added)),
            ),
            window=Window.of(history, message),
            history=history,
            memories=await self._holdings.of(session.persona_id),
            sessions=await self._chats.mentionable(session.persona_id),
            bound=await self._keeping.bound(cast, session.guid),
            context=context,
            frame=await self._frames.kept(session.guid),
            states={key: await self._state.get(session.guid, key) for key in STATES},
            meaning=await self._recall.understand(message.content),
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

    # What she brings up of her own accord

    async def _announced(self, occasion: Occasion, message: Message) -> Announced | None:
        settings = self._preferences.current
        session, cast, moment = occasion.session, occasion.cast, occasion.moment
        if cast.persona.disable_bot_guidance or cast.user.disable_bot_guidance:
            return None
        standing = await self._chats.standing(message.id)
        if settings.guidance_latest_only and not standing.is_latest:
            return None
        rules = rules_of(settings, (await self._calibration.thresholds()).natural)
        returned = await self._guidance.at_return(
            session,
            cast,
            standing,
            moment.astimezone(),
            occasion.memories,
            rules,
            is_latest=standing.is_latest,
            previous_is_system=bool(occasion.history) and occasion.history[-1].role is Role.SYSTEM,
        )
        if returned is not None:
            return returned
        await self._holdings.delete(session.persona_id, to_forget(occasion.memories, moment, rules))
        return await self._eureka(occasion, rules)

    async def _eureka(self, occasion: Occasion, rules: Rules) -> Announced | None:
        due = waiting(occasion.memories, occasion.moment, rules)
        keywords = self._keywords.keywords(due, occasion.window, occasion.turn)
        distances = (
            await self._recall.distances(occasion.meaning, [memory.guid for memory in due])
            if due and occasion.meaning is not None and self._preferences.current.rag_enabled
            else {}
        )
        evidence = {memory.guid: Evidence(distances.get(memory.guid), keywords.get(memory.guid, "")) for memory in due}
        tagged = self._preferences.current.tagged_events
        return await self._guidance.of_its_own(
            occasion.session, occasion.cast, occasion.text, occasion.moment, due, evidence, rules, tagged=tagged
        )

    async def _told(self, occasion: Occasion, message: Message, announced: Announced) -> Message:
        """Write the line above the message, and store what became of the memories in it."""
        scene = occasion.cast.scene(occasion.session, occasion.moment)
        line = announced.message
        filled = [Alternative(content=expand(line.content, scene), created=line.time)]
        note = await self._chats.insert_above(message.id, line.model_copy(update={"alternatives": filled}))
        persona_id = occasion.session.persona_id
        if announced.changed:
            await self._holdings.put(persona_id, *announced.changed)
        await self._holdings.delete(persona_id, announced.gone)
        return note

    # What is kept

    async def _noted(self, occasion: Occasion, message: Message) -> str:
        """The facts of this conversation so far, in one line."""
        if not self._preferences.current.scratch:
            return ""
        known = scratch_of(await self._state.get(occasion.session.guid, SCRATCH))
        learnt = learn(aloud([*occasion.history[-1:], message]), known)
        if learnt != known:
            await self._state.set(occasion.session.guid, SCRATCH, learnt)
        return block(learnt)

    async def _keep(self, occasion: Occasion, message: Message, memory: TurnMemory, mind: Mind) -> None:
        await self._turns.put(message.id, memory)
        for key, value in mind.states.items():
            if value != occasion.states.get(key) and (value or occasion.states.get(key)):
                await self._state.set(occasion.session.guid, key, value)
        await self._holdings.touch(occasion.session.persona_id, mind.anew, occasion.moment)


def scratch_of(stored: object) -> dict[str, str]:
    """The session's facts by key, as far as they can be understood."""
    return {str(key): str(value) for key, value in stored.items()} if isinstance(stored, dict) else {}
