"""Speech that is not about the user's life: roleplay, scenes, dreams, games, hypotheses, and talk about the model."""

from __future__ import annotations

import re
from functools import partial

from lethe_app.brain.text.sentences import FIRST_PERSON_WORD
from lethe_app.brain.vocabulary.common_words import TIME_WORDS
from lethe_app.brain.vocabulary.verbs import BASE_VERBS
from lethe_app.language_tables import LazySet, lazy_words, load_words, table_pattern, table_words
from lethe_app.searchable_text import WORD, fold

_pattern = partial(table_pattern, "roleplay")
_words = partial(table_words, "roleplay")

_ACTION_VERBS = (BASE_VERBS - {"like", "love", "prefer", "hate", "say"}) | {
    "be", "do", "go", "get", "have", "move", "open", "quit", "stay", "call", "put", "shut", "own",
}  # fmt: skip
_LONG_AGO = re.compile(
    r"\b(?:as a (?:kid|child|boy|girl)|when I was|every|always|used to|back then|appreciate|been)\b", re.IGNORECASE
)
_TOPIC_CHANGE = re.compile(r"^\W*(?:anyway|anyways|anyhow|so anyway|ok(?:ay)?,? (?:so )?anyway)\b", re.IGNORECASE)
_ASIDE = re.compile(
    r"\b(?:btw|by the way|irl|in real life|real talk|ooc|out of character|for real though|in reality)\b", re.IGNORECASE
)
_KIN_IN_STORIES = lazy_words("kin_in_stories")
_EVERYDAY_WORDS = LazySet(lambda: (load_words("relatives") - load_words("kin_in_stories")) | load_words("everyday_life"))
"""Words of everyday life that are rare in roleplay scenes."""


def is_hypothetical(sentence: str) -> bool:
    """Return whether the sentence is about something imagined or dreamt, or what its speaker would do: “I'd buy
    mum a bungalow”.
    """
    would_match = _pattern("would_clause").match(sentence)
    is_intended = would_match is not None and would_match["verb"].lower() in _ACTION_VERBS and not _LONG_AGO.search(sentence)
    return is_intended or bool(_pattern("hypothesis").search(sentence))


def split_at_declaration(text: str) -> tuple[str, str, str]:
    """Split a text into what precedes, forms and follows the sentences that set up a scene with a role for the user.

    Without such a declaration the first two parts are empty.
    """
    match = _pattern("scene_declaration").search(text)
    if not match:
        return "", "", text
    start = max(text.rfind(mark, 0, match.start() + 1) for mark in ".!?\n") + 1
    sentence_end = re.search(r"[.!?\n]|$", text[match.end() :])
    end = match.end() + (sentence_end.end() if sentence_end else 0)
    return text[:start], text[start:end], text[end:]


def ends_scene(sentence: str, *, can_change_topic: bool) -> bool:
    """Return whether the sentence ends a scene; with `can_change_topic` a mere “anyway” is enough."""
    return bool(_pattern("scene_end").match(sentence) or (can_change_topic and _TOPIC_CHANGE.match(sentence)))


def is_out_of_character(sentence: str) -> bool:
    """Return whether the sentence marks itself as out of character."""
    return bool(_ASIDE.search(sentence))


def is_roleplay_sentence(sentence: str, *, in_scene: bool = False) -> bool:
    """Return whether the sentence is an act or utterance that only a character can perform; `in_scene` accepts ordinary acts
    too.
    """
    if (_pattern("physical_act").match(sentence) or (in_scene and _pattern("possible_act").match(sentence))) and not _words(
        "habit"
    ).search(sentence):
        return True
    return bool(_pattern("fantastic").search(sentence)) and not _words("media").search(sentence)


def is_everyday_statement(sentence: str, scene_words: frozenset[str] = frozenset(), *, is_quoted: bool = False) -> bool:
    """Return whether the sentence is about everyday life, in the first person and without any of the `scene_words`.

    A sentence `is_quoted` beside an action belongs to a character, so mentions of family and age do not count for it.
    """
    words = {fold(word) for word in WORD.findall(sentence)}
    if not FIRST_PERSON_WORD.search(sentence) or not words.isdisjoint(scene_words) or is_roleplay_sentence(sentence):
        return False
    if not _EVERYDAY_WORDS.isdisjoint(words):
        return True
    return not is_quoted and not _words("dramatic").search(sentence) and not (_KIN_IN_STORIES | TIME_WORDS).isdisjoint(words)


def is_about_speaker(sentence: str) -> bool:
    """Return whether the sentence is a statement by the speaker in the first person or about everyday life, neither question
    nor acted.
    """
    words = {fold(word) for word in WORD.findall(sentence)}
    is_question = sentence.rstrip("\"”’') ").endswith("?")
    return (
        not is_question
        and (bool(FIRST_PERSON_WORD.search(sentence)) or not _EVERYDAY_WORDS.isdisjoint(words))
        and not is_roleplay_sentence(sentence)
    )
