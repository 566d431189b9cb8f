"""Storage of replies while they are generated and when they end, then with the receipt of their prompt."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from lethe_app.domain.chat import Alternative, Message
from lethe_app.domain.prompt import PromptSpan, ReceiptEntry
from lethe_app.storage.chats import messages, receipts
from lethe_app.storage.database import Store, in_transaction


@dataclass(frozen=True)
class ReplyReceipt:
    """Receipt of the prompt of a reply, with what it was made from."""

    entry: ReceiptEntry
    persona_id: str
    spans: Sequence[PromptSpan]
    """The prompt word for word."""
    deletions: int
    """Number of deletions of the persona's memories before the prompt was built; after another one, `spans` are not stored."""


class Replies(Store):
    """Store of the alternatives of replies. Every method is one transaction."""

    @in_transaction
    def store(
        self,
        connection: sqlite3.Connection,
        message: Message,
        position: int | None,
        alternative: Alternative,
        *,
        is_new: bool,
        receipt: ReplyReceipt | None = None,
    ) -> tuple[Message, int]:
        """Store an alternative at `position` of its message; without a position as the newest one, or as a new message if
        `is_new`.

        Return the stored message and the position of the alternative. Raise StorageError if the message is gone.
        """
        stored_position = position
        if stored_position is not None:
            messages.replace_alternative(connection, str(message.id), stored_position, alternative)
        elif is_new:
            messages.add(connection, message.model_copy(update={"alternatives": [alternative]}))
            stored_position = 0
        else:
            stored_position = messages.append_alternative(connection, str(message.id), alternative)
        if receipt is not None:
            receipts.save_in_transaction(
                connection, message.id, receipt.entry, receipt.persona_id, receipt.spans, receipt.deletions
            )
        return messages.load_message(connection, str(message.id)), stored_position
