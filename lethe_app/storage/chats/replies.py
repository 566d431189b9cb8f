"""Stores the wordings of replies while they are generated and when they end, the receipt of the prompt with the last one."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from lethe_app.domain.chat import Alternative, Message
from lethe_app.domain.prompt import PromptSpan, ReceiptEntry
from lethe_app.storage.chats import messages, receipts
from lethe_app.storage.database import Database


@dataclass(frozen=True)
class ReplyReceipt:
    """What is stored of the prompt of a reply."""

    entry: ReceiptEntry
    persona_id: str
    spans: Sequence[PromptSpan]
    """The prompt word for word."""
    deletions: int
    """How often memories of the persona had been deleted before the prompt was begun; `spans` are not stored after another."""


class Replies:
    """Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def store(
        self, message: Message, position: int | None, wording: Alternative, *, is_new: bool, receipt: ReplyReceipt | None = None
    ) -> tuple[Message, int]:
        """Store a wording at `position` of its message; without a position as the newest one, or as a new message if `is_new`.

        Returns the message as it is stored now and the position of the wording. Raises StorageError if the message is gone.
        """

        def work(connection: sqlite3.Connection) -> tuple[Message, int]:
            at = position
            if at is not None:
                messages.replace_alternative(connection, str(message.id), at, wording)
            elif is_new:
                messages.add(connection, message.model_copy(update={"alternatives": [wording]}))
                at = 0
            else:
                at = messages.append_alternative(connection, str(message.id), wording)
            if receipt is not None:
                told = (receipt.entry, receipt.persona_id, receipt.spans, receipt.deletions)
                receipts.save_in_transaction(connection, message.id, *told)
            return messages.load_one(connection, str(message.id)), at

        return await self._database.run(work)
