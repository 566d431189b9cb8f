"""Detect that a speaker retracts or corrects their last statement."""

from __future__ import annotations

import re

from lethe_app.brain.text.fingerprint import content_words
from lethe_app.dates.words import MONTH, WEEKDAY

_LEADING_WORDS = (
    r"^\W*(?:(?:ha(?:ha)*|lol|lmao|hehe|xd|ok(?:ay)?|no+|nah|oh|oops|ugh|sorry|well|wait|but|actually|hm+|um+|er|uh)\b"
    r"[\s,.!…-]*)*"
)
_JOKE_RETRACTION = re.compile(
    _LEADING_WORDS + r"(?:(?:i(?:'?m| am| was) |we(?:'re| were) |that was |it was |was )?(?:just |only |totally |kinda )*"
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
_TRAILING_JOKE = re.compile(
    r"(?:[,;.…!–—-]|\s)\s*\(?(?:jk|j/k|(?:i'?m |i am |im )?(?:just |only |totally )?(?:kidding|joking|messing with you)|"
    r"not really|psych|as if|/s)\b[\s,.!…:;)-]*(?:(?:lol|lmao|(?:ha)+h?|hehe|xd|obviously|obvs|of course)\b[\s,.!…)]*)*$",
    re.IGNORECASE,
)
"""Trailing joke marker: “I own 40 reindeer, jk lol”."""
_ERROR_RETRACTION = re.compile(
    _LEADING_WORDS
    + r"(?:that|this|it)(?:'s| is| was|s) (?:a lie|not (?:(?:actually|really|quite) )?(?:right|correct|true)|wrong|incorrect|"
    r"all (?:a lie|made up)|made up|bullshit|nonsense)\b",
    re.IGNORECASE,
)
_SELF_CORRECTION = re.compile(_LEADING_WORDS + r"i tell a lie\b[\s,.!:–—-]*(?:that(?:'s| is| was) [\w' ]+)?", re.IGNORECASE)
"""Idiom of self-correction: “No, I tell a lie, that is the dentist.”"""
_NEGATION_ALONE = re.compile(_LEADING_WORDS + r"not(?: really)?\W*(?:$|(?<=really),)", re.IGNORECASE)
_WAIT_RETRACTION = re.compile(
    r"^\W*(?:(?:oh|no|oops|sorry|ah|um|uh|argh|ugh|shit|actually)\b[\s,.!…]*)*(?:no[, ]+wait|wait[, ]+(?:no|sorry)|"
    r"hold on[, ]+no|"
    r"wait(?=,? (?:that's|that is|it's|i mean)\b)|i mean[, ]+no|correction\b|i meant\b)[\s,.!:…]*",
    re.IGNORECASE,
)
_NAMED_SUBJECT = re.compile(r"(?:the|my|our) [a-z][\w'’]+ \S", re.IGNORECASE)
_EARNEST_WORD = re.compile(
    r"\b(?:not|no|n't|never|isn't|wasn't|stop|are you|you're|you are|were you|was he|was she|if|"
    r"hope)\b[^.!?]{0,12}\b(?:kidding|"
    r"joking|a joke|lying|made up|a lie)",
    re.IGNORECASE,
)
_DOUBTING_QUESTION = re.compile(
    r"\b(?:really|seriously|serious|kidding|joking|for real|truly|honestly|wait|what|\d+)\b[^.!]*\?", re.IGNORECASE
)
_CORRECTED = re.compile(
    r"^(?:(?:i (?:meant|mean)|it'?s|it is|make that|more like|rather|should be|on|in|at|"
    r"the) )*(?P<new>[\w'’-]+)\W*$",
    re.IGNORECASE,
)
_KINDS = (
    re.compile(rf"\b(?:{WEEKDAY})\b", re.IGNORECASE),
    re.compile(rf"\b(?:{MONTH})\b", re.IGNORECASE),
    re.compile(
        r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|"
        r"seventeen|"
        r"eighteen|nineteen|twenty|thirty|forty|fifty)\b",
        re.IGNORECASE,
    ),
    re.compile(r"(?<=[a-z,] )(?!I\b)[A-Z][a-zà-ÿ]+\b"),
)
"""Kinds of words that a single word of the same kind can correct: weekdays, months, numbers, names."""


def is_retraction(sentence: str, *, is_in_same_message: bool, replied_text: str = "") -> bool:
    """Return whether the sentence retracts its speaker's last statement.

    `is_in_same_message` is true if that statement is in the same message. Otherwise `replied_text` is the message of the other
    speaker in between, because “not really” may only answer its question and “that's wrong” may only contradict it.
    """
    if _SELF_CORRECTION.match(sentence):
        return is_in_same_message
    if sentence.rstrip("\"') ").endswith("?") or _EARNEST_WORD.search(sentence):
        return False
    if _JOKE_RETRACTION.match(sentence) or _WAIT_RETRACTION.match(sentence):
        return True
    if _ERROR_RETRACTION.match(sentence):
        return is_in_same_message
    return bool(_NEGATION_ALONE.match(sentence)) and (is_in_same_message or bool(_DOUBTING_QUESTION.search(replied_text)))


def is_about_other_subject(sentence: str, previous_text: str) -> bool:
    """Return whether “no wait, the play's on the 11th” is about another subject than `previous_text`, the message before."""
    wait_match = _WAIT_RETRACTION.match(sentence)
    rest = sentence[wait_match.end() :] if wait_match else ""
    return bool(_NAMED_SUBJECT.match(rest)) and content_words(rest).isdisjoint(content_words(previous_text))


def is_joke(sentence: str) -> bool:
    """Return whether a sentence ends by declaring itself a joke."""
    match = _TRAILING_JOKE.search(sentence)
    return match is not None and len(sentence[: match.start()].split()) > 2 and not _EARNEST_WORD.search(sentence)


def extract_corrected_statement(sentence: str, retracted: str) -> str:
    """Return what is stated along with a retraction: “I'm 34” of “just kidding, I'm 34”.

    A single word replaces the last word of its kind in the statement `retracted`: “no wait, Friday” after “The exam
    is on Thursday.” gives “The exam is on Friday.”. Return an empty string if it has no word of that kind.
    """
    rest = sentence
    for pattern in (_WAIT_RETRACTION, _JOKE_RETRACTION, _SELF_CORRECTION, _ERROR_RETRACTION, _NEGATION_ALONE):
        if match := pattern.match(rest):
            rest = rest[match.end() :].strip(" ,.;:!-–—")
    if not (word := _CORRECTED.match(rest)):
        return rest
    for kind in _KINDS:
        old = list(kind.finditer(retracted))
        if old and kind.search(f"is {word['new']}"):
            return retracted[: old[-1].start()] + word["new"] + retracted[old[-1].end() :]
    return ""
