"""Conversion of a plain question and its short answer into a fact: “What's your cat called?” – “Whiskers”."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from lethe_app.brain.text.clauses import strip_fillers
from lethe_app.brain.text.sentences import extract_sentences
from lethe_app.brain.text.spelling import correct_spelling
from lethe_app.brain.text.utterance import Utterance
from lethe_app.brain.vocabulary.entities import ANIMALS, EVENTS, JOBS, NOT_OCCUPATIONS, RELATIVES
from lethe_app.brain.vocabulary.phrases import RELATIVE_OR_ANIMAL

_RELATION_PHRASE = rf"(?P<what>(?:[\w-]+ ){{0,2}}?{RELATIVE_OR_ANIMAL})"
_MAX_WORDS = 8
_NAME, _PLACE, _NUMBER, _DATE = ("name", "place", "number", "date")
_PREFERENCE, _ACTIVITY, _POSSESSION, _OCCUPATION = ("taste", "doing", "having", "calling")
_COUNT, _WORKPLACE, _WHEN = ("count", "workplace", "when")

# Columns: pattern of the question, kind of answer, full sentence of the answerer, key of the fact.
_QUESTIONS: tuple[tuple[str, str, str, str], ...] = (
    ((rf"what(?:'s| is| was| are|'re) your {_RELATION_PHRASE}(?:'s|s')? "
     rf"names?"), _NAME, "my {what} {is} called {answer}", "{what} name"),
    (rf"what(?:'s| is| are| was| were| do you call) your {_RELATION_PHRASE}(?: called| named)?", _NAME,
     "my {what} {is} called {answer}", "{what} name"),
    (r"(?:what's|what is|what are|who is|who's) your (?:all[- ]time )?favou?rite (?P<what>[\w -]+)", _PREFERENCE,
     "my favourite {what} {is} {answer}", "favourite {what}"),
    (r"(?:and |so )*where (?:do you|are you) (?:live|living|based)(?: now)?", _PLACE, "I live in {answer}", "home"),
    (r"where (?:are|do) you (?:come |originally )?from(?: originally)?", _PLACE, "I'm from {answer}", "origin"),
    (r"where were you born", _PLACE, "I was born in {answer}", "birthplace"),
    (r"how old are you(?: now)?|what's your age", _NUMBER, "I'm {answer}", "age"),
    (rf"how old (?:is|are) your {_RELATION_PHRASE}(?: now)?", _NUMBER, "my {what} {is} {answer}", "{what} age"),
    (r"when(?:'s| is) your birthday|when were you born", _DATE, "my birthday is on {answer}", "birthday"),
    (r"what do you do(?: for (?:a living|work))?|what(?:'s| is) your (?:job|profession|trade)", _OCCUPATION,
     "I'm {answer}", "job"),
    (r"(?:and )?(?:what else|what) do you (?:like|enjoy)(?: doing| to do)?", _PREFERENCE, "I like {answer}", ""),
    # This question is listed twice, because an activity (“hiking”) and any other answer complete to different sentences.
    ((r"(?:and |so )*what do you (?:like to )?do (?:for fun|in your (?:free|spare) "
     r"time)"), _ACTIVITY, "I do {answer} for fun", ""),
    (r"(?:and |so )*what do you (?:like to )?do (?:for fun|in your (?:free|spare) time)", _PREFERENCE, "I like {answer}", ""),
    (r"what are your hobbies|do you have any hobbies|what(?:'s| is) your hobby", _ACTIVITY, "my hobby is {answer}", ""),
    (rf"(?:and )?do you have (?:any |a )?{RELATIVE_OR_ANIMAL}\b.*", _POSSESSION, "I have {answer}", ""),
    (rf"(?:and |so )?(?:any|got any|have you got any) {RELATIVE_OR_ANIMAL}\b.*", _POSSESSION, "I have {answer}", ""),
    (rf"(?:and )?(?:do you have|have you got|got) (?:any |a )?(?P<what>{RELATIVES}|{ANIMALS})", _COUNT, ("I have {answer} "
        "{what}"), ""),
    (rf"how many (?P<what>{RELATIVES}|{ANIMALS}) do you have", _COUNT, "I have {answer} {what}", ""),
    (r"(?:and |so )*where do you work(?: now)?|who do you work for", _WORKPLACE, "I work {answer}", "employer"),
    (r"what (?:do you|are you) study(?:ing)?", _PREFERENCE, "I study {answer}", "studies"),
    (r"(?:what|which) languages? do you speak", _PREFERENCE, "I speak {answer}", ""),
    (r"(?:what|which) instruments? do you play|do you play (?:an|any) instruments?", _PREFERENCE, "I play {answer}", ""),
    (r"what(?:'s| is) your name|(?:what|how) (?:should|can|may|shall|do) i call you", _NAME, "my name is {answer}", "name"),
    (rf"when(?:'s| is) (?:your|the) (?P<what>(?:[\w-]+ ){{0,2}}?{EVENTS})", _WHEN, "my {what} is {answer}", ""),
    ((r"when (?:are you|will you be) (?P<what>(?:flying|leaving|going|moving|travell?ing|starting|coming back|getting "
     r"married)(?: to [\w -]+)?)"),
     _WHEN, "I'm {what} {answer}", ""),
    (r"what(?:'s| is) your (?P<what>(?:star|zodiac) sign|mother tongue|(?:native|first) language|(?:middle|last) name|surname)",
     _PREFERENCE, "my {what} is {answer}", "{what}"),
)  # fmt: skip
_COMPILED = [(re.compile(rf"(?:{pattern})\Z", re.IGNORECASE), kind, full, key) for pattern, kind, full, key in _QUESTIONS]
_YES_OR_NO = re.compile(
    r"(?:(?P<yes>yes|yeah|yep|yup|yea|i do|i am|i have)|no|nope|nah|none|i don't|i'm not|i haven't)(?: i (?:do|am|don't|"
    r"have|haven't)| sadly| thanks)?"
    r"[.,! ]*\Z",
    re.IGNORECASE,
)
_YES_OR_NO_QUESTIONS = tuple(
    (re.compile(rf"(?:and |so )?{pattern}\Z", re.IGNORECASE), yes, no)
    for pattern, yes, no in (
        ((r"are you (?P<what>married|single|divorced|engaged|vegetarian|vegan|religious|left-handed|retired|a student|in a "
         r"relationship)"),
         "I'm {what}", "I'm not {what}"),
        (r"do you have (?:any |a )?(?P<what>kids|children|siblings|brothers|sisters|grandchildren|pets)", "I have {what}",
         "I don't have any {what}"),
        (r"do you have (?P<what>an? (?:dog|cat|car|girlfriend|boyfriend|garden|partner))", "I have {what}", ("I don't have "
            "{what}")),
        (r"do you (?P<what>smoke|drive|cook|drink(?: alcohol)?|eat meat|eat fish|speak [a-z]+)", "I {what}", "I don't {what}"),
        (r"do you like (?P<what>(?!it|that|this|to|being|me|him|her|them|what|the)[a-z]+(?: [a-z]+)?)", "I like {what}",
         "I don't like {what}"),
    )
)  # fmt: skip
_ASKS_NAME_OF_PRONOUN = re.compile(
    r"(?:and |so )?what(?:'s| is| was| are) (?:(?:his|her|its|their) names?|(?:he|she|it|they) called)\Z", re.IGNORECASE
)
_ANIMAL_PRONOUN = re.compile(r"\bits?\b", re.IGNORECASE)
_ASKS_NAME_OF_THING = re.compile(r"what(?:'s| is| was) the (?P<what>[\w -]+?)(?: called|'s name)\Z", re.IGNORECASE)

_INTRODUCTION = re.compile(
    r"^(?:(?:it's|it is|it was|he's|she's|(?:his|her|its) name (?:is|was)|their names are|they're|they are|he is|she is|i'm|"
    r"i am|called|named|i like|i live in|i'm from|from|in|on|i have|just|definitely|that would be|must be|i call (?:him|her|"
    r"it)|(?:he|she) was called)\s+)+",
    re.IGNORECASE,
)
_EVASIVE = re.compile(
    r"\b(?:yep|yup|yeah|yea|nope|nah|hmm+|um+|uh+|lol|haha\w*|ok|okay|same|both|agreed|true|right|exactly|absolutely|"
    r"definitely|"
    r"course|obviously|well|not|never|no|none|nothing|don't|depends|secret|guess|why|maybe|perhaps|idk|dunno|know|sure|"
    r"many|everything|hard|"
    r"lots?|you|your|that|this|it|here|there|far|somewhere|away|if|would|could|who|what|when|old enough|too|nowhere|yes|"
    r"good question|think|later|stop|please|kidding|joking|forget|forgot|remember|tell)\b",
    re.IGNORECASE,
)
_FINITE_VERB = re.compile(r"\b(?:is|are|was|were)\b|\w'(?:s|re) [a-z]+$")
"""Finite verb in the answer: “Rock's awesome” names no instrument."""
_ANSWER_PATTERNS = {
    _NAME: re.compile(r"(?:(?:[A-Z][\w'-]*|and|the|de|da|la|le|von|van|of)(?:,?\s|\Z)){1,8}\Z"),
    _PLACE: re.compile(r"(?:the |an? )?[\w' -]{2,40}(?:, [\w' -]+)?\Z"),
    _NUMBER: re.compile(
        r"(?:\d{1,3}|[a-z]+teen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\w+)?|one|two|three|four|five|"
        r"six|seven|eight|nine|ten|eleven|twelve)(?: years old)?\Z",
        re.IGNORECASE,
    ),
    _DATE: re.compile(
        r"(?:the )?(?:\d{1,2}(?:st|nd|rd|th)?(?: of)? [A-Za-z]{3,9}|[A-Za-z]{3,9} (?:the )?\d{1,2}(?:st|nd|rd|"
        r"th)?)(?:,? \d{4})?\Z"
    ),
    _PREFERENCE: re.compile(r"[\w' ,-]{2,50}\Z"),
    _ACTIVITY: re.compile(r"(?:[a-z]+ )?[a-z]{2,}ing\b[\w' -]*\Z", re.IGNORECASE),
    _POSSESSION: re.compile(
        rf"(?:an?|one|two|three|four|five|six|seven) (?:[\w-]+ ){{0,3}}?{RELATIVE_OR_ANIMAL}\b[\w' ,-]*\Z", re.IGNORECASE
    ),
    _OCCUPATION: re.compile(
        rf"(?P<job>(?:an? )?(?:[\w-]+ ){{0,2}}?(?:{JOBS}|[a-z]+(?:er|or|ist|ian|ess)))(?:,? (?P<at>(?:at|for|in|with) "
        rf"[\w' .&-]+))?\Z",
        re.IGNORECASE,
    ),
    _COUNT: re.compile(r"(?:one|two|three|four|five|six|seven|\d)\Z", re.IGNORECASE),
    _WORKPLACE: re.compile(r"(?:(?:at|for|in) )?(?:an? |the )?[A-Za-z][\w' &.-]{2,40}(?:, [\w' -]+)?\Z"),
    _WHEN: re.compile(
        r"(?:(?:on )?(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? [a-z]{3,9}|(?:on )?[a-z]{3,9} (?:the )?\d{1,2}(?:st|nd|rd|"
        r"th)?|(?:on |next |this )?(?:"
        r"mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|next (?:week|month)|in (?:a|two|three|four|\d) (?:weeks?|days?|"
        r"months?)|"
        r"(?:in )?(?:january|february|march|april|june|july|august|september|october|november|december))\Z",
        re.IGNORECASE,
    ),
}


def complete_answer(question: str, answer: str, previous_text: str = "") -> tuple[str, str] | None:
    """Return the answer as one full first-person sentence with its key; None if the reading is uncertain.

    `question` and `answer` are whole messages of two speakers; `previous_text` is the answerer's previous text.
    """
    last_question = _last_question(question)
    if not last_question:
        return None
    if yes_or_no_answer := _complete_yes_or_no(last_question, answer):
        return yes_or_no_answer
    short_answer = _short_answer(answer)
    if not short_answer:
        return None
    for pattern, kind, template, key in _COMPILED:
        if match := pattern.match(last_question):
            topic = (match.groupdict().get("what") or "").lower()
            if completed := _fill_template(kind, short_answer, template, topic, key.format(what=topic)):
                return completed
    topic = _find_referent(last_question, previous_text)
    return _fill_template(_NAME, short_answer, "my {what} {is} called {answer}", topic, f"{topic} name") if topic else None


def _complete_yes_or_no(question: str, answer: str) -> tuple[str, str] | None:
    """Return the full sentence for a plain “yes” or “no” to a question about the answerer."""
    parts = extract_sentences(answer)
    answer_match = _YES_OR_NO.match(parts[0]) if parts else None
    if not answer_match:
        return None
    for pattern, yes, no in _YES_OR_NO_QUESTIONS:
        if match := pattern.match(question):
            topic = match["what"].lower()
            template = yes if answer_match["yes"] else no
            return (template.format(what=topic), "") if template else None
    return None


def complete_birthday(answer: str) -> str | None:
    """Return an answer such as “It's 3 October” as a full sentence, for a question about a birthday; None if it is no date."""
    short_answer = _short_answer(answer)
    return f"my birthday is on {short_answer}" if short_answer and _ANSWER_PATTERNS[_DATE].match(short_answer) else None


def _last_question(message: str) -> str:
    """Return the last sentence of the message without fillers if it is a question; else an empty string."""
    parts = extract_sentences(message)
    return strip_fillers(parts[-1]) if parts and parts[-1].endswith("?") else ""


def _short_answer(message: str) -> str:
    """Return the first sentence without its introduction (“It's …”) if it is short and plain; else an empty string."""
    parts = extract_sentences(message)
    first = next((strip_fillers(part) for part in parts[:2] if strip_fillers(part) and not part.endswith("?")), "")
    stripped = _INTRODUCTION.sub("", first).strip(" ,.")
    if (
        len(stripped.split()) > _MAX_WORDS
        or _FINITE_VERB.search(stripped)
        or _EVASIVE.search(stripped)
        or re.match(r"(?:I|my|he|she|we|they)\b", stripped)
    ):
        return ""
    return stripped


def _fill_template(kind: str, short_answer: str, template: str, topic: str, key: str) -> tuple[str, str] | None:
    """Return the full sentence with its key if the answer is of the expected kind; else None."""
    if kind in {_NAME, _PLACE} and short_answer.islower() and len(short_answer.split()) == 1:
        short_answer = short_answer.capitalize()  # chats are typed without capitals
    if kind == _ACTIVITY:
        short_answer = short_answer[:1].lower() + short_answer.split(",")[0][1:]
    if not _ANSWER_PATTERNS[kind].match(short_answer):
        return None
    if kind == _OCCUPATION:
        short_answer = _format_occupation(short_answer)
        if not short_answer:
            return None
    if kind == _WORKPLACE:
        short_answer = short_answer if re.match(r"(?:at|for|in) ", short_answer) else f"at {short_answer}"
    if kind == _WHEN:
        short_answer = short_answer if re.match(r"(?:on|in|next|this|tomorrow)\b", short_answer) else f"on {short_answer}"
    if kind == _COUNT and short_answer.lower() in {"one", "1"}:
        topic = re.sub(r"s$|ren$", "", topic)
    if kind == _PREFERENCE and re.fullmatch(r"[A-Z][a-z]+(?:,? [a-z]+)+", short_answer):
        short_answer = re.sub(
            r"^(?P<first>\w)", lambda match: match[0].lower(), re.sub(r",? (?:mostly|mainly|usually)\b", "", short_answer)
        )
    return template.format(what=topic, answer=short_answer, **{"is": "are" if topic.endswith("s") else "is"}), key


def _format_occupation(short_answer: str) -> str:
    """Return “Engineer, at Siemens” as “an engineer at Siemens”; empty if it names no occupation."""
    match = _ANSWER_PATTERNS[_OCCUPATION].match(short_answer)
    if not match or match["job"].split()[-1].lower() in NOT_OCCUPATIONS:
        return ""
    job = match["job"] if match["job"][1:] != match["job"][1:].lower() else match["job"].lower()
    job_with_article = job if re.match(r"an? ", job) else f"{'an' if job[0].lower() in 'aeiou' else 'a'} {job}"
    return f"{job_with_article} {match['at']}" if match["at"] else job_with_article


def _find_referent(question: str, previous_text: str) -> str:
    """Return whom “his name” or what “the bakery” refers to, if the answerer mentioned exactly one before; else an empty
    string.
    """
    previous_lowercase = correct_spelling(previous_text).lower()
    if _ASKS_NAME_OF_PRONOUN.match(question):
        relations = {found[0] for found in re.finditer(rf"(?<=\bmy )(?:own )?{RELATIVE_OR_ANIMAL}\b", previous_lowercase)}
        relation = relations.pop().removeprefix("own ") if len(relations) == 1 else ""
        return "" if _ANIMAL_PRONOUN.search(question) and re.search(rf"\b{RELATIVES}$", relation) else relation
    if found := _ASKS_NAME_OF_THING.match(question):
        thing = found["what"].lower()
        return thing if re.search(rf"\b(?:my|our|an?)(?: \w+)? {re.escape(thing)}\b", previous_lowercase) else ""
    return ""


@dataclass(frozen=True)
class AnsweredStatement:
    """Statement made by a question of another speaker and a short answer together."""

    clause: str
    key: str
    message_ids: tuple[UUID, ...]
    """Ids of the messages it needs besides the answer, the question last."""


def read_answer(lines: Sequence[Utterance], index: int) -> AnsweredStatement | None:
    """Return the statement of the message at an index as a short answer to the message before it; None if it is no such
    answer.
    """
    line = lines[index]
    if not index or lines[index - 1].name == line.name:
        return None
    question_line = lines[index - 1]
    previous_text = " ".join(other.text for other in lines[max(0, index - 5) : index] if other.name == line.name)
    completed = complete_answer(question_line.text, line.text, previous_text)
    if not completed:
        birthday_questions = [other for other in lines[max(0, index - 2) : index] if _asks_birthday(other, line)]
        birthday_clause = complete_birthday(line.text) if birthday_questions else None
        if not birthday_clause:
            return None
        completed, question_line = (birthday_clause, "birthday"), birthday_questions[-1]
    mention_id = _find_mention(completed[1].removesuffix(" name"), lines[max(0, index - 5) : index], line.name, question_line)
    return AnsweredStatement(*completed, tuple(filter(None, (mention_id, question_line.id))))


def _find_mention(topic: str, lines: Sequence[Utterance], name: str, question_line: Utterance) -> UUID | None:
    """Return the id of the message that names the person a question refers to; None if the question itself does."""
    if not topic or topic in question_line.text.lower():
        return None
    return next((line.id for line in reversed(lines) if line.name == name and topic in line.text.lower()), None)


def _asks_birthday(question_line: Utterance, line: Utterance) -> bool:
    """Return whether the message asks for this speaker's birthday."""
    possessive = "my" if question_line.name == line.name else "your"
    return bool(
        re.search(rf"\b{possessive} birthday\b", question_line.text, re.IGNORECASE)
    ) and question_line.text.rstrip().endswith("?")
