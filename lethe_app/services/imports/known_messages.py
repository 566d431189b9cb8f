"""Messages of an import that a persona's conversations contain already, whatever file they come from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lethe_app.domain.bundle import BundledConversation
from lethe_app.domain.chat import Role

Said = tuple[Role, str]
"""Role and text of a message."""
_KEY_LENGTH = 25
"""Characters of a message's key."""
_MIN_BEGINNING = 2
"""Messages that a conversation must share with a known one to be its continuation; many have the same greeting."""


class KnownMessages:
    """Messages of a persona's conversations, which are in order of time."""

    def __init__(self, conversations: Iterable[Sequence[Said]]) -> None:
        self._keys = list(map(_key_of, conversations))

    def leave_out(self, conversations: Iterable[BundledConversation]) -> list[BundledConversation]:
        """Return the conversations without those that known ones contain, and without the beginning of one that goes on where
        a known one ended. What is returned is known from then on.
        """
        everything, remaining = "".join(self._keys), list[BundledConversation]()
        for conversation in conversations:
            key = _key_of((message.role, message.current.content) for message in conversation.messages)
            if key in everything:
                continue
            length = max((len(known) for known in self._keys if key.startswith(known)), default=0) // _KEY_LENGTH
            remaining.append(_cut(conversation, length) if length >= _MIN_BEGINNING else conversation)
            self._keys.append(key)
        return remaining


def _key_of(messages: Iterable[Said]) -> str:
    """Return a text of which that of a part of the messages is a part; its digests of fixed length begin with a space."""
    parts = (f"{role}\0{' '.join(text.split())}".encode(errors="surrogatepass") for role, text in messages)
    return "".join(f" {hashlib.blake2b(part, digest_size=12).hexdigest()}" for part in parts)


def _cut(conversation: BundledConversation, length: int) -> BundledConversation:
    """Return a conversation without its first messages."""
    first, *rest = conversation.messages[length:]
    record = conversation.record
    session = record.session.model_copy(update={"added": first.time})
    messages = [first.model_copy(update={"parent_id": None}), *rest]
    return replace(conversation, record=record.model_copy(update={"session": session}), messages=messages)
