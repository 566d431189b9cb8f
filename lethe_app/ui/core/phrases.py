"""Sentences that the rooms below make in English, with what varies in them, so that they too can be told in other languages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

SLOT = re.compile(r"\{(\w+)\}")


class TranslatablePhrases:
    """A text that fits one of the phrases is told in the reader's language; any other stays as it is."""

    def __init__(self, context: str, phrases: Sequence[object]) -> None:
        """In each phrase `{name}` stands for something that varies; the more particular ones come first."""
        self._context = context
        self.phrases = [str(phrase) for phrase in phrases]

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], str]]:
        return [(_pattern(phrase), phrase) for phrase in self.phrases]

    def knows(self, text: str) -> bool:
        return any(pattern.fullmatch(text) for pattern, _phrase in self._patterns)

    def in_words(self, text: str) -> str:
        """In the reader's language."""
        for pattern, phrase in self._patterns:
            if (found := pattern.fullmatch(text)) is not None:
                return QCoreApplication.translate(self._context, phrase).format(**found.groupdict())
        return text


def _pattern(phrase: str) -> re.Pattern[str]:
    pieces = SLOT.split(phrase)
    made = (f"(?P<{piece}>.+?)" if place % 2 else re.escape(piece) for place, piece in enumerate(pieces))
    return re.compile("".join(made), re.DOTALL)


REASONS = TranslatablePhrases(
    "Reason",
    [
        QT_TRANSLATE_NOOP("Reason", "two things the question names occur together, in these words or others"),
        QT_TRANSLATE_NOOP("Reason", "a line says, word for word or nearly, what the question says"),
        QT_TRANSLATE_NOOP("Reason", "so does something known"),
        QT_TRANSLATE_NOOP("Reason", "something known is about the same"),
        QT_TRANSLATE_NOOP("Reason", "the summary has a sentence about the same"),
        QT_TRANSLATE_NOOP("Reason", "a line shares rare words with the question"),
        QT_TRANSLATE_NOOP("Reason", "words that are neighbours in the question are neighbours there"),
        QT_TRANSLATE_NOOP("Reason", "much of what the question names comes up somewhere"),
        QT_TRANSLATE_NOOP("Reason", "it was at the time the question names"),
        QT_TRANSLATE_NOOP("Reason", "it was among the first meetings, which the question is about"),
        QT_TRANSLATE_NOOP("Reason", "it was lately, which the question is about"),
        QT_TRANSLATE_NOOP("Reason", "memory of it was asked for"),
        QT_TRANSLATE_NOOP("Reason", "the conversation of that time was asked for: {words}"),
        QT_TRANSLATE_NOOP("Reason", "“{words}” is when it was"),
        QT_TRANSLATE_NOOP("Reason", "it shares the word: {words}"),
        QT_TRANSLATE_NOOP("Reason", "it shares words: {words}"),
        QT_TRANSLATE_NOOP("Reason", "a conversation begins, and it is among what matters most"),
        QT_TRANSLATE_NOOP("Reason", "it is always there"),
        QT_TRANSLATE_NOOP("Reason", "it was brought up a few turns ago and stays"),
        QT_TRANSLATE_NOOP("Reason", "it stays until turn"),
        QT_TRANSLATE_NOOP("Reason", "its name, “{name}”, was said in the message"),
        QT_TRANSLATE_NOOP("Reason", "its name, “{name}”, was said in the last message before it"),
        QT_TRANSLATE_NOOP("Reason", "the keyword “{word}” was said in the message"),
        QT_TRANSLATE_NOOP("Reason", "the keyword “{word}” was said in the last message before it"),
        QT_TRANSLATE_NOOP("Reason", "the keyword “{word}” was said"),
        QT_TRANSLATE_NOOP("Reason", "none of the words was said that keep it asleep"),
        QT_TRANSLATE_NOOP("Reason", "“{word}” was said in your message"),
        QT_TRANSLATE_NOOP("Reason", "“{word}” was said in the message before"),
        QT_TRANSLATE_NOOP("Reason", "“{word}” was said {n} messages before"),
        QT_TRANSLATE_NOOP("Reason", "a word it waits for was not said"),
        QT_TRANSLATE_NOOP("Reason", "it woke a few turns ago and stays until turn {turn}"),
        QT_TRANSLATE_NOOP("Reason", "“{word}” stands in “{entry}”"),
        QT_TRANSLATE_NOOP("Reason", "hours the user was away"),
        QT_TRANSLATE_NOOP("Reason", "notes that waited"),
        QT_TRANSLATE_NOOP("Reason", "memories that waited for the return"),
        QT_TRANSLATE_NOOP("Reason", "the message is near to it"),
        QT_TRANSLATE_NOOP("Reason", "its title shares the word “{word}”"),
        QT_TRANSLATE_NOOP("Reason", "it waited long enough, in messages"),
        QT_TRANSLATE_NOOP("Reason", "the user asked: “{words}”"),
        QT_TRANSLATE_NOOP("Reason", "its time has come"),
    ],
)
"""Why a memory came."""

OBSTACLES = TranslatablePhrases(
    "Obstacle",
    [
        QT_TRANSLATE_NOOP("Obstacle", "you said it did not belong to what was being said"),
        QT_TRANSLATE_NOOP("Obstacle", "only {most} come, and others go before its rank of {rank}"),
        QT_TRANSLATE_NOOP("Obstacle", "condition “{condition}”"),
        QT_TRANSLATE_NOOP("Obstacle", "rests until turn {until}, this is turn {turn}"),
        QT_TRANSLATE_NOOP("Obstacle", "needs {wanted} messages, there are {n}"),
        QT_TRANSLATE_NOOP("Obstacle", "waits for round {round} of entries waking entries"),
        QT_TRANSLATE_NOOP("Obstacle", "drew {drawn}, below {chance} was needed"),
        QT_TRANSLATE_NOOP("Obstacle", "no more than {most} rounds"),
        QT_TRANSLATE_NOOP(
            "Obstacle", "“{winner}” stands for the group “{group}”: {more} of its keys were said, {fewer} of this"
        ),
        QT_TRANSLATE_NOOP("Obstacle", "“{winner}” stands for the group “{group}”"),
        QT_TRANSLATE_NOOP("Obstacle", "{cost} tokens, {left} left"),
        QT_TRANSLATE_NOOP("Obstacle", "switched off"),
        QT_TRANSLATE_NOOP("Obstacle", "from {moment} on"),
        QT_TRANSLATE_NOOP("Obstacle", "over since {moment}"),
    ],
)
"""What kept one back, in detail."""

COSTS = TranslatablePhrases(
    "Cost",
    [
        QT_TRANSLATE_NOOP("Cost", "another conversation was read in between"),
        QT_TRANSLATE_NOOP("Cost", "the oldest messages have left the prompt"),
        QT_TRANSLATE_NOOP("Cost", "what is brought up stands just above the newest message and has moved on with it"),
        QT_TRANSLATE_NOOP("Cost", "what is brought up stands in the system prompt"),
        QT_TRANSLATE_NOOP("Cost", "what is brought up stands among the messages"),
        QT_TRANSLATE_NOOP("Cost", "it is somebody else's turn to speak"),
        QT_TRANSLATE_NOOP("Cost", "an entry stands in the system prompt"),
        QT_TRANSLATE_NOOP("Cost", "what is told of earlier talk has changed"),
        QT_TRANSLATE_NOOP("Cost", "what is known for certain has changed"),
        QT_TRANSLATE_NOOP("Cost", "a message was changed"),
        QT_TRANSLATE_NOOP("Cost", "the newest message has changed"),
        QT_TRANSLATE_NOOP("Cost", "the reply stands there otherwise than the model wrote it"),
        QT_TRANSLATE_NOOP("Cost", "the model's own format has changed"),
        QT_TRANSLATE_NOOP("Cost", "the {part} has changed"),
    ],
)
"""Why something had to be read again."""

CUTS = TranslatablePhrases(
    "Cut",
    [
        QT_TRANSLATE_NOOP(
            "Cut",
            "{lost} of {n} left out: the part may have at most {share} of the context, and for {rest} there was no room",
        ),
        QT_TRANSLATE_NOOP("Cut", "{lost} of {n} left out: the part may have at most {share} of the context"),
        QT_TRANSLATE_NOOP("Cut", "{lost} of {n} left out: there is no room beside the conversation"),
        QT_TRANSLATE_NOOP("Cut", "the oldest {lost} of {n} messages left out: there is no room for all"),
        QT_TRANSLATE_NOOP("Cut", "the first {n} messages of the conversation had no room any more and are told in a summary"),
    ],
)
"""What of a prompt was cut, and why."""
