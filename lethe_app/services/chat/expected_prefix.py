"""Predict the part of the next system prompt that does not depend on the user's next message, so that prefill ahead of the
message computes the right prefix.
"""

from __future__ import annotations

from datetime import datetime

from lethe_app.domain.clock import now
from lethe_app.domain.recall import RecalledMemory, RecallWay, TurnMemory
from lethe_app.domain.worldinfo import WorldEntry
from lethe_app.services.memory.lore import entry_recollection
from lethe_app.services.prompting.turn_context import TurnContext

SYSTEM = -1
"""`position_index` of entries that are in the system prompt."""
LASTING = frozenset({RecallWay.CONSTANT, RecallWay.ACTIVE})
"""Ways of recall that continue from one turn to the next."""
NEAR_END = 4
"""Messages from the end of the history among which the user's newest message is looked for."""


def expected_memory(turn: TurnContext) -> TurnMemory:
    """Return the memories that the next turn will have in the system prompt: those of the newest turn that last, else the
    entries that are always included.

    The prediction holds unless a key activates or ends an entry in the system prompt. A wrong prediction only loses the
    prefill.
    """
    recalled = (
        turn.rows.turn_memory.recalled
        if turn.question in turn.messages[-NEAR_END:] and turn.rows.turn_memory
        else _constants(turn)
    )
    return TurnMemory(recalled=[one for one in recalled if one.position_index == SYSTEM and one.way in LASTING])


def _constants(turn: TurnContext) -> list[RecalledMemory]:
    moment = now()
    return [
        entry_recollection(world, entry, RecallWay.CONSTANT, [])
        for world in turn.files.worlds.worlds.values()
        for entry in world.entries
        if is_surely_there(entry, moment)
    ]


def is_surely_there(entry: WorldEntry, moment: datetime) -> bool:
    """Return whether the entry is activated in the first turn of any session: it is constant, enabled and due, has no delay,
    and its trigger chance is 1.
    """
    return entry.sticky and entry.enabled and entry.is_due(moment) and entry.trigger_chance >= 1 and not entry.delay
