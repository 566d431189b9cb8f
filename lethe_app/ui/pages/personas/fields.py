"""Fields of the persona editor: their sections, labels and help texts, for characters and for user personas."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import QCoreApplication, QLocale

from lethe_app.domain.persona import Weekday
from lethe_app.ui.pages.personas.draft import DAY_PREFIX
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec

AVATAR, WORLDS, SAMPLERS, MODEL = "avatar", "worlds", "allowed_samplers", "preferred_model"
TASKS, TOOLS = "agent_tasks", "tools"
"""Fields with a widget of their own, which is not created by the section's form."""


@dataclass(frozen=True)
class EditorSection:
    """Section of the editor, shown as a card."""

    name: str
    title: str
    description: str = ""
    specs: tuple[FieldSpec, ...] = ()
    fields_before: tuple[str, ...] = ()
    """Fields with a widget of their own above the form."""
    fields_after: tuple[str, ...] = field(default=())
    """Fields with a widget of their own below the form."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("PersonaPage", text)


def chapters() -> list[EditorSection]:
    """Return the sections of a character."""
    return [
        _identity_chapter(),
        _bio_chapter(),
        _scenario_chapter(),
        _style_chapter(),
        _world_chapter(),
        _memory_chapter(),
        _away_chapter(),
        _model_chapter(),
    ]


def user_persona_chapters() -> list[EditorSection]:
    """Return the sections of a user persona."""
    name = FieldSpec("name", _tr("Name"), help=_tr("Name that characters call you; {{user}} stands for it in any text."))
    tagline = FieldSpec("tagline", _tr("Tagline"), help=_tr("Note to tell your personas apart; never sent to the model."))
    bio = FieldSpec(
        "bio",
        _tr("Description"),
        FieldKind.TEXT_AREA,
        _tr("Facts that characters know about you from the start, written in the third person."),
        _tr("{{user}} is a retired ferry captain who …"),
        lines=6,
        max_lines=24,
    )
    no_hidden_notes = FieldSpec(
        "disable_bot_guidance",
        _tr("No hidden notes"),
        FieldKind.CHECKBOX,
        _tr("Disable notes about time, moods and proactive memories while you use this persona."),
    )
    return [
        EditorSection("who", _tr("Description"), specs=(name, tagline), fields_before=(AVATAR,)),
        EditorSection("bio", _tr("About you"), specs=(bio,)),
        EditorSection("memory", _tr("Chat"), specs=(no_hidden_notes,)),
    ]


def _identity_chapter() -> EditorSection:
    name = FieldSpec("name", _tr("Name"), help=_tr("Name of the persona; {{char}} stands for it in any text."))
    tagline = FieldSpec("tagline", _tr("Tagline"), help=_tr("Short text below the name in the list; never sent to the model."))
    tags = FieldSpec("tags", _tr("Tags"), FieldKind.TAGS, placeholder=_tr("Add tag"))
    return EditorSection("who", _tr("Identity"), specs=(name, tagline, tags), fields_before=(AVATAR,))


def _bio_chapter() -> EditorSection:
    text = _tr(
        "Description that is always in the prompt. {{char}} is the persona, {{user}} is you; {{date}}, "
        "{{time}} and {{day}} work too."
    )
    bio = FieldSpec(
        "bio",
        _tr("Bio"),
        FieldKind.TEXT_AREA,
        _tr("Background, goals, fears and way of speaking of the persona."),
        _tr("{{char}} is the navigator of the Petrel. She …"),
        lines=8,
        max_lines=32,
    )
    mini = FieldSpec(
        "mini_bio",
        _tr("Short bio"),
        FieldKind.TEXT_AREA,
        _tr("One paragraph used in group chats, where a full bio would take too many tokens."),
        lines=3,
    )
    return EditorSection("bio", _tr("Bio"), text, (bio, mini))


def _scenario_chapter() -> EditorSection:
    scenario = FieldSpec(
        "scenario",
        _tr("Scenario"),
        FieldKind.TEXT_AREA,
        _tr("Setting and relationship at the start of a conversation."),
        lines=4,
        max_lines=24,
    )
    greetings = FieldSpec(
        "first_messages",
        _tr("Greetings"),
        FieldKind.TEXT_LIST,
        _tr("First messages of a new conversation, available as swipes; without any, you write first."),
        lines=4,
        add_label=_tr("Add greeting"),
    )
    return EditorSection("scenario", _tr("Scenario and greetings"), specs=(scenario, greetings))


def _style_chapter() -> EditorSection:
    dialogs = FieldSpec(
        "example_dialogs",
        _tr("Style and examples"),
        FieldKind.TEXT_LIST,
        _tr("Example lines and style rules, one per field: “Asked about the sea: …”, “Never more than three sentences.”"),
        lines=1,
        add_label=_tr("Add line"),
    )
    system = FieldSpec(
        "system_prompt",
        _tr("System prompt"),
        FieldKind.TEXT_AREA,
        _tr(
            "Replacement for the general system prompt, rarely needed; {{original}} inserts the general one, and "
            "empty keeps it."
        ),
        lines=3,
        max_lines=24,
    )
    return EditorSection("style", _tr("Style"), specs=(dialogs, system))


def _world_chapter() -> EditorSection:
    text = _tr("World Info entries that are added to the prompt when the conversation mentions their keys.")
    return EditorSection("world", _tr("Worlds (lorebooks)"), text, fields_after=(WORLDS,))


def _memory_chapter() -> EditorSection:
    time = FieldSpec(
        "sense_of_time",
        _tr("Sense of time"),
        FieldKind.CHECKBOX,
        _tr("Add a hidden note with the time and the length of your absence when you return after a while."),
    )
    dates = FieldSpec(
        "dates_in_session_summaries",
        _tr("Dates in summaries"),
        FieldKind.CHECKBOX,
        _tr("Add dates to the summaries of earlier conversations."),
    )
    no_hidden_notes = FieldSpec(
        "disable_bot_guidance",
        _tr("No hidden notes"),
        FieldKind.CHECKBOX,
        _tr("Disable notes about time, moods and proactive memories; memories you ask for are still recalled."),
    )
    thoughts = FieldSpec(
        "self_edit_field",
        _tr("Personal thoughts"),
        FieldKind.TEXT_AREA,
        _tr("What the persona thinks of itself and of you, always included in the prompt."),
        lines=3,
    )
    auto_update = FieldSpec(
        "self_edit_tokens",
        _tr("Auto-update thoughts"),
        FieldKind.INTEGER,
        _tr(
            "Maximum tokens when the persona rewrites its thoughts after conversations, while you are away; 200 "
            "is a good length."
        ),
        maximum=4000,
        step=50,
        minimum_label=_tr("never"),
    )
    return EditorSection("memory", _tr("Memory"), specs=(time, dates, no_hidden_notes, thoughts, auto_update))


def _away_chapter() -> EditorSection:
    mood = FieldSpec("mood", _tr("Moods"), FieldKind.CHECKBOX, _tr("Mention the persona's mood when you return."))
    plan_help = _tr("Plans for this weekday, mentioned in a hidden note when you come back after a while.")
    prefix = FieldSpec(
        "schedule_prefix",
        _tr("Schedule prefix"),
        placeholder=_tr("Plans for today:"),
        help=_tr("Text before the plan of the day in the note."),
    )
    days = tuple(
        FieldSpec(f"{DAY_PREFIX}{day}", QLocale().standaloneDayName(number), help=plan_help if number == 1 else "")
        for number, day in enumerate(Weekday, start=1)
    )
    tasks_help = _tr("Run tasks while you are away, stopping the moment you return; press Ctrl+Shift+A to see what was done.")
    agent = FieldSpec("agent_mode", _tr("Background activity"), FieldKind.CHECKBOX, tasks_help)
    unused_help = _tr("Saved with the persona, but not used by Lethe yet.")
    writes = FieldSpec("can_initiate_chat", _tr("Can write first"), FieldKind.CHECKBOX, unused_help)
    return EditorSection("away", _tr("While you are away"), specs=(mood, *days, prefix, writes, agent), fields_after=(TASKS,))


def _model_chapter() -> EditorSection:
    text = _tr(
        "The preferred model is suggested when you chat while another one is loaded. The sampler preset from "
        "the settings is used if it is ticked here, otherwise the first ticked one."
    )
    override_help = _tr("Use the tools ticked here instead of the default tools; tools must also be enabled in the settings.")
    override = FieldSpec("override_default_toolset", _tr("Override default tools"), FieldKind.CHECKBOX, override_help)
    return EditorSection(
        "voice", _tr("Model and tools"), text, specs=(override,), fields_before=(MODEL, SAMPLERS), fields_after=(TOOLS,)
    )


def field_title(name: str) -> str:
    """Return the label of a field for its undo command."""
    titles = {AVATAR: _tr("Avatar"), WORLDS: _tr("Worlds"), SAMPLERS: _tr("Sampler presets"), MODEL: _tr("Preferred model")}
    titles[TASKS] = _tr("Background tasks")
    titles[TOOLS] = _tr("Tools")
    specs = (spec for chapter in chapters() for spec in chapter.specs)
    return titles.get(name) or next((spec.title for spec in specs if spec.name == name), name)
