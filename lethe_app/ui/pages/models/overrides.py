"""Form for the settings of a single model; unset fields follow the general settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication

from lethe_app.config.options import ModelChoices
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec

UNSET = -2
"""Value of number fields that means “from settings”."""
NUMBER_FIELDS = ("context", "gpu_layers", "threads")
TAG_FIELDS = ("thinking_start", "thinking_end")
MAX_TAG_LENGTH = 100


def _tr(text: str) -> str:
    return QCoreApplication.translate("Model", text)


def override_specs(formats: Sequence[str]) -> list[FieldSpec]:
    """Return the fields of the form; `formats` are the names of the instruct formats."""
    from_settings = _tr("from settings")
    unset_choice = [(None, from_settings)]
    precisions = [("f16", "f16"), ("q8_0", "q8_0"), ("q4_0", "q4_0")]
    return [
        FieldSpec(
            "context",
            _tr("Context size"),
            FieldKind.INTEGER,
            _tr("Tokens the model can see at once; 0 = the model's own limit, up to 8192."),
            minimum=UNSET,
            maximum=1_048_576,
            step=1024,
            minimum_label=from_settings,
        ),
        FieldSpec(
            "gpu_layers",
            _tr("GPU layers"),
            FieldKind.INTEGER,
            _tr("Layers to offload to the GPU; 0 = CPU only, -1 = all layers."),
            minimum=UNSET,
            maximum=999,
            minimum_label=from_settings,
        ),
        FieldSpec("threads", _tr("CPU threads"), FieldKind.INTEGER, minimum=UNSET, maximum=256, minimum_label=from_settings),
        FieldSpec("kv_type", _tr("KV cache type"), FieldKind.COMBO_BOX, choices=[*unset_choice, *precisions]),
        FieldSpec(
            "flash_attention",
            _tr("Flash attention"),
            FieldKind.COMBO_BOX,
            choices=[*unset_choice, (True, _tr("on")), (False, _tr("off"))],
        ),
        FieldSpec(
            "instruct",
            _tr("Instruct format"),
            FieldKind.COMBO_BOX,
            _tr("Preset that replaces the model's chat template, including its thinking tags."),
            choices=[*unset_choice, ("", _tr("the model's own")), *((name, name) for name in formats)],
        ),
        FieldSpec(
            "thinking_start",
            _tr("Thinking start tag"),
            FieldKind.ESCAPED_TEXT,
            _tr("Tag that opens a block of thinking; set both tags, which take effect with the next reply."),
            placeholder=_tr("from the format"),
        ),
        FieldSpec("thinking_end", _tr("Thinking end tag"), FieldKind.ESCAPED_TEXT, placeholder=_tr("from the format")),
    ]


def form_values(choices: ModelChoices) -> dict[str, Any]:
    """Return the settings of a model as form values."""
    values = choices.model_dump()
    unset = dict.fromkeys(NUMBER_FIELDS, UNSET) | dict.fromkeys(TAG_FIELDS, "")
    return {name: unset.get(name) if value is None else value for name, value in values.items()}


def apply_form_value(choices: ModelChoices, name: str, value: object) -> ModelChoices:
    """Return the settings with one form value applied.

    A negative number is unset, except for `gpu_layers`, where -1 means all layers.
    """
    is_unset = name in NUMBER_FIELDS and isinstance(value, int) and (value == UNSET or (value < 0 and name != "gpu_layers"))
    if name in TAG_FIELDS:
        value = str(value)[:MAX_TAG_LENGTH] or None
    return ModelChoices.model_validate({**choices.model_dump(), name: None if is_unset else value})
