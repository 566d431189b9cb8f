"""Detection of statements that no longer hold: “I don't live in Porto any more”, “I wanted to run Berlin, I'll do Poznan
instead”.
"""

from __future__ import annotations

import re

from lethe_app.brain.vocabulary.verbs import BASE_VERBS
from lethe_app.dates.words import MONTH, WEEKDAY

_VERBS_BY_GERUND = {
    form: verb
    for verb in sorted(BASE_VERBS)
    for form in (
        f"{verb[:-1]}ing" if verb.endswith("e") and not verb.endswith("ee") else f"{verb}ing",
        f"{verb}{verb[-1]}ing" if re.search(r"[^aeiou][aeiou][bdgmnprt]\Z", verb) else f"{verb}ing",
    )
}
_REPLACED_PLAN = re.compile(
    r"\bI (?:really )?(?:(?:wanted|hoped|planned|intended|was going|was planning|was hoping|was supposed) to) (?P<verb>[a-z]+) "
    r"(?P<old>[^,.;!?]+?)(?:[,.;!]| but| and| -| –)+ (?:but |and |so )?(?:now |actually |then )*(?:I'll|I will|I'm going "
    r"to|I'm gonna|I've decided to|"
    r"I decided to|I'm) (?:do|doing|run|running|go for|going for|take|taking|try|visit|see|[a-z]+) (?P<new>[^,.;!?]+?) "
    r"instead\b",
    re.IGNORECASE,
)
_ANY_MORE = re.compile(r",? any ?more\Z", re.IGNORECASE)
_NEGATED_STATEMENT = re.compile(
    r"(?P<who>I|my [\w' -]+?) (?:(?P<be>am|'m|is|isn't|am not|'m not|are|aren't)|(?P<do>don't|doesn't|do not|does not)|"
    r"(?P<longer>no longer)) "
    r"(?:not )?(?P<rest>.+)",
    re.IGNORECASE,
)
_STOPPED_ACTIVITY = re.compile(
    r"I(?:'ve| have)? (?:stopped|quit|gave up|given up) (?P<verb>[a-z]+ing)\b ?(?P<rest>.*)", re.IGNORECASE
)
_QUIT = re.compile(r"I(?:'ve| have)? (?:quit|left|lost) my job (?P<at>(?:at|with) [\w' &.-]+)", re.IGNORECASE)
_MOVED = re.compile(
    r"I(?:'ve| have)? (?:(?:just|recently) )?moved (?:here )?from (?P<place>[A-Z][\w'-]*(?: [A-Z][\w'-]*)*|[a-z]+)(?= |\Z)"
)
_BREAKUP = re.compile(r"I(?:'ve| have)? (?:broke|broken|split) up with (?:my (?P<who>[a-z]+) ?)?(?P<name>[A-Z][\w-]+)?")
_DIED = re.compile(
    r"my (?P<who>dog|cat|rabbit|hamster|horse|parrot|guinea pig|bird)(?: [A-Z]\w+)? (?:died|passed away|had "
    r"to be put)",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"\A(?P<before>.*?\b)(?P<new>[A-Z][\w-]+(?: [A-Z][\w-]+)*) instead of (?P<old>[A-Z][\w-]+(?: "
    r"[A-Z][\w-]+)*)\Z"
)
_CHANGED = re.compile(
    r"\b(?:changed (?:my|our|his|her|their) minds?|change of plans?|new plan|from now on|(?:is|are|'s) (?:off|out)(?=[,.!]|"
    r" now\b|$)|scratch (?:that|the|\w+)|moved it|(?:it's|"
    r"its) (?:[\w']+ ){1,4}now|instead|after all|called off|cancelled|"
    r"canceled|"
    r"(?:moved|switched|changed|postponed|rescheduled|pushed back|brought forward) to (?:the \d|\d|"
    rf"(?:{WEEKDAY})s?|next|{MONTH}))\b",
    re.IGNORECASE,
)
"""Phrases that announce that an earlier statement no longer holds."""
_ENDED_STATEMENTS = (
    (_INSTEAD, "{before}{old}"),
    (_QUIT, "I work {at}"),
    (_MOVED, "I live in {place}"),
    (_DIED, "I have a {who}"),
)
"""Patterns of clauses that end an earlier statement, with that statement."""
_PARTNERS = ("girlfriend", "boyfriend", "partner")
_TRAILING_TIME = re.compile(
    r" (?:on new year's .+|(?:in|on|for|this|last|next) (?:the )?\w+(?: \w+){0,2}|(?:\w+|a few) "
    r"(?:days|weeks|months|years) ago|a \w+ ago|recently)\Z"
)


def find_replaced_plan(message: str) -> tuple[str, str] | None:
    """Return the new intention and the one it replaces, as first-person clauses; None if the message replaces none."""
    match = _REPLACED_PLAN.search(message)
    if not match:
        return None
    return f"I will {match['verb']} {match['new']} instead of {match['old']}", f"I want to {match['verb']} {match['old']}"


def announces_change(message: str) -> bool:
    """Return whether a message announces that an earlier statement no longer holds."""
    return bool(_CHANGED.search(message))


def find_ended_statements(clause: str) -> tuple[str, ...]:
    """Return the statements that a first-person clause ends, as first-person clauses."""
    if _ANY_MORE.search(clause) or " no longer " in clause:
        return _find_denied_statement(_ANY_MORE.sub("", clause))
    if match := _BREAKUP.match(clause):
        roles = [match["who"]] if match["who"] in _PARTNERS else _PARTNERS
        name_statements = [f"my {role} is called {match['name']}" for role in roles] if match["name"] else []
        return (*name_statements, *(f"I have a {role}" for role in roles))
    if (match := _STOPPED_ACTIVITY.match(clause)) and match["verb"].lower() in _VERBS_BY_GERUND:
        return (f"I {_VERBS_BY_GERUND[match['verb'].lower()]} {_TRAILING_TIME.sub('', ' ' + match['rest']).strip()}".strip(),)
    for pattern, template in _ENDED_STATEMENTS:
        if match := pattern.match(clause):
            return (template.format(**{name: _TRAILING_TIME.sub("", value) for name, value in match.groupdict().items()}),)
    return ()


def _find_denied_statement(clause: str) -> tuple[str, ...]:
    """Return the statement a clause denies: “I live in Porto” for “I don't live in Porto”."""
    match = _NEGATED_STATEMENT.match(clause)
    if not match:
        return ()
    subject, rest = match["who"], match["rest"]
    if match["be"]:
        rest = re.sub(r"^(?:not|no longer) ", "", rest)
        return (f"{subject} {'am' if subject == 'I' else 'is'} {rest}",)
    if match["longer"] or subject == "I":
        return (f"{subject} {rest}",)
    verb, _space, after = rest.partition(" ")
    return (f"{subject} {verb}s {after}".strip(),)
