"""Statements that no longer hold because of a newer one: “I don't live in Porto any more”."""

from __future__ import annotations

import re
from functools import cache

from lethe_app.brain.vocabulary.verbs import BASE_VERBS
from lethe_app.language_tables import compile_entry, load_table, table_pattern, table_words

_ANY_MORE = re.compile(r",? any ?more\Z", re.IGNORECASE)


def find_replaced_plan(message: str) -> tuple[str, str] | None:
    """Return the new intention and the one it replaces, as first-person clauses; None if the message replaces none."""
    match = table_pattern("changes", "replaced_plan").search(message)
    if not match:
        return None
    return f"I will {match['verb']} {match['new']} instead of {match['old']}", f"I want to {match['verb']} {match['old']}"


def announces_change(message: str) -> bool:
    """Return whether a message announces that an earlier statement no longer holds."""
    return bool(table_words("changes", "changed").search(message))


def find_ended_statements(clause: str) -> tuple[str, ...]:
    """Return the statements that a first-person clause ends, as first-person clauses."""
    if _ANY_MORE.search(clause) or " no longer " in clause:
        return _find_denied_statement(_ANY_MORE.sub("", clause))
    for pattern, statements in _endings():
        if match := pattern.match(clause):
            groups = {
                name: table_pattern("changes", "trailing_time").sub("", f" {value or ''}").strip()
                for name, value in match.groupdict().items()
            }
            groups |= {"infinitive": _infinitive(groups.get("gerund", ""))}
            return tuple(" ".join(one.format(**groups).split()) for one in statements if all(_is_filled(one, groups)))
    return ()


def _is_filled(statement: str, groups: dict[str, str]) -> list[bool]:
    return [bool(groups[name]) for name in re.findall(r"{(\w+)}", statement) if name != "rest"]


@cache
def _endings() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    return tuple((compile_entry(row["pattern"]), tuple(row["ends"])) for row in load_table("changes")["ending"])


@cache
def _infinitive(gerund: str) -> str:
    """Return the everyday verb of a form in -ing; empty if it is none."""
    stem = gerund.lower().removesuffix("ing")
    return next((verb for verb in (stem, f"{stem}e", stem[:-1]) if gerund and verb in BASE_VERBS), "")


def _find_denied_statement(clause: str) -> tuple[str, ...]:
    """Return the statement a clause denies: “I live in Porto” for “I don't live in Porto”."""
    match = table_pattern("changes", "negated_statement").match(clause)
    if not match:
        return ()
    subject, rest = match["who"], match["rest"]
    if match["be"]:
        return (f"{subject} {'am' if subject == 'I' else 'is'} {re.sub(r'^(?:not|no longer) ', '', rest)}",)
    if match["longer"] or subject == "I":
        return (f"{subject} {rest}",)
    verb, _space, after = rest.partition(" ")
    return (f"{subject} {verb}s {after}".strip(),)
