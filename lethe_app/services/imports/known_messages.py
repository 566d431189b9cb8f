"""Messages of an import that a persona's conversations contain already, whatever file they come from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lethe_app.domain.bundle import BundledConversation
from lethe_app.domain.chat import Role

Said = tuple[Role, str]
"""Role and text of a message."""
_MIN_BEGINNING = 2
"""Messages that a conversation must share with a known one to be its continuation; many have the same greeting."""


def leave_out_known(conversations: Iterable[BundledConversation], known: Sequence[Sequence[Said]]) -> list[BundledConversation]:
    """Return the conversations without those that `known` ones contain, in order of time, and without the beginning of one that
    goes on where a known one ended.
    """
    known_keys = [_key_of(messages) for messages in known]
    everything = "".join(known_keys)
    remaining = list[BundledConversation]()
    for conversation in conversations:
        said = [(message.role, message.current.content) for message in conversation.messages]
        if (key := _key_of(said)) in everything:
            continue
        begun = [len(known[index]) for index, beginning in enumerate(known_keys) if key.startswith(beginning)]
        length = max(begun, default=0)
        remaining.append(_cut(conversation, length) if length >= _MIN_BEGINNING else conversation)
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
