"""English verb forms, as far as they are needed to turn a first-person sentence into the third person."""

from __future__ import annotations

import re

MODALS = frozenset(
    "can could will would shall should may might must ought can't couldn't won't wouldn't shouldn't mustn't cannot".split()  # noqa: SIM905
)
ADVERBS = frozenset(
    """
    absolutely actually almost already also always barely basically both currently definitely even ever finally first
    frequently fully generally genuinely hardly honestly just kinda literally mainly mostly never normally now nowadays often
    once only originally proudly quite rarely rather really recently secretly seldom simply sincerely since sometimes
    somehow soon still then too totally truly typically usually very
    """.split()  # noqa: SIM905 - a list of quoted words cannot be read
)
"""Words that may come between the subject and its verb."""

PAST_FORMS = frozenset(
    """
    ate became began bent bit bled blew bought broke brought built burnt came caught chose clung crept cut dealt did drank
    drew drove dug dreamt fed fell felt fled flew forgave forgot fought found froze gave got grew had heard held hid hit hung
    hurt kept knew laid learnt led left lent lit lost made meant met overcame paid proved quit ran rang
    rebuilt retook rewrote rode rose said sang
    sank sat saw sent shook shot slept slid sold sought spent spilt split spoke spoilt spread stole stood stuck struck swam
    swept swore taught thought threw told took tore understood undertook was went were withdrew woke won wore wound wrote
    """.split()  # noqa: SIM905
)
"""Irregular past forms, and `had`, `was`, `were`. Forms that look like the present are listed by their likelier reading."""
PRESENT_FORMS_IN_ED = frozenset(
    ("bleed", "breed", "embed", "exceed", "feed", "heed", "need", "proceed", "shed", "speed", "succeed")
)
VERBS_IN_LY = frozenset(("apply", "bully", "comply", "fly", "imply", "multiply", "rely", "reply", "supply", "tally"))

BASE_VERBS = frozenset(
    """
    adore appreciate attend avoid bake believe breed build buy care carry climb coach collect come cook crochet cycle dance
    despise dislike do draw dread dream drink drive eat enjoy fear feed feel fish fix fly follow forget
    garden get give go grow guide
    hate have help hike hope hunt juggle keep know knit lead learn like listen live look lose love make manage mean meet miss
    need occupy order own paint plan play practise practice prefer pretend publish raise read record remember rent repair
    restore ride row run sail say see sell serve sew share sing skate ski sleep smoke speak spend study suffer support surf
    swim take talk teach tell think train translate travel try understand use visit volunteer wait wake walk want watch wear
    weave wish wonder work worry write
    """.split()  # noqa: SIM905
)
"""Everyday verbs in the form that follows “I”."""
VERBS_ALSO_NOUNS = frozenset(
    """
    bake care climb coach cook cycle dance draw dread dream drink drive fear feed fish fix fly garden guide hate help hike
    hope hunt look love need order paint plan play practice rent repair ride run sail serve share ski sleep study support surf
    swim talk train travel try use visit volunteer wait wake walk want watch wear wish wonder work worry
    """.split()  # noqa: SIM905
)
"""Verbs of `BASE_VERBS` that are a noun just as often."""

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
    return low in PAST_FORMS or (low.endswith("ed") and low not in PRESENT_FORMS_IN_ED) or low in {"did", "was", "had"}


def is_adverb(word: str) -> bool:
    """Return whether the word may come between the subject and its verb."""
    low = word.lower()
    return low in ADVERBS or (low.endswith("ly") and len(low) > 4 and low not in VERBS_IN_LY)


_FORMS_WITHOUT_AUXILIARY = {"been": "has been", "gone": "has gone", "done": "has done", "seen": "has seen", "best": "had best",
               "better": "had better"}  # fmt: skip
"""Forms used after “I” without their auxiliary verb, as in “I been waiting”."""


def agree_with_name(verb: str) -> str:
    """Return the form of `verb` after a name instead of “I”. Past forms and modal verbs do not change."""
    low = verb.lower()
    if low in _FORMS_WITHOUT_AUXILIARY:
        return _FORMS_WITHOUT_AUXILIARY[low]
    if low in MODALS or is_past(verb):
        return third_person_form(verb) if low in {"were", "weren't"} else verb
    return third_person_form(verb)
