"""The fields of the three kinds of presets, each with a sentence that says what it does to what is written."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from PySide6.QtCore import QCoreApplication

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.services.events import Ready
from lethe_app.services.prompting.assembler import is_small, suited_sampler, suited_system
from lethe_app.ui.pages.settings.fields import bounds
from lethe_app.ui.widgets.fields import FieldKind, Spec

Group = tuple[str, list[Spec]]
"""A title and the fields under it."""


def _tr(words: str) -> str:
    return QCoreApplication.translate("Preset", words)


def _number(name: str, title: str, told: str, off: str = "") -> Spec:
    declared = SamplerPreset.model_fields[name]
    lowest, highest = bounds(declared)
    if declared.annotation is int:
        return Spec(name, title, FieldKind.WHOLE, told, lowest=lowest, highest=highest, special=off)
    return Spec(name, title, FieldKind.NUMBER, told, lowest=lowest, highest=min(highest, 100), step=0.05, special=off)


def _line(name: str, title: str, told: str = "") -> Spec:
    return Spec(name, title, FieldKind.CODE, told)


def _texts(name: str, title: str, told: str) -> Spec:
    return Spec(name, title, FieldKind.WORDS, told, commas=False, escapes=True)


def sampler_groups() -> list[Group]:
    """How the next word is drawn."""
    off, end = _tr("off"), _tr("the whole context")
    return [
        (
            _tr("Everyday"),
            [
                Spec("name", _tr("Name")),
                _number("temperature", _tr("Temperature"), _tr("Higher is bolder; 0 always takes the likeliest word.")),
                _number("min_p", _tr("Min-P"), _tr("Leaves out words less likely than this share of the likeliest one."), off),
                _number("top_p", _tr("Top-P"), _tr("Keeps the likeliest words that together have this share; 1 keeps all.")),
                _number("top_k", _tr("Top-K"), _tr("Keeps so many of the likeliest words."), off),
            ],
        ),
        (
            _tr("Repetition"),
            [
                _number("repetition_penalty", _tr("Repetition penalty"), _tr("Above 1 makes said words less likely.")),
                _number("repetition_range", _tr("Looks back"), _tr("Tokens in which they are looked for; 0 is off."), end),
                _number("presence_penalty", _tr("Presence penalty"), _tr("Taken off once for every word that was said.")),
                _number("frequency_penalty", _tr("Frequency penalty"), _tr("Taken off each time a word was said.")),
                _number("dry_multiplier", _tr("DRY"), _tr("Punishes going on with a phrase that was said before."), off),
                _number("dry_base", _tr("DRY growth"), _tr("How fast that grows with the length of the phrase.")),
                _number("dry_allowed_length", _tr("DRY from"), _tr("Tokens a phrase may have without being punished.")),
                _number("dry_range", _tr("DRY looks back"), _tr("Tokens in which phrases are looked for."), end),
                _texts("dry_breakers", _tr("DRY stops at"), _tr("Texts over which no phrase goes on.")),
            ],
        ),
        (
            _tr("For the curious"),
            [
                _number("typical_p", _tr("Typical-P"), _tr("Keeps words of a usual surprise; 1 keeps all.")),
                _number("top_n_sigma", _tr("Top-n-sigma"), _tr("Keeps words within so many deviations of the best."), off),
                _number("xtc_probability", _tr("XTC chance"), _tr("How often the most expected words are left out."), off),
                _number("xtc_threshold", _tr("XTC from"), _tr("Words as likely as this count as expected.")),
                _number("dynatemp_range", _tr("Temperature swings by"), _tr("Bolder where much is possible."), off),
                _number("dynatemp_exponent", _tr("Swing curve"), _tr("How sharply it swings.")),
                _number("mirostat", _tr("Mirostat"), _tr("1 or 2 steers surprise by itself and replaces the rest."), off),
                _number("mirostat_tau", _tr("Mirostat target"), _tr("The surprise it steers to.")),
                _number("mirostat_eta", _tr("Mirostat rate"), _tr("How fast it learns.")),
                _number("seed", _tr("Seed"), _tr("The same seed draws the same words."), _tr("a new one each time")),
            ],
        ),
    ]


def instruct_groups() -> list[Group]:
    """How a prompt is spelled for a model; a new line is written as \\n."""
    return [
        (
            _tr("Everyday"),
            [
                Spec("name", _tr("Name")),
                _line("system_start", _tr("Before the system prompt")),
                _line("system_end", _tr("After the system prompt")),
                _line("user_start", _tr("Before the user's words")),
                _line("user_end", _tr("After the user's words")),
                _line("bot_start", _tr("Before the persona's words")),
                _line("bot_end", _tr("After the persona's words")),
                _texts("stop_strings", _tr("Stops at"), _tr("Texts that end a reply.")),
                Spec("system_role", _tr("Knows a system role"), FieldKind.SWITCH, _tr("Else it heads the first user message.")),
                Spec("add_names", _tr("Names before messages"), FieldKind.SWITCH, _tr("Puts “Name: ” before everything said.")),
            ],
        ),
        (
            _tr("Thinking"),
            [
                _line("thinking_start", _tr("A thought begins with")),
                _line("thinking_end", _tr("A thought ends with")),
                _line("reply_start", _tr("Before a reply that may think"), _tr("Where it differs from a past one's.")),
                Spec(
                    "empty_thinking_when_off",
                    _tr("Empty thought when off"),
                    FieldKind.SWITCH,
                    _tr("For models that think unless a thought is there already."),
                ),
            ],
        ),
        (_tr("For the curious"), [_line("bos", _tr("Before everything"), _tr("Empty where the tokenizer adds it itself."))]),
    ]


def system_groups() -> list[Group]:
    """What a persona is introduced with."""
    told = _tr("Empty leaves this part out.")
    return [
        (
            _tr("The words"),
            [
                Spec("name", _tr("Name")),
                Spec("prompt", _tr("System prompt"), FieldKind.PROSE, _tr("{{char}} and {{user}} become names."), lines=6),
            ],
        ),
        (
            _tr("Titles of its parts"),
            [
                Spec("world_info_title", _tr("Worlds"), help=told),
                Spec("scenario_title", _tr("Scenario"), help=told),
                Spec("dialogs_title", _tr("Style and examples"), help=told),
                Spec("session_history_title", _tr("Earlier conversations"), help=told),
                Spec("core_facts_title", _tr("Facts"), help=told),
                Spec("inner_thoughts_title", _tr("Thoughts"), help=told),
                Spec("memories_title", _tr("What is remembered now")),
                Spec("category_separator", _tr("Sign of a title")),
                Spec("sub_category_separator", _tr("Sign of a title below it")),
            ],
        ),
    ]


GROUPS: dict[type[BaseModel], Any] = {
    SamplerPreset: sampler_groups,
    InstructPreset: instruct_groups,
    SystemPreset: system_groups,
}


def suited(services: AppServices, kind: type[Any]) -> str:
    """The key of the one that suits the model that is loaded; empty for formats, since most models bring their own."""
    state = services.models.state
    if not isinstance(state, Ready):
        return ""
    small = is_small(state.model)
    if kind is SamplerPreset:
        return suited_sampler(small=small)
    return suited_system(small=small) if kind is SystemPreset else ""
