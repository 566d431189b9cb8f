"""Detect that a speaker retracts or corrects their last statement."""

from __future__ import annotations

import re

from lethe_app.brain.text.fingerprint import content_words

_LEAD = (
    r"^\W*(?:(?:ha(?:ha)*|lol|lmao|hehe|xd|ok(?:ay)?|no+|nah|oh|oops|ugh|sorry|well|wait|but|actually|hm+|um+|er|uh)\b"
    r"[\s,.!…-]*)*"
)
_JOKE = re.compile(
    _LEAD + r"(?:(?:i(?:'?m| am| was) |we(?:'re| were) |that was |it was |was )?(?:just |only |totally |kinda )*"
    r"(?:kidding|joking|messing(?: (?:with you|around))?|teasing|trolling|pulling your leg|j/?k|(?:a|my) joke)\b"
    r"(?! (?:aside|apart|is|about|around with))"
    r"|jk\b|i (?:lied|was lying)\b(?! to\b)|i (?:just )?made (?:that|it|this|all of (?:that|it)) (?:all )?up|psych\b|"
    r"april fool"
    r"|(?:i(?:'m| am| was)|that was) (?:only |just |obviously |totally )?(?:being )?(?:smart|sarcastic|sarcasm|ironic|"
    r"facetious|silly|"
    r"cheeky|dramatic)(?: with you)?\b(?! to)|(?:that's|it's|that was|i mean|that is|it is) (?:(?:just|only|all|from|in|"
    r"about) )*(?:the|a|"
    r"my) (?:book|game|show|movie|film|series|song|novel|anime|lyrics?|plot|heroine|hero|character)\b(?! (?:i|that|which|club|"
    r"shop))"
    r"|(?:only |that's |thats |its |it's )?in (?:the|my) game\b"
    r"|(?:scratch|strike|ignore|forget|disregard) (?:that|what i (?:just )?said|my last (?:message|line))\b"
    r"|i (?:misspoke|mistyped|got that wrong|was wrong about that)|not(?: really|!)? (?:lol|haha+|lmao|xd)\b|wrong chat)",
    re.IGNORECASE,
)
_JOKED = re.compile(
    r"(?:[,;.…!–—-]|\s)\s*\(?(?:jk|j/k|(?:i'?m |i am |im )?(?:just |only |totally )?(?:kidding|joking|messing with you)|"
    r"not really|psych|as if|/s)\b[\s,.!…:;)-]*(?:(?:lol|lmao|(?:ha)+h?|hehe|xd|obviously|obvs|of course)\b[\s,.!…)]*)*$",
    re.IGNORECASE,
)
"""Trailing joke marker: “I own 40 reindeer, jk lol”."""
_WRONG = re.compile(
    _LEAD
    + r"(?:that|this|it)(?:'s| is| was|s) (?:a lie|not (?:(?:actually|really|quite) )?(?:right|correct|true)|wrong|incorrect|"
    r"all (?:a lie|made up)|made up|bullshit|nonsense)\b",
    re.IGNORECASE,
)
_MISTAKEN = re.compile(_LEAD + r"i tell a lie\b[\s,.!:–—-]*(?:that(?:'s| is| was) [\w' ]+)?", re.IGNORECASE)
"""Idiom of self-correction: “No, I tell a lie, that is the dentist.”"""
_ALONE = re.compile(_LEAD + r"not(?: really)?\W*(?:$|(?<=really),)", re.IGNORECASE)
_WAIT = re.compile(
    r"^\W*(?:(?:oh|no|oops|sorry|ah|um|uh|argh|ugh|shit|actually)\b[\s,.!…]*)*(?:no[, ]+wait|wait[, ]+(?:no|sorry)|"
    r"hold on[, ]+no|"
    r"wait(?=,? (?:that's|that is|it's|i mean)\b)|i mean[, ]+no|correction\b|i meant\b)[\s,.!:…]*",
    re.IGNORECASE,
)
_NAMES_MATTER = re.compile(r"(?:the|my|our) [a-z][\w'’]+ \S", re.IGNORECASE)
_EARNEST = re.compile(
    r"\b(?:not|no|n't|never|isn't|wasn't|stop|are you|you're|you are|were you|was he|was she|if|"
    r"hope)\b[^.!?]{0,12}\b(?:kidding|"
    r"joking|a joke|lying|made up|a lie)",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:really|seriously|serious|kidding|joking|for real|truly|honestly|wait|what|\d+)\b[^.!]*\?", re.IGNORECASE
)
_CORRECTED = re.compile(
    r"^(?:(?:i (?:meant|mean)|it'?s|it is|make that|more like|rather|should be|on|in|at|"
    r"the) )*(?P<new>[\w'’-]+)\W*$",
    re.IGNORECASE,
)
_KINDS = (
    re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b", re.IGNORECASE),
    re.compile(r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b", re.IGNORECASE),
    re.compile(
        r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|"
        r"seventeen|"
        r"eighteen|nineteen|twenty|thirty|forty|fifty)\b",
        re.IGNORECASE,
    ),
    re.compile(r"(?<=[a-z,] )(?!I\b)[A-Z][a-zà-ÿ]+\b"),
)
"""Kinds of words that a single word of the same kind can correct: weekdays, months, numbers, names."""


def retracts(sentence: str, *, follows_own: bool, asked: str = "") -> bool:
    """Return whether the sentence retracts its speaker's last statement.

    `follows_own` is true if that statement is in the same message. Otherwise `asked` is the message of the other speaker in
    between, because “not really” may only answer its question and “that's wrong” may only contradict it.
    """
    if _MISTAKEN.match(sentence):
        return follows_own
    if sentence.rstrip("\"') ").endswith("?") or _EARNEST.search(sentence):
        return False
    if _JOKE.match(sentence) or _WAIT.match(sentence):
        return True
    if _WRONG.match(sentence):
        return follows_own
    return bool(_ALONE.match(sentence)) and (follows_own or bool(_DOUBT.search(asked)))


def corrects_another(sentence: str, before: str) -> bool:
    """Return whether “no wait, the play's on the 11th” is about a different subject than the preceding message `before`."""
    waits = _WAIT.match(sentence)
    rest = sentence[waits.end() :] if waits else ""
    return bool(_NAMES_MATTER.match(rest)) and content_words(rest).isdisjoint(content_words(before))


def is_taken_back(sentence: str) -> bool:
    """Return whether a sentence ends by declaring itself a joke."""
    found = _JOKED.search(sentence)
    return found is not None and len(sentence[: found.start()].split()) > 2 and not _EARNEST.search(sentence)


def stated_instead(sentence: str, before: str) -> str:
    """Return what is stated along with a retraction: “I'm 34” of “just kidding, I'm 34”.

    A single word replaces the last word of its kind in the retracted statement `before`: “no wait, Friday” after “The exam
    is on Thursday.” gives “The exam is on Friday.”. Return an empty string if `before` has no word of that kind.
    """
    rest = sentence
    for pattern in (_WAIT, _JOKE, _MISTAKEN, _WRONG, _ALONE):
        if found := pattern.match(rest):
            rest = rest[found.end() :].strip(" ,.;:!-–—")
    if not (word := _CORRECTED.match(rest)):
        return rest
    for kind in _KINDS:
        old = list(kind.finditer(before))
        if old and kind.search(f"is {word['new']}"):
            return before[: old[-1].start()] + word["new"] + before[old[-1].end() :]
    return ""
