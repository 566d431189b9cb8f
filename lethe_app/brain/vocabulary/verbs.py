"""English verb forms, as far as they are needed to turn a first-person sentence into the third person."""

from __future__ import annotations

import re

from lethe_app.language_tables import lazy_words

MODALS = lazy_words("modal_verbs")
ADVERBS = lazy_words("adverbs")
"""Words that may come between the subject and its verb."""
PAST_FORMS = lazy_words("past_forms")
"""Irregular past forms, and `had`, `was`, `were`."""
BASE_VERBS = lazy_words("base_verbs")
"""Everyday verbs in the form that follows “I”."""
VERBS_ALSO_NOUNS = lazy_words("verbs_also_nouns")
"""Verbs of `BASE_VERBS` that are a noun just as often."""
_PRESENT_FORMS_IN_ED = lazy_words("present_forms_in_ed")
_VERBS_IN_LY = lazy_words("verbs_in_ly")
_FORMS_WITHOUT_AUXILIARY = {
    "been": "has been",
    "gone": "has gone",
    "done": "has done",
    "seen": "has seen",
    "best": "had best",
    "better": "had better",
}
"""Forms used after “I” without their auxiliary verb, as in “I been waiting”."""
_SIBILANT = re.compile(r"(?:s|sh|ch|x|z|o)$")
_Y = re.compile(r"(?<=[^aeiou])y$")


def third_person_form(verb: str) -> str:
    """Return the third-person form of a verb in the form that follows “I”: live → lives, study → studies, have → has."""
    irregular = {"have": "has", "do": "does", "am": "is", "be": "is", "haven't": "hasn't", "don't": "doesn't", "ain't": "isn't",
             "aren't": "isn't", "were": "was", "weren't": "wasn't"}  # fmt: skip
    low = verb.lower()
    if low in irregular:
        return irregular[low]
    if _Y.search(verb):
        return _Y.sub("ies", verb)
    return verb + ("es" if _SIBILANT.search(verb) else "s")


def is_past(verb: str) -> bool:
    """Return whether the word is a past form, which is the same in all persons."""
    low = verb.lower().removesuffix("n't")
    return low in PAST_FORMS or (low.endswith("ed") and low not in _PRESENT_FORMS_IN_ED) or low in {"did", "was", "had"}


def is_adverb(word: str) -> bool:
    """Return whether the word may come between the subject and its verb."""
    low = word.lower()
    return low in ADVERBS or (low.endswith("ly") and len(low) > 4 and low not in _VERBS_IN_LY)


def agree_with_name(verb: str) -> str:
    """Return the form of `verb` after a name instead of “I”. Past forms and modal verbs do not change."""
    low = verb.lower()
    if low in _FORMS_WITHOUT_AUXILIARY:
        return _FORMS_WITHOUT_AUXILIARY[low]
    if low in MODALS or is_past(verb):
        return third_person_form(verb) if low in {"were", "weren't"} else verb
    return third_person_form(verb)
