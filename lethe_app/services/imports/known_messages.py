"""Messages of an import that a persona's conversations contain already, whatever file they come from."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lethe_app.domain.bundle import BundledConversation
from lethe_app.domain.chat import Role

Said = tuple[Role, str]
"""Role and text of a message."""
_MIN_BEGINNING = 2
"""Messages that a conversation must share with a known one to be its continuation; many have the same greeting."""
_MIN_SHARE = 0.75
"""Share of known messages in what is left out; the others are those that were edited or deleted here since."""
_MOST_SIMILAR = 8
"""Known conversations with which one is compared, those that share the most messages with it."""


class KnownMessages:
    """Messages of a persona's conversations, which are in order of time."""

    def __init__(self, conversations: Iterable[Sequence[Said]]) -> None:
        self._conversations: list[list[str]] = []
        self._numbers = defaultdict[str, list[int]](list)
        """Numbers of the conversations in which each message stands."""
        for conversation in conversations:
            self._add(_keys_of(conversation))

    def leave_out(self, conversations: Iterable[BundledConversation]) -> list[BundledConversation]:
        """Return the conversations without those that known ones contain, and without the beginning of one that goes on where
        a known one ended, also if a few of its messages say something else there. What is returned is known from then on.
        """
        everything, remaining = "".join(key for keys in self._conversations for key in keys), list[BundledConversation]()
        for conversation in conversations:
            keys = _keys_of((message.role, message.current.content) for message in conversation.messages)
            similar = Counter(number for key in set(keys) for number in self._numbers.get(key, ())).most_common(_MOST_SIMILAR)
            known = max((_count_known(keys, self._conversations[number]) for number, _shared in similar), default=0)
            if "".join(keys) in everything or known == len(keys):
                continue
            remaining.append(_cut(conversation, known) if known >= _MIN_BEGINNING else conversation)
            self._add(keys)
        return remaining

    def _add(self, keys: list[str]) -> None:
        for key in set(keys):
            self._numbers[key].append(len(self._conversations))
        self._conversations.append(keys)


def _count_known(keys: Sequence[str], known: Sequence[str]) -> int:
    """Return how many messages at the beginning of a conversation another one has but for a few; 0 if that is another one."""
    messages, shared, best = set(known), 0, (0, 0)
    for length, key in enumerate(keys, 1):
        shared += key in messages
        if key in messages and shared >= _MIN_SHARE * length:
            best = length, shared
    return best[0] if best[1] >= _MIN_SHARE * min(len(keys), len(known)) else 0


def _keys_of(messages: Iterable[Said]) -> list[str]:
    """Return a key of each message, of one length and with a space before it."""
    parts = (f"{role}\0{' '.join(text.split())}".encode(errors="surrogatepass") for role, text in messages)
    return [f" {hashlib.blake2b(part, digest_size=12).hexdigest()}" for part in parts]


def _cut(conversation: BundledConversation, length: int) -> BundledConversation:
    """Return a conversation without its first messages."""
    first, *rest = conversation.messages[length:]
    record = conversation.record
    session = record.session.model_copy(update={"added": first.time})
    messages = [first.model_copy(update={"parent_id": None}), *rest]
    return replace(conversation, record=record.model_copy(update={"session": session}), messages=messages)
