"""Decision whether the persona brings up a memory unprompted in a turn, by the settings and the pace of the session."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from lethe_app.brain.proactive.selection import ProactiveEvidence, find_waiting
from lethe_app.brain.recall.keyword_recall import KeywordRecall
from lethe_app.brain.recall.proactive_rules import ProactiveRules
from lethe_app.domain.chat import Message
from lethe_app.retrieval.memory_index import MemoryIndex
from lethe_app.services.indexing.calibration import Calibration
from lethe_app.services.memory.proactive import ProactiveMemory, ProactiveTurn, rules_of, was_announced
from lethe_app.services.memory.recall_context import RecallContext
from lethe_app.services.preferences import Preferences
from lethe_app.services.scheduling.offload import offload_if_large
from lethe_app.storage.chats.messages import TurnPosition


class InitiativeService:
    """Choose what the persona brings up unprompted: the note at the user's return, else a waiting memory that matches the
    turn.
    """

    def __init__(
        self, proactive: ProactiveMemory, memory_index: MemoryIndex, calibration: Calibration, preferences: Preferences
    ) -> None:
        self.proactive = proactive
        self._memory_index = memory_index
        self._calibration = calibration
        self._preferences = preferences
        self._keywords = KeywordRecall()

    async def choose(self, context: RecallContext, question: Message, turn_position: TurnPosition) -> ProactiveTurn:
        """Return what the persona brings up in answer to `question`, its mood, and the memories to prune. Nothing is
        changed.
        """
        settings, participants = self._preferences.current, context.participants
        if participants.persona.disable_bot_guidance or participants.user.disable_bot_guidance:
            return ProactiveTurn()
        if (settings.guidance_latest_only and not turn_position.is_latest) or was_announced(context.history):
            return ProactiveTurn()
        rules = rules_of(settings, (await self._calibration.thresholds()).natural)
        mood_effect = self.proactive.compute_mood_effect(context, question)
        return_insertion = await self.proactive.build_return_insertion(context, turn_position, rules, mood_effect)
        if return_insertion is not None:
            return ProactiveTurn(return_insertion, mood_effect=mood_effect)
        initiative = await self._match_waiting(context, rules)
        prunable = await self.proactive.prunable(context.session.persona_id, context.memories, context.moment, rules)
        return replace(initiative, prunable=prunable, mood_effect=mood_effect)

    async def _match_waiting(self, context: RecallContext, rules: ProactiveRules) -> ProactiveTurn:
        waiting, embedding = context.memories.waiting, context.embedding
        due = await offload_if_large(len(waiting), partial(find_waiting, waiting, context.moment, rules))
        scan = partial(self._keywords.match_waiting, due, context.window, context.turn)
        keywords = await offload_if_large(len(due), scan) if due else {}
        comparable_ids = [memory.guid for memory in due if memory.category not in rules.silent]
        distances = (
            await self._memory_index.distances(embedding, comparable_ids) if comparable_ids and embedding is not None else {}
        )
        evidence = {memory.guid: ProactiveEvidence(distances.get(memory.guid), keywords.get(memory.guid, "")) for memory in due}
        is_tagged = self._preferences.current.tagged_events
        return await self.proactive.choose_waiting_memory(context, due, evidence, rules, is_tagged=is_tagged)
