"""Form fields of an entry: the common ones first, the others by subject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lethe_app.domain.chat import Role
from lethe_app.domain.worldinfo import WorldEntry
from lethe_app.ui.pages.worlds.labels import link_choices, tr
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec

SYSTEM, IN_CHAT = "system", "among"
WORLD_DEFAULT = -1
"""Field value for an entry that uses the scan depth of its world."""
OVERRIDE_CHOICES: list[tuple[str, bool | None]] = [("world", None), ("yes", True), ("no", False)]
"""Choices of fields that an entry can override or leave to its world."""


def text_specs() -> list[FieldSpec]:
    """Return the fields for name, content and keys."""
    text = tr("Text added to the prompt when the entry is activated")
    keys_help = tr("Words that activate the entry, separated by Enter or a comma; /…/i is a regular expression.")
    return [
        FieldSpec("name", tr("Name"), placeholder=tr("Entry title")),
        FieldSpec("content", tr("Content"), FieldKind.TEXT_AREA, placeholder=text, lines=5, max_lines=18),
        FieldSpec("keywords_main", tr("Keys"), FieldKind.TAGS, keys_help, placeholder=tr("word or name")),
    ]


def common_specs() -> list[FieldSpec]:
    """Return the common fields: constant, position, role and priority."""
    positions = [(IN_CHAT, tr("In chat, at depth")), (SYSTEM, tr("In the system prompt"))]
    roles = [(Role.SYSTEM, tr("System")), (Role.USER, tr("User")), (Role.ASSISTANT, tr("Assistant"))]
    return [
        FieldSpec("sticky", tr("Constant"), FieldKind.CHECKBOX),
        FieldSpec("place", tr("Position"), FieldKind.COMBO_BOX, choices=positions),
        FieldSpec("depth", tr("Depth"), FieldKind.INTEGER, maximum=1000, minimum_label=tr("at the newest message")),
        FieldSpec("role", tr("Role"), FieldKind.COMBO_BOX, choices=roles),
        FieldSpec(
            "priority",
            tr("Priority"),
            FieldKind.INTEGER,
            tr("Entries with a higher priority are kept when the token budget is exceeded."),
            minimum=-1000,
        ),
    ]


@dataclass(frozen=True)
class FieldSection:
    """Section of rarely used fields with its title."""

    title: str
    specs: Sequence[FieldSpec]


def rare_field_sections() -> list[FieldSection]:
    """Return the sections of rarely used fields."""
    return [
        FieldSection(tr("Key matching"), _key_specs()),
        FieldSection(tr("Timing"), _time_specs()),
        FieldSection(tr("Order and budget"), _budget_specs()),
        FieldSection(tr("Inclusion groups"), _group_specs()),
        FieldSection(tr("Recursion"), _recursion_specs()),
    ]


def _key_specs() -> list[FieldSpec]:
    secondary_help = tr("Keys that the selective logic above combines with the main keys.")
    return [
        FieldSpec("word_link", tr("Selective logic"), FieldKind.COMBO_BOX, choices=link_choices()),
        FieldSpec("keywords_secondary", tr("Secondary keys"), FieldKind.TAGS, secondary_help, placeholder=tr("word or name")),
        FieldSpec("whole_word", tr("Match whole words"), FieldKind.CHECKBOX, tr("Prevent “king” from matching “kingdom”.")),
        FieldSpec("case_sensitive", tr("Case-sensitive"), FieldKind.CHECKBOX, tr("Prevent “Rose” from matching “rose”.")),
        FieldSpec(
            "scan_depth",
            tr("Scan depth"),
            FieldKind.INTEGER,
            tr("Number of messages to scan for keys, besides the one being sent."),
            minimum=WORLD_DEFAULT,
            maximum=200,
            minimum_label=tr("world default"),
        ),
    ]


def _time_specs() -> list[FieldSpec]:
    return [
        FieldSpec(
            "chance",
            tr("Probability"),
            FieldKind.INTEGER,
            tr("Chance that the entry is activated when a key matches."),
            maximum=100,
            unit="%",
        ),
        FieldSpec("duration", tr("Sticky (turns)"), FieldKind.INTEGER, minimum=1, maximum=1000),
        FieldSpec("cooldown", tr("Cooldown (turns)"), FieldKind.INTEGER, maximum=1000, minimum_label=tr("none")),
        FieldSpec("delay", tr("Delay (messages)"), FieldKind.INTEGER, maximum=10_000, minimum_label=tr("none")),
    ]


def _budget_specs() -> list[FieldSpec]:
    embed_choices = [("world", tr("world default")), ("yes", tr("yes")), ("no", tr("no, keys only"))]
    return [
        FieldSpec(
            "order",
            tr("Order"),
            FieldKind.INTEGER,
            tr("Entries with a higher order are inserted later at the same position."),
            minimum=-100_000,
        ),
        FieldSpec("ignore_budget", tr("Ignore budget"), FieldKind.CHECKBOX),
        FieldSpec("embeds", tr("Recall by meaning"), FieldKind.COMBO_BOX, choices=embed_choices),
    ]


def _group_specs() -> list[FieldSpec]:
    scoring = [("world", tr("world default")), ("yes", tr("yes")), ("no", tr("no"))]
    return [
        FieldSpec(
            "groups",
            tr("Inclusion groups"),
            FieldKind.TAGS,
            tr("Groups of which only one entry can be active at a time."),
            placeholder=tr("group name"),
        ),
        FieldSpec("group_weight", tr("Group weight"), FieldKind.INTEGER, maximum=100_000),
        FieldSpec("group_override", tr("Prioritise in group"), FieldKind.CHECKBOX),
        FieldSpec("scoring", tr("Use group scoring"), FieldKind.COMBO_BOX, choices=scoring),
    ]


def _recursion_specs() -> list[FieldSpec]:
    return [
        FieldSpec("exclude_recursion", tr("Exclude from recursion"), FieldKind.CHECKBOX),
        FieldSpec("prevent_recursion", tr("Prevent further recursion"), FieldKind.CHECKBOX),
        FieldSpec(
            "delay_until_recursion",
            tr("Recursion level"),
            FieldKind.INTEGER,
            tr("First recursion step in which the entry can be activated."),
            maximum=10,
            minimum_label=tr("no delay"),
        ),
    ]


def form_values(entry: WorldEntry) -> dict[str, Any]:
    """Return the form values of an entry."""
    return {
        **{name: getattr(entry, name) for name in WorldEntry.model_fields},
        "place": SYSTEM if entry.position_index < 0 else IN_CHAT,
        "depth": max(entry.position_index, 0),
        "chance": round(entry.trigger_chance * 100),
        "scan_depth": WORLD_DEFAULT if entry.scan_depth is None else entry.scan_depth,
        "embeds": next(name for name, own in OVERRIDE_CHOICES if own is entry.do_embeds),
        "scoring": next(name for name, own in OVERRIDE_CHOICES if own is entry.group_scoring),
    }


def entry_fields(name: str, value: Any, depth: int = 0) -> Mapping[str, object]:  # noqa: ANN401 - as the field's kind says
    """Return the entry's fields for a changed form value; `depth` is the value of the depth field."""
    match name:
        case "place":
            return {"position_index": -1 if value == SYSTEM else depth}
        case "depth":
            return {"position_index": value}
        case "chance":
            return {"trigger_chance": value / 100}
        case "scan_depth":
            return {"scan_depth": None if value == WORLD_DEFAULT else value}
        case "embeds" | "scoring":
            return {"do_embeds" if name == "embeds" else "group_scoring": dict(OVERRIDE_CHOICES)[value]}
    return {name: value}


def changed_rare_fields(entry: WorldEntry) -> set[str]:
    """Return the rarely used fields that differ from those of a new entry."""
    defaults, values = form_values(WorldEntry()), form_values(entry)
    names = {spec.name for part in rare_field_sections() for spec in part.specs} - {"order"}
    changed = {name for name in names if values[name] != defaults[name]}
    return changed | ({"end_time"} if entry.end_time is not None else set())
