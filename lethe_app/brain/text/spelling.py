"""Correction of chat spelling: apostrophes, capitals and short forms (“im”, “ill be”, “my moms a nurse”)."""

from __future__ import annotations

import re
from functools import lru_cache

from lethe_app.brain.vocabulary.kin_words import standardize_relations

SPELLINGS = {
    "im": "I'm", "ive": "I've", "dont": "don't", "cant": "can't", "didnt": "didn't", "doesnt": "doesn't", "isnt": "isn't",
    "wasnt": "wasn't", "wont": "won't", "havent": "haven't", "hasnt": "hasn't", "couldnt": "couldn't", "wouldnt": "wouldn't",
    "u": "you", "ur": "your", "bc": "because", "cuz": "because", "coz": "because", "cos": "because", "gonna": "going to",
    "wanna": "want to", "gotta": "have to", "tmrw": "tomorrow", "fav": "favourite", "fave": "favourite", "hubby": "husband",
    "id": "I'd", "itll": "it'll", "weve": "we've", "youve": "you've", "theyve": "they've", "shouldnt": "shouldn't",
    "hed": "he'd", "theyd": "they'd", "youd": "you'd", "itd": "it'd", "tho": "though",
    "arent": "aren't", "werent": "weren't", "hadnt": "hadn't", "bday": "birthday", "bf": "boyfriend", "gf": "girlfriend",
    "whats": "what's", "thats": "that's", "hes": "he's", "shes": "she's", "theyre": "they're", "youre": "you're",
}  # fmt: skip
"""Chat spellings and their standard form."""
_AGED = re.compile(r"(?<=[a-z]) \((?P<age>\d{1,2})\),?(?=\s|$)")
"""Age in brackets, as in “Emma (9)”."""
_DATE = re.compile(
    r"\b(?P<day>(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)(?: \d{1,2}(?:st|nd|rd|th)?)?),(?= (?:1[89]|20)\d\d\b)",
    re.IGNORECASE,
)
"""Month followed by a comma and a year, as in “6 June, 1971”."""
_ACUTE = re.compile(r"(?<=[a-zA-Z])[´`](?=[a-zA-Z])")
_SPELLED = re.compile(r"\b(?:" + "|".join(SPELLINGS) + r")\b(?!')", re.IGNORECASE)
_ILL = re.compile(
    r"(?<![\w'])(?<!\bam )(?<!\bwas )(?<!\bis )(?<!\bfeel )(?<!\bso )[Ii]ll(?= (?:be|go|have|do|get|take|try|make|start|"
    r"finish|see|visit|move|probably|"
    r"never|always|also|just|let|bring|send|tell|come|fly|leave|meet|turn|run|stay|need|miss|work)\b)"
)
_ITS = re.compile(
    r"\b(?P<it>[Ii])ts(?= (?:my|a|an|the|not|so|been|too|really|very|just|like|going|called|on|in|at|his|her|our|their)\b)"
)
_WERE = re.compile(
    r"(?:(?<=^)|(?<=[.!?,] )|(?<=and )|(?<=but ))(?P<we>[Ww])ere(?= (?:getting|moving|going|expecting|planning|having|"
    r"flying|buying|adopting|both)\b)"
)
_RELATIVE_IS = re.compile(
    r"\b(?P<who>my (?:(?:little|big|older|younger|best) )?(?:mom|mum|dad|sister|brother|wife|husband|girlfriend|boyfriend|"
    r"son|daughter|dog|cat|boss|friend|"
    r"gran|grandma|grandpa|aunt|uncle|cousin|partner|roommate))s(?= (?:an?|the|in|from|getting|moving|coming|called|named|"
    r"pregnant|not|"
    r"allergic|turning|\d+|so|also|really|expecting|studying|working|having|ill|sick|dead|names?)\b)",
    re.IGNORECASE,
)
"""Relation with a missing apostrophe, as in “my moms a nurse”."""
_SMALL_NAME = re.compile(
    r"(?P<before>\b(?:(?:is|'s|he's|she's|are|was|cat|dog|puppy|kitten|brother|sister|son|daughter|wife|husband|girlfriend|"
    r"boyfriend|partner|baby|it|him|"
    r"her|them|fish|hamster|rabbit|horse) (?:called|named)|name(?:'s| is)|I(?:'m| am) from|(?:live|living|born|based) in|"
    r"grew up in|move to|moved to|moving to|"
    r"flying to|travelling to|moved from) )(?P<name>(?!an?\b|the\b|my\b|our\b|after\b|it\b|not\b|so\b|very\b|town|student|"
    r"central|north|south|east|"
    r"west|rural|downtown|here\b|there\b|another|work\b|school|home\b|peace|fear|hell\b|bed\b|someone|somewhere|different|"
    r"new\b|one\b|two\b|this\b|"
    r"that\b|what|in\b|to\b|for\b|pretty|just|also|really|on\b|off\b|his\b|her\b|their\b)[a-z]{3,})(?=$|[\s.,!?])"
)
"""Names in messages without capitals: after “called” or “named”, and places after verbs of living and moving."""
_VEGGIE = re.compile(
    r"(?P<before>\b(?:I'm|am|is|are|was|been|being|went|gone) (?:a )?)veggie\b(?= (?:since|for|now|and|but|so)\b|\W*$|[,.!])",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[a-z]+")
_SMALL_I = re.compile(r"(?<![\w'.-])i(?=$|[\s,!.]|'(?:m|ve|d|ll)\b)")

_IS = re.compile(r"(?<=\bname)'s\b|(?<=\bbirthday)'s\b|'s(?= (?:called|named)\b)")


@lru_cache(maxsize=1024)  # every reader of a message begins with it
def correct_spelling(text: str) -> str:
    """Normalise apostrophes and quotation marks and correct chat spelling: “im” → “I'm”, “i” → “I”."""
    plain = _ACUTE.sub("'", text).replace("’", "'").replace("‘", "'").replace("“", '"').replace("”", '"').replace("…", "... ")
    misspelled = SPELLINGS.keys() & set(_LETTERS.findall(plain.lower()))  # far quicker than a pattern of all of them
    plain = _DATE.sub(r"\g<day>", plain)
    plain = _AGED.sub(r", \g<age>,", plain)
    corrected = _SPELLED.sub(lambda found: SPELLINGS[found[0].lower()], plain) if misspelled else plain
    if not plain.isascii() or "ll" in corrected or "ts" in corrected or "ere" in corrected:
        corrected = _WERE.sub(r"\g<we>e're", _ITS.sub(r"\g<it>t's", _ILL.sub("I'll", corrected)))
    if "eggie" in corrected:
        corrected = _VEGGIE.sub(r"\g<before>vegetarian", corrected)
    corrected = _RELATIVE_IS.sub(r"\g<who>'s", corrected)
    # Only in a message without capitals may a lowercase word be a name.
    if text.islower():
        corrected = _SMALL_NAME.sub(lambda found: found["before"] + found["name"].capitalize(), corrected)
    return _IS.sub(" is", _SMALL_I.sub("I", standardize_relations(corrected)))
