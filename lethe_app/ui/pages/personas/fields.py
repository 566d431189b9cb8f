"""The fields of a persona as the editor shows them: in which section, with which words, and for whom."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import QCoreApplication, QLocale

from lethe_app.domain.persona import Weekday
from lethe_app.ui.pages.personas.draft import DAY
from lethe_app.ui.widgets.fields import FieldKind, Spec

AVATAR, WORLDS, SAMPLERS, MODEL = "avatar", "worlds", "allowed_samplers", "preferred_model"
TASKS, TOOLS = "agent_tasks", "tools"
"""Fields with a widget of their own, which the form of their section does not make."""


@dataclass(frozen=True)
class Chapter:
    """One card of the editor."""

    name: str
    title: str
    words: str = ""
    specs: tuple[Spec, ...] = ()
    before: tuple[str, ...] = ()
    """Fields with a widget of their own above the others."""
    after: tuple[str, ...] = field(default=())
    """And below them."""


def _tr(words: str) -> str:
    return QCoreApplication.translate("PersonaPage", words)


def chapters() -> list[Chapter]:
    """Everything that makes a character."""
    return [_who(), _bio(), _scenario(), _style(), _world(), _memory(), _away(), _voice()]


def own_chapters() -> list[Chapter]:
    """What there is to say of the user."""
    name = Spec("name", _tr("Name"), help=_tr("Characters call you by it. In any text {{user}} stands for it."))
    tagline = Spec("tagline", _tr("A few words"), help=_tr("For yourself, to tell your personas apart. No model reads it."))
    bio = Spec(
        "bio",
        _tr("Who you are"),
        FieldKind.PROSE,
        _tr("What a character may know about you from the beginning. Write it as you would tell it about somebody else."),
        _tr("{{user}} is a retired ferry captain who …"),
        lines=6,
        most_lines=24,
    )
    quiet = Spec(
        "disable_bot_guidance",
        _tr("No hidden notes while I am this one"),
        FieldKind.SWITCH,
        _tr("No notes about the time, moods or memories that come to a character’s mind by themselves."),
    )
    return [
        Chapter("who", _tr("Who you are"), specs=(name, tagline), before=(AVATAR,)),
        Chapter("bio", _tr("About you"), specs=(bio,)),
        Chapter("memory", _tr("In conversation"), specs=(quiet,)),
    ]


def _who() -> Chapter:
    name = Spec("name", _tr("Name"), help=_tr("In any text {{char}} stands for it."))
    tagline = Spec("tagline", _tr("A few words"), help=_tr("Under the name in the list. No model reads it."))
    tags = Spec("tags", _tr("Tags"), FieldKind.WORDS, placeholder=_tr("Add a tag"))
    return Chapter("who", _tr("Who they are"), specs=(name, tagline, tags), before=(AVATAR,))


def _bio() -> Chapter:
    words = _tr("What the model always knows. {{char}} is the persona, {{user}} is you; {{date}}, {{time}}, {{day}} work too.")
    bio = Spec(
        "bio",
        _tr("Bio"),
        FieldKind.PROSE,
        _tr("Who they are, where they come from, what they want and fear, how they speak."),
        _tr("{{char}} is the navigator of the Petrel. She …"),
        lines=8,
        most_lines=32,
    )
    mini = Spec(
        "mini_bio",
        _tr("In short"),
        FieldKind.PROSE,
        _tr("One paragraph for conversations of several, where a whole bio would take too much room."),
        lines=3,
    )
    return Chapter("bio", _tr("Bio"), words, (bio, mini))


def _scenario() -> Chapter:
    scenario = Spec(
        "scenario",
        _tr("Scenario"),
        FieldKind.PROSE,
        _tr("Where you two are, and how you stand to each other, when a conversation begins."),
        lines=4,
        most_lines=24,
    )
    greetings = Spec(
        "first_messages",
        _tr("Greetings"),
        FieldKind.TEXTS,
        _tr("One of them opens a new conversation; the others can be leafed through. Without any, you begin."),
        lines=4,
        add_words=_tr("Add a greeting"),
    )
    return Chapter("scenario", _tr("Scenario and greetings"), specs=(scenario, greetings))


def _style() -> Chapter:
    dialogs = Spec(
        "example_dialogs",
        _tr("How they write"),
        FieldKind.TEXTS,
        _tr("Sample lines and rules of style, each on its own: “Asked about the sea: …”, “Never more than three sentences.”"),
        lines=1,
        add_words=_tr("Add a line"),
    )
    system = Spec(
        "system_prompt",
        _tr("System prompt"),
        FieldKind.PROSE,
        _tr("Replaces the general instructions, which is rarely needed. {{original}} brings them in; empty leaves them alone."),
        lines=3,
        most_lines=24,
    )
    return Chapter("style", _tr("Style"), specs=(dialogs, system))


def _world() -> Chapter:
    words = _tr("Lore that comes to the persona’s mind when the talk turns to it.")
    return Chapter("world", _tr("World"), words, after=(WORLDS,))


def _memory() -> Chapter:
    time = Spec(
        "sense_of_time",
        _tr("Knows what time it is"),
        FieldKind.SWITCH,
        _tr("After a while away a hidden note tells the hour and how long you were gone."),
    )
    dates = Spec(
        "dates_in_session_summaries",
        _tr("Remembers when it was"),
        FieldKind.SWITCH,
        _tr("Earlier conversations come back with their dates."),
    )
    quiet = Spec(
        "disable_bot_guidance",
        _tr("No hidden notes"),
        FieldKind.SWITCH,
        _tr("No notes about time, moods, or memories that come to mind by themselves. What you ask for is still remembered."),
    )
    thoughts = Spec(
        "self_edit_field",
        _tr("Personal thoughts"),
        FieldKind.PROSE,
        _tr("What they think of themselves and of you. It always stands in the prompt."),
        lines=3,
    )
    anew = Spec(
        "self_edit_tokens",
        _tr("They write it anew"),
        FieldKind.WHOLE,
        _tr("After conversations, while you are away, and in no more than so many tokens. A good length is 200."),
        highest=4000,
        step=50,
        special=_tr("never"),
    )
    return Chapter("memory", _tr("Memory"), specs=(time, dates, quiet, thoughts, anew))


def _away() -> Chapter:
    mood = Spec("mood", _tr("Has moods"), FieldKind.SWITCH, _tr("How they feel is told when you come back."))
    first = _tr("What they do on this day of the week. A hidden note tells it when you come back after a while.")
    prefix = Spec(
        "schedule_prefix",
        _tr("Words before the day’s plan"),
        placeholder=_tr("Plans for today:"),
        help=_tr("They introduce it in the note."),
    )
    days = tuple(
        Spec(f"{DAY}{day}", QLocale().standaloneDayName(number), help=first if number == 1 else "")
        for number, day in enumerate(Weekday, start=1)
    )
    alone = _tr("When nobody has touched the keys for a while. It ends the moment you come back, and Ctrl+Shift+A tells of it.")
    agent = Spec("agent_mode", _tr("Does things while you are away"), FieldKind.SWITCH, alone)
    later = _tr("Lethe does not act on this yet; it is kept with the persona.")
    writes = Spec("can_initiate_chat", _tr("May write first"), FieldKind.SWITCH, later)
    return Chapter("away", _tr("While you are away"), specs=(mood, *days, prefix, writes, agent), after=(TASKS,))


def _voice() -> Chapter:
    words = _tr(
        "The model is offered when you talk with them while another one is loaded. Of the samplers, the one chosen in the"
        " settings is taken if it suits them, else the first that does."
    )
    alone = _tr("Off, they have the tools that the settings give to everybody. Tools are used only while they are on there.")
    override = Spec("override_default_toolset", _tr("Only these tools"), FieldKind.SWITCH, alone)
    return Chapter("voice", _tr("Model and tools"), words, specs=(override,), before=(MODEL, SAMPLERS), after=(TOOLS,))


def title_of(name: str) -> str:
    """What to call a field where it is undone."""
    titles = {AVATAR: _tr("Picture"), WORLDS: _tr("Worlds"), SAMPLERS: _tr("Samplers"), MODEL: _tr("Preferred model")}
    titles[TASKS] = _tr("What they do then")
    titles[TOOLS] = _tr("Tools")
    specs = (spec for chapter in chapters() for spec in chapter.specs)
    return titles.get(name) or next((spec.title for spec in specs if spec.name == name), name)
