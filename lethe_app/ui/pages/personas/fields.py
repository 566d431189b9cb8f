"""Sections of the persona editor and their fields, for characters and for user personas."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QCoreApplication, QLocale

from lethe_app.domain.chat import Role
from lethe_app.domain.persona import Persona, Weekday
from lethe_app.ui.core.labels import fields
from lethe_app.ui.pages.personas.draft import DAY_PREFIX
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec, build_field_spec

AVATAR, WORLDS, SAMPLERS, MODEL = "avatar", "worlds", "allowed_samplers", "preferred_model"
TASKS, TOOLS, VOICE = "agent_tasks", "tools", "tts_voice"
TEXTS: dict[str, dict[str, Any]] = {
    "bio": {"lines": 8, "max_lines": 32},
    "personality": {"lines": 2},
    "mini_bio": {"lines": 3},
    "post_history_instructions": {"lines": 2},
    "depth_prompt": {"lines": 2},
    "creator_notes": {"lines": 2, "max_lines": 24},
    "scenario": {"lines": 4, "max_lines": 24},
    "system_prompt": {"lines": 3, "max_lines": 24},
    "self_edit_field": {"lines": 3},
    "first_messages": {"lines": 4},
    "group_greetings": {"lines": 4},
    "example_dialogs": {"lines": 1},
}
"""Height of the texts that are longer than a line."""


@dataclass(frozen=True)
class EditorSection:
    """Section of the editor, shown as a card."""

    title: str
    specs: list[FieldSpec]
    description: str = ""
    has_avatar: bool = False
    """True if the avatar is shown above the fields."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("PersonaPage", text)


def persona_sections() -> list[EditorSection]:
    """Return the sections of a character."""
    bio = _tr(
        "Description that is always in the prompt. {{char}} is the persona, {{user}} is you; {{date}}, "
        "{{time}} and {{day}} work too."
    )
    model = _tr(
        "The preferred model is suggested when you chat while another one is loaded. The sampler preset from "
        "the settings is used if it is ticked here, otherwise the first ticked one."
    )
    memory = ("dates_in_session_summaries", "disable_bot_guidance", "self_edit_field", "self_edit_tokens")
    away = [*_specs("sense_of_time", "mood"), *_day_specs(), *_specs("schedule_prefix", "agent_mode", TASKS)]
    return [
        EditorSection(_tr("Identity"), _specs("name", "tagline", "nickname", "tags"), has_avatar=True),
        EditorSection(_tr("Bio"), _specs("bio", "personality", "mini_bio"), bio),
        EditorSection(_tr("Scenario and greetings"), _specs("scenario", "first_messages")),
        EditorSection(_tr("Group conversations"), _specs("talkativeness", "group_greetings")),
        EditorSection(_tr("Style"), _specs("example_dialogs", "system_prompt", "post_history_instructions")),
        EditorSection(_tr("Voice"), _specs(VOICE)),
        EditorSection(_tr("Character's note"), _specs("depth_prompt", "depth_prompt_depth", "depth_prompt_role")),
        EditorSection(_tr("Worlds (lorebooks)"), _specs(WORLDS)),
        EditorSection(_tr("Memory"), _specs(*memory)),
        EditorSection(_tr("While you are away"), away),
        EditorSection(_tr("Model and tools"), _specs(MODEL, SAMPLERS, "override_default_toolset", TOOLS), model),
        EditorSection(_tr("About the card"), _specs("creator", "character_version", "creator_notes")),
    ]


def user_persona_sections() -> list[EditorSection]:
    """Return the sections of a user persona, whose fields have another meaning."""
    name, tagline, bio, no_hidden_notes = _specs("name", "tagline", "bio", "disable_bot_guidance")
    about = replace(
        bio,
        title=_tr("Description"),
        help=_tr("Facts that characters know about you from the start, written in the third person."),
        placeholder=_tr("{{user}} is a retired ferry captain who …"),
        lines=6,
        max_lines=24,
    )
    name = replace(name, help=_tr("Name by which personas call you; {{user}} stands for it in any text."))
    tagline = replace(tagline, help=_tr("Note to tell your personas apart; never sent to the model."))
    help_text = _tr("Disable notes about time, moods and proactive memories while you use this persona.")
    return [
        EditorSection(_tr("Description"), [name, tagline], has_avatar=True),
        EditorSection(_tr("About you"), [about]),
        EditorSection(_tr("Chat"), [replace(no_hidden_notes, help=help_text, is_advanced=False)]),
    ]


def field_title(name: str) -> str:
    """Return the title of a field for its undo command."""
    if name.startswith(DAY_PREFIX):
        return next(spec.title for spec in _day_specs() if spec.name == name)
    return fields.field_title(Persona, name)


def _specs(*names: str) -> list[FieldSpec]:
    return [_build_spec(name) for name in names]


def _build_spec(name: str) -> FieldSpec:
    is_role = name == "depth_prompt_role"
    roles = [(Role.SYSTEM, _tr("System")), (Role.USER, _tr("User")), (Role.ASSISTANT, _tr("Assistant"))]
    spec = build_field_spec(Persona, name, roles if is_role else ())
    spec = replace(spec, **_options().get(name, {}), **TEXTS.get(name, {}))
    if name not in TEXTS:
        return spec
    return replace(spec, kind=FieldKind.TEXT_AREA if spec.kind is FieldKind.TEXT else FieldKind.TEXT_LIST)


def _options() -> dict[str, dict[str, Any]]:
    """Return what the form adds to the declaration of a field."""
    checkboxes, optional, greeting = FieldKind.CHECKBOXES, FieldKind.OPTIONAL_CHOICE, {"add_label": _tr("Add greeting")}
    dialogue = {"template_label": _tr("Add dialogue"), "template": "{{user}}: \n{{char}}: "}
    return {
        WORLDS: {"kind": checkboxes, "placeholder": _tr("No worlds yet.")},
        SAMPLERS: {"kind": checkboxes, "placeholder": _tr("No sampler presets.")},
        TASKS: {"kind": checkboxes, "placeholder": _tr("No background tasks available.")},
        TOOLS: {"kind": checkboxes, "placeholder": _tr("No tools available.")},
        MODEL: {"kind": optional, "placeholder": _tr("No preference")},
        VOICE: {"kind": optional, "placeholder": _tr("Voice from the settings")},
        "self_edit_tokens": {"step": 50},
        "first_messages": greeting,
        "group_greetings": greeting,
        "example_dialogs": {"add_label": _tr("Add line"), **dialogue},
    }


def _day_specs() -> list[FieldSpec]:
    """Return a field for each day of the schedule; the first has the help text."""
    help_text = build_field_spec(Persona, "schedule").help
    return [
        FieldSpec(
            f"{DAY_PREFIX}{day}",
            QLocale().standaloneDayName(number),
            help=help_text if number == 1 else "",
            is_advanced=True,
        )
        for number, day in enumerate(Weekday, start=1)
    ]
