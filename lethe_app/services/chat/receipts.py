"""Writes down for every reply what its prompt was made of and what reading it cost, as long as nothing of it was forgotten."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from lethe_app.domain.chat import ChatSession, Message
from lethe_app.domain.model import LoadedModel, Usage
from lethe_app.domain.prompt import Cost, Prompt, PromptSpan, ReceiptEntry
from lethe_app.errors import LetheError
from lethe_app.prompt.cache_cost import ELSEWHERE, new_in, work_out
from lethe_app.services.token_counts import Counting
from lethe_app.storage.chats.receipts import Receipts

log = logging.getLogger(__name__)

REMEMBERED = 6
"""Conversations whose last prompt is remembered; of the others nothing can be said that was read before."""


@dataclass(frozen=True)
class Read:
    """What the model read last in a conversation."""

    model: LoadedModel
    spans: Sequence[PromptSpan]
    said: str = ""


class ReceiptService:
    """One turn at a time: `open` before anything is remembered for it, `close` when its reply is stored."""

    def __init__(self, receipts: Receipts, counting: Counting) -> None:
        self._receipts = receipts
        self._counting = counting
        self._read: OrderedDict[UUID, Read] = OrderedDict()
        """The newest last."""

    async def open(self, persona_id: str) -> int:
        """How often something of hers was forgotten until now; to be handed to `close`."""
        return await self._receipts.forgotten(persona_id)

    async def close(
        self,
        session: ChatSession,
        model: LoadedModel,
        prompt: Prompt,
        reply: Message,
        said: str,
        usage: Usage | None,
        forgotten: int,
    ) -> None:
        """Keep what is to be told of a reply that was just stored. Trouble with it spoils no reply.

        `usage` is None where the reply was stopped before the model could tell.
        """
        try:
            cost = await self._cost(session.guid, model, prompt, usage) if usage is not None else None
            entry = ReceiptEntry(prompt.receipt, cost)
            await self._receipts.save_receipt(reply.id, entry, session.persona_id, prompt.spans, forgotten)
        except LetheError as error:
            log.warning("What a reply cost could not be kept: %s", error)
        self._read[session.guid] = Read(model, prompt.spans, said)
        self._read.move_to_end(session.guid)
        while len(self._read) > REMEMBERED:
            self._read.popitem(last=False)

    async def forget_prompts(self, persona_id: str) -> None:
        """The user changed what was said: no prompt of hers is kept that tells it the old way."""
        await self._receipts.delete_prompts(persona_id)

    async def _cost(self, session_id: UUID, model: LoadedModel, prompt: Prompt, usage: Usage) -> Cost:
        before = self._read.get(session_id)
        if before is None or before.model is not model:
            return Cost(usage.evaluated_tokens, usage.reused_tokens, usage.drift, compared=False)
        fresh = new_in(before.spans, before.said, prompt.spans)
        tokens = sum(await self._counting.count([span.text for span in fresh]))
        cost = work_out(
            before.spans,
            prompt.spans,
            tokens,
            usage.evaluated_tokens,
            usage.prompt_tokens,
            usage.drift,
            prompt.receipt.layout,
        )
        is_elsewhere = next(reversed(self._read)) != session_id
        return replace(cost, because=ELSEWHERE) if cost.again and is_elsewhere else cost
