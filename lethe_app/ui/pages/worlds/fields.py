"""The fields of an entry as its form shows them: the six of every day first, the others by what they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lethe_app.domain.chat import Role
from lethe_app.domain.worldinfo import WorldEntry
from lethe_app.ui.pages.worlds.labels import links, tr
from lethe_app.ui.widgets.fields import FieldKind, Spec

SYSTEM, AMONG = "system", "among"
AS_THE_WORLD = -1
"""Scan depth of an entry that has none of its own."""
AS_SAID: list[tuple[str, bool | None]] = [("world", None), ("yes", True), ("no", False)]
"""What an entry may have of its own or leave to its world."""


def words_specs() -> list[Spec]:
    """What it is called, what it says, what wakes it."""
    text = tr("What is to be known then, in a few sentences")
    keys_help = tr("It wakes when one of these is said. Enter or a comma ends a key; /…/i is a regular expression.")
    return [
        Spec("name", tr("Name"), placeholder=tr("What it is about")),
        Spec("content", tr("Text"), FieldKind.PROSE, placeholder=text, lines=5, most_lines=18),
        Spec("keywords_main", tr("Keys"), FieldKind.WORDS, keys_help, placeholder=tr("word or name")),
    ]


def usual_specs() -> list[Spec]:
    """Whether it needs a word at all, where it stands, and what goes first."""
    places = [(AMONG, tr("Among the messages")), (SYSTEM, tr("In the system prompt, above everything said"))]
    roles = [(Role.SYSTEM, tr("Nobody: a note")), (Role.USER, tr("You")), (Role.ASSISTANT, tr("The persona"))]
    return [
        Spec("sticky", tr("Always there, whatever is said"), FieldKind.SWITCH),
        Spec("place", tr("Where it stands"), FieldKind.CHOICE, choices=places),
        Spec(
            "depth", tr("Messages above the newest"), FieldKind.WHOLE, highest=1000, special=tr("right at the newest message")
        ),
        Spec("role", tr("Who says it there"), FieldKind.CHOICE, choices=roles),
        Spec(
            "priority", tr("Priority"), FieldKind.WHOLE, tr("When there is not room for all, the higher comes."), lowest=-1000
        ),
    ]


@dataclass(frozen=True)
class FieldSection:
    """Some further fields under a title."""

    title: str
    specs: Sequence[Spec]


def more_parts() -> list[FieldSection]:
    """Everything that most entries never need."""
    return [
        FieldSection(tr("Keys more exactly"), _key_specs()),
        FieldSection(tr("When and how long"), _time_specs()),
        FieldSection(tr("Place and room"), _room_specs()),
        FieldSection(tr("One of several"), _group_specs()),
        FieldSection(tr("Entries that wake entries"), _recursion_specs()),
    ]


def _key_specs() -> list[Spec]:
    others = tr("“These” in the sentence above.")
    return [
        Spec("word_link", tr("It wakes when"), FieldKind.CHOICE, choices=links()),
        Spec("keywords_secondary", tr("Other keys"), FieldKind.WORDS, others, placeholder=tr("word or name")),
        Spec("whole_word", tr("Whole words only"), FieldKind.SWITCH, tr("Then “king” is silent in “kingdom”.")),
        Spec("case_sensitive", tr("Capitals count"), FieldKind.SWITCH, tr("Then “Rose” is not “rose”.")),
        Spec(
            "scan_depth",
            tr("Messages searched for its keys"),
            FieldKind.WHOLE,
            tr("Besides the one being sent."),
            lowest=AS_THE_WORLD,
            highest=200,
            special=tr("as its world says"),
        ),
    ]


def _time_specs() -> list[Spec]:
    return [
        Spec("chance", tr("Chance"), FieldKind.WHOLE, tr("How often it comes when its keys are said."), highest=100, unit="%"),
        Spec("duration", tr("Turns it stays"), FieldKind.WHOLE, lowest=1, highest=1000),
        Spec("cooldown", tr("Turns it rests then"), FieldKind.WHOLE, highest=1000, special=tr("none")),
        Spec("delay", tr("Not before message"), FieldKind.WHOLE, highest=10_000, special=tr("from the first on")),
    ]


def _room_specs() -> list[Spec]:
    means = [("world", tr("as its world says")), ("yes", tr("yes")), ("no", tr("no, by keys alone"))]
    return [
        Spec("order", tr("Order"), FieldKind.WHOLE, tr("Among entries at one place the higher stands later."), lowest=-100_000),
        Spec("ignore_budget", tr("Comes even where there is no room left"), FieldKind.SWITCH),
        Spec("embeds", tr("Found by its meaning too"), FieldKind.CHOICE, choices=means),
    ]


def _group_specs() -> list[Spec]:
    scoring = [("world", tr("as its world says")), ("yes", tr("yes")), ("no", tr("no"))]
    return [
        Spec(
            "groups",
            tr("Groups"),
            FieldKind.WORDS,
            tr("Of the entries in a group at most one is awake."),
            placeholder=tr("name"),
        ),
        Spec("group_weight", tr("Its share of the chances"), FieldKind.WHOLE, highest=100_000),
        Spec("group_override", tr("Goes before the others of its groups"), FieldKind.SWITCH),
        Spec("scoring", tr("Gives way where more keys were said"), FieldKind.CHOICE, choices=scoring),
    ]


def _recursion_specs() -> list[Spec]:
    return [
        Spec("exclude_recursion", tr("The texts of other entries do not wake it"), FieldKind.SWITCH),
        Spec("prevent_recursion", tr("Its own text wakes no other"), FieldKind.SWITCH),
        Spec(
            "delay_until_recursion",
            tr("Wakes only in round"),
            FieldKind.WHOLE,
            tr("Where the words of entries wake others, they do so in rounds."),
            highest=10,
            special=tr("at once"),
        ),
    ]


def values_of(entry: WorldEntry) -> dict[str, Any]:
    """What the form shows."""
    return {
        **{name: getattr(entry, name) for name in WorldEntry.model_fields},
        "place": SYSTEM if entry.position_index < 0 else AMONG,
        "depth": max(entry.position_index, 0),
        "chance": round(entry.trigger_chance * 100),
        "scan_depth": AS_THE_WORLD if entry.scan_depth is None else entry.scan_depth,
        "embeds": next(name for name, own in AS_SAID if own is entry.do_embeds),
        "scoring": next(name for name, own in AS_SAID if own is entry.group_scoring),
    }


def fields_for(name: str, value: Any, depth: int = 0) -> Mapping[str, object]:  # noqa: ANN401 - as the field's kind says
    """What a change in the form means for the entry; `depth` is what the field for it shows."""
    match name:
        case "place":
            return {"position_index": -1 if value == SYSTEM else depth}
        case "depth":
            return {"position_index": value}
        case "chance":
            return {"trigger_chance": value / 100}
        case "scan_depth":
            return {"scan_depth": None if value == AS_THE_WORLD else value}
        case "embeds" | "scoring":
            return {"do_embeds" if name == "embeds" else "group_scoring": dict(AS_SAID)[value]}
    return {name: value}


def unusual(entry: WorldEntry) -> set[str]:
    """The further fields that are not as in a new entry."""
    new, own = values_of(WorldEntry()), values_of(entry)
    names = {spec.name for part in more_parts() for spec in part.specs} - {"order"}
    found = {name for name in names if own[name] != new[name]}
    return found | ({"end_time"} if entry.end_time is not None else set())
