"""Makes a title of a conversation's topics, one that a person would accept in a list."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lethe_app.brain.quotable import Sentence
from lethe_app.brain.topics import HAN_OR_KANA, Topic, distinct
from lethe_app.retrieval.words import STOP_WORDS, fold

MOST_WORDS = 6
_NO_LEADS = frozenset(
    """
    going being having doing getting thinking something anything nothing everything morning evening thing during looking trying
    talking saying seeing making taking putting keeping coming amazing exciting interesting feeling missing including according
    spring string king ring bring sing wing boring loving existing following upcoming inspiring starting
    """.split()  # noqa: SIM905 - see retrieval/words
)
"""Words in -ing that do not lead up to a topic."""
_NO_BEGINNINGS = STOP_WORDS - {"about", "after", "before", "no", "not"}


def titled(found: Sequence[Topic], said: Sequence[Sentence], *, is_english: bool) -> str:
    """The two or three best topics in two to six words, or the one with the words before it; empty if there are none."""
    best = distinct(found, 3)
    if not best:
        return ""
    kept = [topic for number, topic in enumerate(best) if number < 2 or len(topic.lines) > 1]
    names = [_with_article(topic) if number else topic.spelling for number, topic in enumerate(kept)]
    if is_english and (led := _led(kept[0], said)):
        names = [led, *names[1:2]] if len(kept) > 1 and len(kept[1].lines) > 1 else [led]
    elif is_english and len(names) == 1 and kept[0].words == 1:
        names = [_with_words_before(kept[0], said)]
    while len(names) > 1 and sum(name.count(" ") + 1 for name in names) > MOST_WORDS - (len(names) > 1 and is_english):
        names.pop()
    text = _listed(names, is_english=is_english)
    return text[:1].upper() + text[1:]


def _with_article(topic: Topic) -> str:
    often = 2 * topic.definite > len(topic.lines) and not topic.is_name and topic.words == 1
    return f"the {topic.spelling}" if often else topic.spelling


def _listed(names: Sequence[str], *, is_english: bool) -> str:
    comma = "、" if HAN_OR_KANA.match(names[0]) else ", "
    if not is_english or len(names) == 1:
        return comma.join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _led(topic: Topic, said: Sequence[Sentence]) -> str:
    """The topic with what is done about it, such as “moving to Porto”, where somebody put it like that."""
    link = r"(?:(?:to|in|into|at|for|from|on|about) )?(?:(?:the|a|an) )?"
    pattern = re.compile(rf"(?<![\w'’])([a-z]{{3,}}ing {link}){re.escape(topic.spelling)}\b", re.IGNORECASE)
    for sentence in said:
        if sentence.line in topic.lines and not sentence.narrates and (match := pattern.search(sentence.text)):
            lead = match[1].lower()
            if lead.split()[0] not in _NO_LEADS and (not topic.is_name or " " in lead.strip()):
                return f"{lead}{topic.spelling}"
    return ""


def _with_words_before(topic: Topic, said: Sequence[Sentence]) -> str:
    """A single word is no title: “nice weather”, “lost my grandmother”."""
    first = next(sentence.text for sentence in said if sentence.line in topic.lines and topic.spelling in sentence.text)
    before = first[: first.index(topic.spelling)].split()[-3:]
    while before and (fold(before[0]).strip("'’,") in _NO_BEGINNINGS or not before[0].isalpha()):
        before.pop(0)
    return " ".join([*before, topic.spelling])
