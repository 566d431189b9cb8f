"""Remove from a message what its sender did not write: pasted texts, code, lists, scripts, lyrics and quotations."""

from __future__ import annotations

import re
from functools import partial

from lethe_app.brain.text.sentences import FIRST_PERSON_WORD
from lethe_app.language_tables import table_pattern, table_words
from lethe_app.retrieval.query_terms import EVERYDAY_WORDS
from lethe_app.searchable_text import WORD

_pattern = partial(table_pattern, "pasted_text")

MIN_PASTED_WORDS = 60
"""Minimum number of words of a message that may be a pasted text."""
MIN_LENGTH_FACTOR = 4
"""Factor by which a pasted text is longer than the sender's median message."""
MIN_PRONOUN_SHARE = 0.035
"""Share of first-person pronouns among the words from which a long message counts as the sender's own."""

_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_CODE_LINE = partial(table_pattern, "pasted_text", "code_line", flags=0)
_SALUTATION = re.compile(r"^\s*(?:Dear|Sehr geehrte|Cher|Estimad|To whom|Subject:|From:|Sent:|Re:|Fwd:).{0,80}$", re.MULTILINE)
_CLOSING = partial(table_pattern, "pasted_text", "closing", re.MULTILINE | re.IGNORECASE)
_LABEL = partial(table_pattern, "pasted_text", "label", flags=0)
_ACTION = re.compile(r"\*[^*\n]+\*")
_LYRICS = re.compile(r"♪[^♪\n]*♪?|🎵[^🎵\n]*🎵?")
_QUOTED_LINE = re.compile(r"^\s*>.*$", re.MULTILINE)
_QUOTATION = re.compile(r"[\"“«](?P<said>[^\"“”«»\n]{12,600})[\"”»]")
_REPORTED_SPEECH = partial(table_pattern, "pasted_text", "reported_speech", flags=0)
_BLANK_LINES = re.compile(r"\n\s*\n")


def extract_own_text(text: str, usual_word_count: int, *, is_announced: bool = False) -> str:
    """Return the message without text that is not the sender's own.

    `usual_word_count` is the median number of words of the sender's messages. `is_announced` is true if the sender's last
    message asked for something to be done with a text, so that a long message after it is that text.
    """
    text = _QUOTED_LINE.sub("", _LYRICS.sub("", _CODE.sub("\n", text)))
    text = _pattern("item_list").sub("", _cut_announced_text(text))
    if not _ACTION.search(text) and _is_pasted(text, usual_word_count, is_announced=is_announced):
        return _extract_closing_question(text)
    return _remove_structured_lines(text)


def announces_text(text: str) -> bool:
    """Return whether the message asks for something to be done with a text that it does not contain."""
    return len(WORD.findall(text)) < 40 and bool(_pattern("text_task").search(text))


def remove_words_of_others(text: str, sender: str) -> str:
    """Return the text without what others say of themselves, where the sender passes it on without quotation marks."""
    return _pattern("others_words", flags=0).sub(partial(_keep_own_words, sender.casefold()), text)


def _keep_own_words(sender: str, match: re.Match[str]) -> str:
    """Return the match if its label is the sender or no name, as in “Update: I got the job”."""
    label = (match["who"] or match["name"] or "").strip().casefold()
    is_sender = label in {sender, *sender.split()}
    is_own = is_sender or label in EVERYDAY_WORDS or table_words("pasted_text", "own_heads").fullmatch(label)
    return match[0] if label and is_own else ""


def states_no_fact(sentence: str) -> bool:
    """Return whether a sentence is true for a moment only, gives away a secret, or asks for a text."""
    return bool(_pattern("no_fact").search(sentence))


def remove_quotations(text: str) -> str:
    """Return the text without quoted sentences; quoted titles and fewer than four quoted words are kept."""
    text = _REPORTED_SPEECH().sub(r"\g<says>", text)
    return _QUOTATION.sub(lambda match: match[0] if _is_title(match["said"].split()) else " ", text)


def _is_title(words: list[str]) -> bool:
    long_words = [word for word in words if len(word) > 3]
    return len(words) < 4 or all(word[0].isupper() for word in long_words)


def _cut_announced_text(text: str) -> str:
    """Cut a text that the message itself announces, but keep a question after it."""
    for match in _pattern("text_announcement").finditer(text):
        rest = text[match.end() :]
        if len(WORD.findall(rest)) >= 4:
            return f"{text[: match.end()].rstrip(': ')}\n{_extract_closing_question(rest)}"
    return text


def _is_pasted(text: str, usual_word_count: int, *, is_announced: bool) -> bool:
    count = len(WORD.findall(text))
    is_letter = bool(_SALUTATION.search(text)) and (bool(_CLOSING().search(text)) or count >= MIN_PASTED_WORDS)
    if is_letter and count >= 20:
        return True
    if count < MIN_PASTED_WORDS:
        return False
    if is_announced:
        return True
    pronoun_share = len(FIRST_PERSON_WORD.findall(text)) / count
    return pronoun_share < MIN_PRONOUN_SHARE and (
        count >= MIN_LENGTH_FACTOR * max(usual_word_count, 5) or _is_formatted_document(text)
    )


def _is_formatted_document(text: str) -> bool:
    """Return whether the text has the headings or paragraphs of a written document."""
    return len(_BLANK_LINES.findall(text)) >= 2 or bool(re.search(r"^\s*#{1,4} |^\s*\*\*[^*\n]+\*\*\s*$", text, re.MULTILINE))


def _extract_closing_question(text: str) -> str:
    """Return the question after a pasted text, such as “what do you think?”, or an empty string."""
    last_line = text.rstrip().rsplit("\n", 1)[-1].strip()
    return last_line if last_line.endswith("?") and "\n" in text.strip() and len(last_line.split()) <= 20 else ""


def _remove_structured_lines(text: str) -> str:
    """Remove lines of code, of lists, and of scripts with speaker labels."""
    lines = text.split("\n")
    if len(lines) == 1:
        return text
    item_count = sum(bool(_pattern("item").match(line)) for line in lines)
    labels = [match["who"] for line in lines if (match := _LABEL().match(line))]
    is_script = len(labels) >= 2 and len(set(labels)) >= 2
    code_line_count = sum(bool(_CODE_LINE().match(line)) for line in lines if line.strip())
    kept_lines = []
    for line in lines:
        is_list_item = item_count >= 3 and _pattern("item").match(line) and not FIRST_PERSON_WORD.search(line)
        if not (is_list_item or (is_script and _LABEL().match(line)) or (code_line_count >= 2 and _CODE_LINE().match(line))):
            kept_lines.append(line)
    return "\n".join(kept_lines)
