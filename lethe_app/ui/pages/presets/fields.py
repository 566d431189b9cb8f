"""Form fields of the three kinds of presets, with help texts."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from PySide6.QtCore import QCoreApplication

from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.services.events import ModelReady
from lethe_app.services.models.service import ModelService
from lethe_app.services.prompting.turn_context import is_small, suited_sampler, suited_system
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec, value_bounds

FieldGroup = tuple[str, list[FieldSpec]]
"""Title of a card, and its fields."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Preset", text)


def _number_spec(name: str, title: str, help_text: str, special_text: str = "") -> FieldSpec:
    field_info = SamplerPreset.model_fields[name]
    lowest, highest = value_bounds(field_info)
    if field_info.annotation is int:
        return FieldSpec(name, title, FieldKind.INTEGER, help_text, minimum=lowest, maximum=highest, minimum_label=special_text)
    return FieldSpec(
        name,
        title,
        FieldKind.FLOAT,
        help_text,
        minimum=lowest,
        maximum=min(highest, 100),
        step=0.05,
        minimum_label=special_text,
    )


def _line_spec(name: str, title: str, help_text: str = "") -> FieldSpec:
    return FieldSpec(name, title, FieldKind.ESCAPED_TEXT, help_text)


def _texts_spec(name: str, title: str, help_text: str) -> FieldSpec:
    return FieldSpec(name, title, FieldKind.TAGS, help_text, splits_at_commas=False, escapes=True)


def sampler_groups() -> list[FieldGroup]:
    """Return the fields of a sampler preset."""
    return [
        (_tr("Basic"), _basic_sampler_specs()),
        (_tr("Repetition"), _repetition_specs()),
        (_tr("Advanced"), _advanced_sampler_specs()),
    ]


def _basic_sampler_specs() -> list[FieldSpec]:
    off = _tr("off")
    return [
        FieldSpec("name", _tr("Name")),
        _number_spec("temperature", _tr("Temperature"), _tr("Randomness of the output; 0 always picks the top token.")),
        _number_spec("min_p", _tr("Min-P"), _tr("Minimum probability of a token, relative to the most likely one."), off),
        _number_spec("top_p", _tr("Top-P"), _tr("Keep the most likely tokens up to this total probability; 1 = off.")),
        _number_spec("top_k", _tr("Top-K"), _tr("Keep only this many of the most likely tokens."), off),
    ]


def _repetition_specs() -> list[FieldSpec]:
    off, whole_context = _tr("off"), _tr("whole context")
    return [
        _number_spec("repetition_penalty", _tr("Repetition penalty"), _tr("Penalty for tokens used before; 1 = off.")),
        _number_spec(
            "repetition_range",
            _tr("Repetition range"),
            _tr("Number of recent tokens to check; 0 = off."),
            whole_context,
        ),
        _number_spec("presence_penalty", _tr("Presence penalty"), _tr("Penalty applied once to every token used before.")),
        _number_spec("frequency_penalty", _tr("Frequency penalty"), _tr("Penalty applied for every use of a token.")),
        _number_spec("dry_multiplier", _tr("DRY multiplier"), _tr("Strength of the penalty for repeated phrases."), off),
        _number_spec("dry_base", _tr("DRY base"), _tr("Growth of the penalty with the length of the phrase.")),
        _number_spec("dry_allowed_length", _tr("DRY allowed length"), _tr("Phrase length in tokens without a penalty.")),
        _number_spec(
            "dry_range", _tr("DRY range"), _tr("Number of recent tokens to check for repeated phrases."), whole_context
        ),
        _texts_spec("dry_breakers", _tr("DRY sequence breakers"), _tr("Strings at which a repeated phrase ends.")),
    ]


def _advanced_sampler_specs() -> list[FieldSpec]:
    off = _tr("off")
    return [
        _number_spec("typical_p", _tr("Typical-P"), _tr("Keep tokens of typical information content; 1 = off.")),
        _number_spec("top_n_sigma", _tr("Top-n-sigma"), _tr("Keep tokens within this many deviations of the best."), off),
        _number_spec("xtc_probability", _tr("XTC probability"), _tr("Chance that the most likely tokens are removed."), off),
        _number_spec("xtc_threshold", _tr("XTC threshold"), _tr("Minimum probability of the tokens that may be removed.")),
        _number_spec(
            "dynatemp_range", _tr("Dynamic temperature range"), _tr("Variation of temperature with uncertainty."), off
        ),
        _number_spec("dynatemp_exponent", _tr("Dynamic temperature exponent"), _tr("Steepness of that variation.")),
        _number_spec("mirostat", _tr("Mirostat"), _tr("Version 1 or 2; replaces all samplers but temperature."), off),
        _number_spec("mirostat_tau", _tr("Mirostat tau"), _tr("Target surprise of the output.")),
        _number_spec("mirostat_eta", _tr("Mirostat eta"), _tr("Learning rate of Mirostat.")),
        _number_spec("seed", _tr("Seed"), _tr("Number that makes results reproducible."), _tr("random")),
    ]


def instruct_groups() -> list[FieldGroup]:
    r"""Return the fields of an instruct format; in them a line break is written as \n."""
    return [
        (
            _tr("Basic"),
            [
                FieldSpec("name", _tr("Name")),
                _line_spec("system_start", _tr("System prefix")),
                _line_spec("system_end", _tr("System suffix")),
                _line_spec("user_start", _tr("User prefix")),
                _line_spec("user_end", _tr("User suffix")),
                _line_spec("bot_start", _tr("Assistant prefix")),
                _line_spec("bot_end", _tr("Assistant suffix")),
                _texts_spec("stop_strings", _tr("Stop strings"), _tr("Strings that end a reply.")),
                FieldSpec(
                    "system_role",
                    _tr("Supports system role"),
                    FieldKind.CHECKBOX,
                    _tr("Send the system prompt in its own role instead of in the first user message."),
                ),
                FieldSpec("add_names", _tr("Include names"), FieldKind.CHECKBOX, _tr("Add “Name: ” before every message.")),
            ],
        ),
        (
            _tr("Thinking"),
            [
                _line_spec("thinking_start", _tr("Thinking start tag")),
                _line_spec("thinking_end", _tr("Thinking end tag")),
                _line_spec(
                    "reply_start",
                    _tr("Assistant prefix when thinking"),
                    _tr("Prefix of a new reply with thinking, if it differs from the prefix of past replies."),
                ),
                FieldSpec(
                    "empty_thinking_when_off",
                    _tr("Empty thinking when off"),
                    FieldKind.CHECKBOX,
                    _tr("Add an empty thinking block for models that would think anyway."),
                ),
            ],
        ),
        (
            _tr("Advanced"),
            [
                _line_spec(
                    "bos", _tr("BOS token"), _tr("Text at the beginning of the prompt; leave empty if the tokenizer adds it.")
                )
            ],
        ),
    ]


def system_groups() -> list[FieldGroup]:
    """Return the fields of a system prompt preset."""
    help_text = _tr("Leave empty to omit this section from the prompt.")
    return [
        (
            _tr("Prompt"),
            [
                FieldSpec("name", _tr("Name")),
                FieldSpec(
                    "prompt",
                    _tr("System prompt"),
                    FieldKind.TEXT_AREA,
                    _tr("Text with macros: {{char}} and {{user}} are replaced by names."),
                    lines=6,
                ),
            ],
        ),
        (
            _tr("Section headings"),
            [
                FieldSpec("world_info_title", _tr("World entries"), help=help_text),
                FieldSpec("scenario_title", _tr("Scenario"), help=help_text),
                FieldSpec("dialogs_title", _tr("Style and examples"), help=help_text),
                FieldSpec("session_history_title", _tr("Earlier conversations"), help=help_text),
                FieldSpec("core_facts_title", _tr("Facts"), help=help_text),
                FieldSpec("inner_thoughts_title", _tr("Personal thoughts"), help=help_text),
                FieldSpec("memories_title", _tr("Recalled memories")),
                FieldSpec("category_separator", _tr("Heading marker")),
                FieldSpec("sub_category_separator", _tr("Subheading marker")),
            ],
        ),
    ]


GROUP_BUILDERS: dict[type[BaseModel], Any] = {
    SamplerPreset: sampler_groups,
    InstructPreset: instruct_groups,
    SystemPreset: system_groups,
}


def suited_preset_key(models: ModelService, kind: type[Any]) -> str:
    """Return the key of the preset that suits the loaded model; empty for formats, since most models have a template of
    their own.
    """
    state = models.state
    if not isinstance(state, ModelReady):
        return ""
    small = is_small(state.model)
    if kind is SamplerPreset:
        return suited_sampler(small=small)
    return suited_system(small=small) if kind is SystemPreset else ""
