"""Form fields of the three kinds of presets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import BaseModel
from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from lethe_app.domain.presets import InstructPreset, SamplerPreset, SystemPreset
from lethe_app.services.events import ModelReady
from lethe_app.services.models.service import ModelService
from lethe_app.services.prompting.turn_context import default_sampler_name, default_system_name, is_small
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec, build_field_spec

FIELDS_BY_CARD: dict[type[BaseModel], dict[str, str]] = {
    SamplerPreset: {
        str(QT_TRANSLATE_NOOP("Preset", "Basic")): "name temperature min_p top_p top_k repetition_penalty",
        str(QT_TRANSLATE_NOOP("Preset", "Repetition")): (
            "repetition_range presence_penalty frequency_penalty"
            " dry_multiplier dry_base dry_allowed_length dry_range dry_breakers"
        ),
        str(QT_TRANSLATE_NOOP("Preset", "Advanced")): (
            "typical_p top_n_sigma xtc_probability xtc_threshold dynatemp_range dynatemp_exponent"
            " mirostat mirostat_tau mirostat_eta seed"
        ),
    },
    InstructPreset: {
        str(QT_TRANSLATE_NOOP("Preset", "Basic")): (
            "name system_start system_end user_start user_end bot_start bot_end stop_strings system_role add_names"
        ),
        str(QT_TRANSLATE_NOOP("Preset", "Thinking")): "thinking_start thinking_end reply_start empty_thinking_when_off",
        str(QT_TRANSLATE_NOOP("Preset", "Advanced")): (
            "bos reply_on_new_line note_start note_end first_user_start last_user_start first_bot_start opening_message"
        ),
    },
    SystemPreset: {
        str(QT_TRANSLATE_NOOP("Preset", "Prompt")): "name prompt",
        str(QT_TRANSLATE_NOOP("Preset", "Section headings")): (
            "world_info_title scenario_title dialogs_title session_history_title core_facts_title inner_thoughts_title"
            " memories_title category_separator sub_category_separator"
        ),
    },
}
"""Title of each card of a form, with the names of its fields."""


def preset_groups(kind: type[BaseModel]) -> list[tuple[str, list[FieldSpec]]]:
    """Return the title and the fields of each card of a form."""
    return [
        (QCoreApplication.translate("Preset", title), [_build_spec(kind, name) for name in names.split()])
        for title, names in FIELDS_BY_CARD[kind].items()
    ]


def _build_spec(kind: type[BaseModel], name: str) -> FieldSpec:
    spec = build_field_spec(kind, name)
    if spec.kind is FieldKind.TAGS:
        return replace(spec, splits_at_commas=False, escapes=True)
    if name == "prompt":
        return replace(spec, kind=FieldKind.TEXT_AREA, lines=6)
    is_token_string = kind is InstructPreset and spec.kind is FieldKind.TEXT and name != "name"
    return replace(spec, kind=FieldKind.ESCAPED_TEXT) if is_token_string else spec


def suited_preset_key(models: ModelService, kind: type[Any]) -> str:
    """Return the key of the preset that suits the loaded model; empty for formats, since most models have a template of
    their own.
    """
    state = models.state
    if not isinstance(state, ModelReady):
        return ""
    small = is_small(state.model)
    if kind is SamplerPreset:
        return default_sampler_name(small=small)
    return default_system_name(small=small) if kind is SystemPreset else ""
