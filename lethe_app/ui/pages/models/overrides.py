"""Form for the settings of a single model; unset fields follow the general settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication

from lethe_app.config.options import ModelChoices
from lethe_app.ui.widgets.fields import FieldKind, Spec

UNSET = -2
"""Value of number fields that means “from settings”."""
NUMBERS = ("context", "gpu_layers", "threads")
TAGS = ("thinking_start", "thinking_end")
LONGEST_TAG = 100


def _tr(words: str) -> str:
    return QCoreApplication.translate("Model", words)


def choice_specs(formats: Sequence[str]) -> list[Spec]:
    """Return the fields of the form; `formats` are the names of the instruct formats."""
    same = _tr("from settings")
    own = [(None, same)]
    precisions = [("f16", "f16"), ("q8_0", "q8_0"), ("q4_0", "q4_0")]
    return [
        Spec(
            "context",
            _tr("Context size"),
            FieldKind.WHOLE,
            _tr("Tokens the model can see at once; 0 = the model's own limit, up to 8192."),
            lowest=UNSET,
            highest=1_048_576,
            step=1024,
            special=same,
        ),
        Spec(
            "gpu_layers",
            _tr("GPU layers"),
            FieldKind.WHOLE,
            _tr("Layers to offload to the GPU; 0 = CPU only, -1 = all layers."),
            lowest=UNSET,
            highest=999,
            special=same,
        ),
        Spec("threads", _tr("CPU threads"), FieldKind.WHOLE, lowest=UNSET, highest=256, special=same),
        Spec("kv_type", _tr("KV cache type"), FieldKind.CHOICE, choices=[*own, *precisions]),
        Spec(
            "flash_attention", _tr("Flash attention"), FieldKind.CHOICE, choices=[*own, (True, _tr("on")), (False, _tr("off"))]
        ),
        Spec(
            "instruct",
            _tr("Instruct format"),
            FieldKind.CHOICE,
            _tr("Preset that replaces the model's chat template, including its thinking tags."),
            choices=[*own, ("", _tr("the model's own")), *((name, name) for name in formats)],
        ),
        Spec(
            "thinking_start",
            _tr("Thinking start tag"),
            FieldKind.CODE,
            _tr("Tag that opens a block of thinking; set both tags, which take effect with the next reply."),
            placeholder=_tr("from the format"),
        ),
        Spec("thinking_end", _tr("Thinking end tag"), FieldKind.CODE, placeholder=_tr("from the format")),
    ]


def shown(choices: ModelChoices) -> dict[str, Any]:
    """Return the settings of a model as form values."""
    values = choices.model_dump()
    unset = dict.fromkeys(NUMBERS, UNSET) | dict.fromkeys(TAGS, "")
    return {name: unset.get(name) if value is None else value for name, value in values.items()}


def chosen(choices: ModelChoices, name: str, value: object) -> ModelChoices:
    """Return the settings with one form value applied.

    A negative number is unset, except for `gpu_layers`, where -1 means all layers.
    """
    unset = name in NUMBERS and isinstance(value, int) and (value == UNSET or (value < 0 and name != "gpu_layers"))
    if name in TAGS:
        value = str(value)[:LONGEST_TAG] or None
    return ModelChoices.model_validate({**choices.model_dump(), name: None if unset else value})
