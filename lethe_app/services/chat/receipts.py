"""Receipts of replies: the composition of the prompt and the cost of reading it."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from lethe_app.domain.model import LoadedModel, Usage
from lethe_app.domain.prompt import CacheMiss, PrefillCost, Prompt, PromptSpan, ReceiptEntry
from lethe_app.errors import LetheError
from lethe_app.prompt.receipt import compute_cost, find_new_spans
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.turn_context import TurnContext
from lethe_app.services.token_counts import TokenCountService
from lethe_app.storage.chats.receipts import Receipts, ReplyReceipt

log = logging.getLogger(__name__)

MAX_SESSIONS = 6
"""Number of sessions whose last prompt is remembered; for the others the cost cannot be compared."""


@dataclass(frozen=True)
class EvaluatedTurn:
    """Prompt and reply that the model last processed in a session."""

    model: LoadedModel
    spans: Sequence[PromptSpan]
    reply: str = ""


class ReceiptService:
    """Make receipts of replies: the composition of the prompt, and its cost compared with the prompt before it."""

    def __init__(self, receipts: Receipts, token_counts: TokenCountService, preferences: Preferences) -> None:
        self._preferences = preferences
        self._receipts = receipts
        self._token_counts = token_counts
        self._last_turns: OrderedDict[UUID, EvaluatedTurn] = OrderedDict()
        """By session, the most recently used last."""

    async def receipt_of(
        self, turn: TurnContext, model: LoadedModel, prompt: Prompt, text: str, usage: Usage | None
    ) -> ReplyReceipt | None:
        """Return the receipt to store with a reply of this text; None if it cannot be computed, which does not affect the
        reply.

        `usage` is None if the reply was stopped before the model reported it.
        """
        session_id, cost = turn.session.guid, None
        try:
            cost = await self._compute_cost(session_id, model, prompt, usage) if usage is not None else None
        except LetheError as error:
            log.warning("What a reply cost could not be worked out: %s", error)
            return None
        # Remembered even if the cost is unknown, because the next prompt is compared with this one.
        finally:
            self._last_turns[session_id] = EvaluatedTurn(model, prompt.spans, text)
            self._last_turns.move_to_end(session_id)
            while len(self._last_turns) > MAX_SESSIONS:
                self._last_turns.popitem(last=False)
        is_wanted = self._preferences.current.keep_retrieved_context
        entry = ReceiptEntry(prompt.receipt, cost, is_text_stored=is_wanted)
        spans = prompt.spans if is_wanted and not turn.session.is_incognito else ()
        return ReplyReceipt(entry, turn.session.persona_id, spans, turn.rows.deletions)

    async def _compute_cost(self, session_id: UUID, model: LoadedModel, prompt: Prompt, usage: Usage) -> PrefillCost:
        previous = self._last_turns.get(session_id)
        if previous is None or previous.model is not model:
            return PrefillCost(usage.evaluated_tokens, usage.reused_tokens, usage.drift, compared=False)
        new_spans = find_new_spans(previous.spans, previous.reply, prompt.spans)
        tokens = sum(await self._token_counts.count([span.text for span in new_spans]))
        cost = compute_cost(
            previous.spans,
            prompt.spans,
            tokens,
            usage.evaluated_tokens,
            usage.prompt_tokens,
            usage.drift,
            prompt.receipt.layout,
        )
        is_other_session = next(reversed(self._last_turns)) != session_id
        return replace(cost, reason=CacheMiss.ELSEWHERE, part="") if cost.again and is_other_session else cost
