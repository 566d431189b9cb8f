"""Everything a persona remembers, in the user's hands: memorize, forget, search, and see what a text would bring up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from uuid import UUID

from lethe_app.brain.recall import duplicates
from lethe_app.brain.recall.duplicates import NAMED, DeduplicatedMemory
from lethe_app.brain.vocabulary.normalize import fold
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.domain.memory import MemoryType, MemoryUnit
from lethe_app.domain.passage import PassageKind
from lethe_app.domain.recall import Recollection, TurnMemory
from lethe_app.errors import LetheError, StorageError
from lethe_app.retrieval import fact_relation as wording
from lethe_app.retrieval.calibration import Thresholds
from lethe_app.retrieval.memory_index import Recall
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.indexing.service import Indexing, owner_of_waiting
from lethe_app.services.memory.cache import MemoryCache
from lethe_app.services.memory.lore import LoreKeeping
from lethe_app.services.memory.recall import RecallService
from lethe_app.services.memory.search import MemoryQuery
from lethe_app.services.memory.time_search import TimeSearch
from lethe_app.services.participants import ParticipantService
from lethe_app.services.prompting.stable_prefix import StablePrefixes
from lethe_app.storage.chats.sessions import Chats
from lethe_app.storage.memory.memories import Memories

MOST = 50
"""Memories one search may give."""
USUAL = 3


class Brain:
    """One for all personas; each remembers only what is hers and what her worlds tell."""

    def __init__(
        self,
        memories: Memories,
        holdings: MemoryCache,
        chats: Chats,
        casting: ParticipantService,
        keeping: LoreKeeping,
        recollecting: RecallService,
        searching: TimeSearch,
        recall: Recall,
        indexing: Indexing,
        calibration: Calibration,
        frames: StablePrefixes,
    ) -> None:
        self.changed = holdings.changed
        self._memories = memories
        self._holdings = holdings
        self._chats = chats
        self._casting = casting
        self._keeping = keeping
        self._recollecting = recollecting
        self._searching = searching
        self._recall = recall
        self._indexing = indexing
        self._calibration = calibration
        self._frames = frames

    async def memories(self, persona_id: str) -> Sequence[MemoryUnit]:
        """All that are neither sessions nor in the trash, newest first."""
        return list(await self._holdings.memories_of(persona_id))

    async def memorize(
        self,
        persona_id: str,
        memory: MemoryUnit,
        *,
        check: bool = True,
        tell: Callable[[MemoryUnit], Awaitable[None]] | None = None,
    ) -> DeduplicatedMemory:
        """Keep a memory. One that says what is known already takes the place of that, with its guid, sources and counts.

        With `check=False` it is put beside whatever is there. What a task or a tool made never takes the place of the user's.
        `tell` hears what is about to be kept.
        """
        if memory.category is MemoryType.CHAT_SESSION:
            raise LetheError("A conversation is remembered by being held.", "Archive it instead.")
        await self._indexing.settle_all()
        held = {each.guid: each for each in await self._holdings.memories_of(persona_id) if each.made_by or not memory.made_by}
        if not check or memory.guid in held:
            kept = duplicates.deduplicate(memory, None, None)
        else:
            limits = await self._calibration.thresholds()
            nearest = await self._nearest(persona_id, memory, held)
            if nearest is not None and says_another_thing(nearest[0], memory, nearest[1], limits):
                nearest = None
            kept = duplicates.deduplicate(memory, self._namesake(memory, held), nearest, limits.same_memory)
        if tell is not None:
            await tell(kept.record)
        await self._holdings.save_memories(persona_id, kept.record)
        await self._indexing.follow()
        return kept

    async def edit(self, memory: MemoryUnit, by: str = "") -> None:
        """Another content under the same guid. Raises StorageError if there is none, or it is in the trash.

        `by` is the task or tool that edits; empty is the user, whose own it is from then on.
        """
        await self._memories.get(memory.guid)
        persona_id = await self._memories.owner(memory.guid)
        await self._holdings.save_memories(persona_id, memory.model_copy(update={"made_by": by}))
        await self._indexing.follow()

    async def forget_memory(self, guid: UUID) -> None:
        """Move a memory to the trash; nothing brings it up from now on. Raises StorageError if it is not there."""
        await self._memories.get(guid)
        persona_id = await self._memories.owner(guid)
        await self._holdings.delete(persona_id, [guid])
        await self._indexing.follow()

    async def restore(self, guid: UUID) -> None:
        """Take it out of the trash again. Raises StorageError if it is not in it."""
        persona_id = await self._memories.owner(guid)
        if not await self._holdings.restore(persona_id, [guid]):
            raise StorageError("This memory is not in the trash any more.")
        await self._indexing.follow()

    async def search(self, persona_id: str, text: str, count: int = USUAL, *, only_sure: bool = False) -> list[Recollection]:
        """What a text is nearest to in all she remembers, best first; `count` from 1 to 50. Changes nothing.

        Nothing for an empty text. With `only_sure` no more than would be brought up by itself.
        """
        if not text.strip():
            return []
        await self._indexing.settle_all()
        cast = await self._casting.of_persona(persona_id)
        asking = MemoryQuery(
            persona_id=persona_id,
            text=text,
            moment=now(),
            bound=await self._keeping.bound(cast, None),
            memories={memory.guid: memory for memory in await self._holdings.memories_of(persona_id)},
            dates=cast.persona.dates_in_session_summaries,
        )
        return (await self._searching.search(asking, min(max(count, 1), MOST), only_sure=only_sure)).recollections

    async def would_recall(self, persona_id: str, text: str, session_id: UUID | None = None) -> TurnMemory:
        """What a message would bring in, from worlds, keywords and meaning, and why. Changes nothing.

        In the given session, or else in one that begins with it.
        """
        if session_id is not None:
            session = await self._chats.session(session_id)
            return await self._recollecting.preview(session, await self._casting.of_session(session), text)
        cast = await self._casting.of_persona(persona_id)
        return await self._recollecting.preview(ChatSession(persona_id=persona_id), cast, text)

    async def recalled(self, message_id: UUID) -> TurnMemory | None:
        """What came to mind when a message of the user's was said; None if that is not known."""
        return await self._recollecting.again(message_id)

    async def notes(self, session_id: UUID) -> dict[str, str]:
        """The facts of a running conversation, by key."""
        return await self._recollecting.notes(session_id)

    async def write_notes(self, session_id: UUID, notes: Mapping[str, str]) -> None:
        """Put the user's own version of them in their place."""
        await self._recollecting.write_notes(session_id, notes)

    async def reload(self) -> None:
        """Let go of everything held in memory and read it from storage again when it is needed."""
        self._holdings.reload()
        self._recall.reload()
        await self._indexing.settle_all()

    async def rebuild(self) -> None:
        """Rebuild the memory index from what is stored, as after a part of it was lost or damaged."""
        await self.reload()
        await self._indexing.rebuild()

    async def refresh(self, persona_id: str) -> None:
        """Make anew what stands still in the prompts of her conversations: summaries and core facts."""
        await self._frames.renew(persona_id)

    def _namesake(self, memory: MemoryUnit, held: dict[UUID, MemoryUnit]) -> MemoryUnit | None:
        """A person or place of the same name."""
        if memory.category not in NAMED:
            return None
        name = memory.name.strip().casefold()
        same = (one for one in held.values() if one.category is memory.category and one.name.strip().casefold() == name)
        return next(same, None)

    async def _nearest(
        self, persona_id: str, memory: MemoryUnit, held: dict[UUID, MemoryUnit]
    ) -> tuple[MemoryUnit, float] | None:
        """The nearest one of the same type that may be overwritten, waiting ones included."""
        rivals = {guid: one for guid, one in held.items() if one.category is memory.category and not one.protected}
        said = words(memory)
        if said and (same := next((one for one in rivals.values() if words(one) == said), None)):
            return same, 0.0  # known without any embedder
        text = f"{memory.name}: {memory.content}" if memory.name else memory.content
        found: list[tuple[float, MemoryUnit]] = []
        for owner in (persona_id, owner_of_waiting(persona_id)):
            for guid, distance in await self._recall.nearest(owner, text, PassageKind.MEMORY, MOST):
                if guid in rivals:
                    found.append((distance, rivals[guid]))
                    break
        return min(((one, distance) for distance, one in found), key=lambda pair: pair[1], default=None)


def says_another_thing(old: MemoryUnit, new: MemoryUnit, distance: float, limits: Thresholds) -> bool:
    """Is it only near what is known, and neither the same nor a change of it? Then both are kept."""
    return wording.relation(old.content, new.content, distance, limits) is wording.SentenceRelation.NEW


def words(memory: MemoryUnit) -> str:
    """What a memory says, whatever its case and spacing."""
    return " ".join(fold(memory.content, keep_case=False).split())
