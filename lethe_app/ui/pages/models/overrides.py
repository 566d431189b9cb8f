"""What can be chosen for one model alone, as a form; what is left alone follows the settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication

from lethe_app.config.options import ModelChoices
from lethe_app.ui.widgets.fields import FieldKind, Spec

UNSET = -2
"""Stands in number fields for “as in the settings”."""
NUMBERS = ("context", "gpu_layers", "threads")
TAGS = ("thinking_start", "thinking_end")
LONGEST_TAG = 100


def _tr(words: str) -> str:
    return QCoreApplication.translate("Model", words)


def choice_specs(formats: Sequence[str]) -> list[Spec]:
    """The fields; `formats` are the names of instruct formats."""
    same = _tr("as in the settings")
    own = [(None, same)]
    precisions = [("f16", "f16"), ("q8_0", "q8_0"), ("q4_0", "q4_0")]
    return [
        Spec(
            "context",
            _tr("Context"),
            FieldKind.WHOLE,
            _tr("Tokens it sees at once; 0 takes its own length up to 8192."),
            lowest=UNSET,
            highest=1_048_576,
            step=1024,
            special=same,
        ),
        Spec(
            "gpu_layers",
            _tr("Layers on the graphics card"),
            FieldKind.WHOLE,
            _tr("-1 puts everything there."),
            lowest=UNSET,
            highest=999,
            special=same,
        ),
        Spec("threads", _tr("Threads"), FieldKind.WHOLE, lowest=UNSET, highest=256, special=same),
        Spec("kv_type", _tr("Cache precision"), FieldKind.CHOICE, choices=[*own, *precisions]),
        Spec(
            "flash_attention", _tr("Flash attention"), FieldKind.CHOICE, choices=[*own, (True, _tr("on")), (False, _tr("off"))]
        ),
        Spec(
            "instruct",
            _tr("Instruct format"),
            FieldKind.CHOICE,
            _tr("Also says how its thoughts begin and end."),
            choices=[*own, ("", _tr("the model's own")), *((name, name) for name in formats)],
        ),
        Spec(
            "thinking_start",
            _tr("A thought begins with"),
            FieldKind.CODE,
            _tr("Where its thoughts stand among its words; both marks together, from the next reply on."),
            placeholder=_tr("as its format says"),
        ),
        Spec("thinking_end", _tr("A thought ends with"), FieldKind.CODE, placeholder=_tr("as its format says")),
    ]


def shown(choices: ModelChoices) -> dict[str, Any]:
    """As the form shows them."""
    values = choices.model_dump()
    unset = dict.fromkeys(NUMBERS, UNSET) | dict.fromkeys(TAGS, "")
    return {name: unset.get(name) if value is None else value for name, value in values.items()}


def chosen(choices: ModelChoices, name: str, value: object) -> ModelChoices:
    """With what the user has set; -1 means something for layers only."""
    unset = name in NUMBERS and isinstance(value, int) and (value == UNSET or (value < 0 and name != "gpu_layers"))
    if name in TAGS:
        value = str(value)[:LONGEST_TAG] or None
    return ModelChoices.model_validate({**choices.model_dump(), name: None if unset else value})
