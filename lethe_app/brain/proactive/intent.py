"""Detection of messages in which the user asks for any news, without naming a topic."""

from __future__ import annotations

import re

from lethe_app.brain.vocabulary.normalize import normalize_text

NEWS_PHRASES = (
    "any news",
    "any updates",
    "anything new",
    "anything exciting",
    "anything interesting happen",
    "anything on your mind",
    "anything you want to share",
    "anything you want to talk about",
    "anything you would like to talk about",
    "anything you'd like to talk about",
    "anything you'd like to share",
    "anything to tell me",
    "anything to report",
    "catch me up",
    "choose a subject",
    "choose a topic",
    "did you find anything",
    "did you find out anything",
    "do you have news",
    "fill me in",
    "give me an update",
    "got news",
    "have you found anything",
    "have you learned anything",
    "have you learnt anything",
    "how was your day",
    "learn anything new",
    "learned anything new",
    "pick a subject",
    "pick a topic",
    "pick something to talk about",
    "share something with me",
    "why don't you share something",
    "can you share something",
    "surprise me",
    "tell me something interesting",
    "tell me something new",
    "tell me the news",
    "tell me what you found",
    "what are you thinking about",
    "what did you find out",
    "what do you want to talk about",
    "what have you been doing",
    "what have you been thinking about",
    "what have you been up to",
    "what have you learned",
    "what is new",
    "what is on your mind",
    "what shall we talk about",
    "what should we talk about",
    "what would you like to talk about",
    "what's new",
    "what's on your mind",
    "what's the latest",
    "you choose the topic",
    "you pick the topic",
)
"""Phrases that ask for news. Apostrophes in the message may be straight, curly or missing."""

_CLAUSE = re.compile(r"[.?!,;:]|\bbut\b")
_PHRASE = re.compile(
    r"(?<![^\W_])(?:" + "|".join(re.escape(phrase.replace("'", "")) for phrase in NEWS_PHRASES) + r")(?![^\W_])"
)
_DENIAL = re.compile(
    r"\b(?:i|we|he|she|it|they|there)\b.*\b(?:not|no|never|without|hardly|"
    r"(?:do|does|did|have|has|had|is|are|was|were|wo|ca|could|would)nt)\b"
    r"|\b(?:ill|let me|i (?:will|can|could|should|want to|would like to|need to))\s+$"
)
"""Text before a phrase that rules it out: there is no news, or it is the user who will tell some."""


def find_news_request(message: str) -> str:
    """Return the words by which the user asks for news, or an empty string. “There isn't any news” is no request."""
    for clause in _CLAUSE.split(normalize_text(message, keep_case=False).replace("'", "")):
        found = _PHRASE.search(clause)
        if found and not _DENIAL.search(clause[: found.start()]):
            return found[0]
    return ""
