"""Form fields of the three kinds of presets, with help texts."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from PySide6.QtCore import QCoreApplication

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.services.events import Ready
from lethe_app.services.prompting.turn_context import is_small, suited_sampler, suited_system
from lethe_app.ui.pages.settings.fields import bounds
from lethe_app.ui.widgets.fields import FieldKind, Spec

Group = tuple[str, list[Spec]]
"""Title of a card, and its fields."""


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
    """Return the fields of a sampler preset."""
    off, end = _tr("off"), _tr("whole context")
    return [
        (
            _tr("Basic"),
            [
                Spec("name", _tr("Name")),
                _number("temperature", _tr("Temperature"), _tr("Randomness of the output; 0 always picks the top token.")),
                _number("min_p", _tr("Min-P"), _tr("Minimum probability of a token, relative to the most likely one."), off),
                _number("top_p", _tr("Top-P"), _tr("Keep the most likely tokens up to this total probability; 1 = off.")),
                _number("top_k", _tr("Top-K"), _tr("Keep only this many of the most likely tokens."), off),
            ],
        ),
        (
            _tr("Repetition"),
            [
                _number("repetition_penalty", _tr("Repetition penalty"), _tr("Penalty for tokens used before; 1 = off.")),
                _number("repetition_range", _tr("Repetition range"), _tr("Number of recent tokens to check; 0 = off."), end),
                _number("presence_penalty", _tr("Presence penalty"), _tr("Penalty applied once to every token used before.")),
                _number("frequency_penalty", _tr("Frequency penalty"), _tr("Penalty applied for every use of a token.")),
                _number("dry_multiplier", _tr("DRY multiplier"), _tr("Strength of the penalty for repeated phrases."), off),
                _number("dry_base", _tr("DRY base"), _tr("Growth of the penalty with the length of the phrase.")),
                _number("dry_allowed_length", _tr("DRY allowed length"), _tr("Phrase length in tokens without a penalty.")),
                _number("dry_range", _tr("DRY range"), _tr("Number of recent tokens to check for repeated phrases."), end),
                _texts("dry_breakers", _tr("DRY sequence breakers"), _tr("Strings at which a repeated phrase ends.")),
            ],
        ),
        (
            _tr("Advanced"),
            [
                _number("typical_p", _tr("Typical-P"), _tr("Keep tokens of typical information content; 1 = off.")),
                _number("top_n_sigma", _tr("Top-n-sigma"), _tr("Keep tokens within this many deviations of the best."), off),
                _number("xtc_probability", _tr("XTC probability"), _tr("Chance that the most likely tokens are removed."), off),
                _number("xtc_threshold", _tr("XTC threshold"), _tr("Minimum probability of the tokens that may be removed.")),
                _number(
                    "dynatemp_range", _tr("Dynamic temperature range"), _tr("Variation of temperature with uncertainty."), off
                ),
                _number("dynatemp_exponent", _tr("Dynamic temperature exponent"), _tr("Steepness of that variation.")),
                _number("mirostat", _tr("Mirostat"), _tr("Version 1 or 2; replaces all samplers but temperature."), off),
                _number("mirostat_tau", _tr("Mirostat tau"), _tr("Target surprise of the output.")),
                _number("mirostat_eta", _tr("Mirostat eta"), _tr("Learning rate of Mirostat.")),
                _number("seed", _tr("Seed"), _tr("Number that makes results reproducible."), _tr("random")),
            ],
        ),
    ]


def instruct_groups() -> list[Group]:
    r"""Return the fields of an instruct format; in them a line break is written as \n."""
    return [
        (
            _tr("Basic"),
            [
                Spec("name", _tr("Name")),
                _line("system_start", _tr("System prefix")),
                _line("system_end", _tr("System suffix")),
                _line("user_start", _tr("User prefix")),
                _line("user_end", _tr("User suffix")),
                _line("bot_start", _tr("Assistant prefix")),
                _line("bot_end", _tr("Assistant suffix")),
                _texts("stop_strings", _tr("Stop strings"), _tr("Strings that end a reply.")),
                Spec(
                    "system_role",
                    _tr("Supports system role"),
                    FieldKind.SWITCH,
                    _tr("Send the system prompt in its own role instead of in the first user message."),
                ),
                Spec("add_names", _tr("Include names"), FieldKind.SWITCH, _tr("Add “Name: ” before every message.")),
            ],
        ),
        (
            _tr("Thinking"),
            [
                _line("thinking_start", _tr("Thinking start tag")),
                _line("thinking_end", _tr("Thinking end tag")),
                _line(
                    "reply_start",
                    _tr("Assistant prefix when thinking"),
                    _tr("Prefix of a new reply with thinking, if it differs from the prefix of past replies."),
                ),
                Spec(
                    "empty_thinking_when_off",
                    _tr("Empty thinking when off"),
                    FieldKind.SWITCH,
                    _tr("Add an empty thinking block for models that would think anyway."),
                ),
            ],
        ),
        (
            _tr("Advanced"),
            [_line("bos", _tr("BOS token"), _tr("Text at the beginning of the prompt; leave empty if the tokenizer adds it."))],
        ),
    ]


def system_groups() -> list[Group]:
    """Return the fields of a system prompt preset."""
    told = _tr("Leave empty to omit this section from the prompt.")
    return [
        (
            _tr("Prompt"),
            [
                Spec("name", _tr("Name")),
                Spec(
                    "prompt",
                    _tr("System prompt"),
                    FieldKind.PROSE,
                    _tr("Text with macros: {{char}} and {{user}} are replaced by names."),
                    lines=6,
                ),
            ],
        ),
        (
            _tr("Section headings"),
            [
                Spec("world_info_title", _tr("World entries"), help=told),
                Spec("scenario_title", _tr("Scenario"), help=told),
                Spec("dialogs_title", _tr("Style and examples"), help=told),
                Spec("session_history_title", _tr("Earlier conversations"), help=told),
                Spec("core_facts_title", _tr("Facts"), help=told),
                Spec("inner_thoughts_title", _tr("Personal thoughts"), help=told),
                Spec("memories_title", _tr("Recalled memories")),
                Spec("category_separator", _tr("Heading marker")),
                Spec("sub_category_separator", _tr("Subheading marker")),
            ],
        ),
    ]


GROUPS: dict[type[BaseModel], Any] = {
    SamplerPreset: sampler_groups,
    InstructPreset: instruct_groups,
    SystemPreset: system_groups,
}


def suited(services: AppServices, kind: type[Any]) -> str:
    """Return the key of the preset that suits the loaded model; empty for formats, since most models have a template of
    their own.
    """
    state = services.models.state
    if not isinstance(state, Ready):
        return ""
    small = is_small(state.model)
    if kind is SamplerPreset:
        return suited_sampler(small=small)
    return suited_system(small=small) if kind is SystemPreset else ""
