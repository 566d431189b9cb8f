"""Form fields of an entry: the common ones first, the others by subject."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lethe_app.domain.chat import Role
from lethe_app.domain.worldinfo import WorldEntry
from lethe_app.ui.pages.worlds.labels import link_choices, tr
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec, build_field_spec

SYSTEM, IN_CHAT = "system", "among"


def text_specs() -> list[FieldSpec]:
    """Return the fields for name, content and keys."""
    name, content, keys = _specs("name", "content", "keywords_main")
    return [name, replace(content, kind=FieldKind.TEXT_AREA, lines=5, max_lines=18), keys]


def common_specs() -> list[FieldSpec]:
    """Return the common fields. The insertion depth is edited as two: whether it is in the chat, and how deep."""
    positions = [(IN_CHAT, tr("Among the messages")), (SYSTEM, tr("In the system prompt"))]
    roles = [(Role.SYSTEM, tr("System")), (Role.USER, tr("User")), (Role.ASSISTANT, tr("Assistant"))]
    constant, depth, priority = _specs("sticky", "position_index", "priority")
    return [
        constant,
        FieldSpec("place", tr("Position"), FieldKind.COMBO_BOX, tr("Place of the content in the prompt."), choices=positions),
        replace(depth, name="depth", minimum=0, minimum_label=tr("at the newest message")),
        build_field_spec(WorldEntry, "role", roles),
        priority,
    ]


def rare_field_sections() -> dict[str, list[FieldSpec]]:
    """Return the rarely used fields by the title of their section."""
    default, yes = (None, tr("world default")), (True, tr("yes"))
    embeds = build_field_spec(WorldEntry, "do_embeds", [default, yes, (False, tr("no, keys only"))])
    scoring = build_field_spec(WorldEntry, "group_scoring", [default, yes, (False, tr("no"))])
    link = build_field_spec(WorldEntry, "word_link", link_choices())
    return {
        tr("Key matching"): [link, *_specs("keywords_secondary", "whole_word", "case_sensitive", "scan_depth")],
        tr("Timing"): _specs("trigger_chance", "duration", "cooldown", "delay"),
        tr("Order and budget"): [*_specs("order", "ignore_budget"), embeds],
        tr("Inclusion groups"): [*_specs("groups", "group_weight", "group_override"), scoring],
        tr("Recursion"): _specs("exclude_recursion", "prevent_recursion", "delay_until_recursion"),
    }


def _specs(*names: str) -> list[FieldSpec]:
    return [build_field_spec(WorldEntry, name) for name in names]


def form_values(entry: WorldEntry) -> dict[str, Any]:
    """Return the form values of an entry."""
    position = {"place": SYSTEM if entry.position_index < 0 else IN_CHAT, "depth": max(entry.position_index, 0)}
    return dict(entry) | position


def entry_fields(name: str, value: Any, depth: int = 0) -> Mapping[str, object]:  # noqa: ANN401 - as the field's kind says
    """Return the entry's fields for a changed form value; `depth` is the value of the depth field."""
    if name == "place":
        return {"position_index": -1 if value == SYSTEM else depth}
    return {"position_index" if name == "depth" else name: value}


def changed_rare_fields(entry: WorldEntry) -> set[str]:
    """Return the rarely used fields that differ from those of a new entry."""
    defaults, values = dict(WorldEntry()), dict(entry)
    names = {spec.name for specs in rare_field_sections().values() for spec in specs} - {"order"}
    changed = {name for name in names if values[name] != defaults[name]}
    return changed | ({"end_time"} if entry.end_time is not None else set())
