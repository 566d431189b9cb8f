"""Form for the settings of a single model; unset fields follow the general settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QCoreApplication

from lethe_app.config.options import ModelChoices
from lethe_app.ui.widgets.fields import FieldKind, FieldSpec, build_field_spec


def _tr(text: str) -> str:
    return QCoreApplication.translate("Model", text)


def override_specs(formats: Sequence[str]) -> list[FieldSpec]:
    """Return the fields of the form; `formats` are the names of the instruct formats."""
    choices: dict[str, list[tuple[Any, str]]] = {
        "kv_type": [("f16", "f16"), ("q8_0", "q8_0"), ("q4_0", "q4_0")],
        "flash_attention": [(True, _tr("on")), (False, _tr("off"))],
        "instruct": [("", _tr("the model's own")), *((name, name) for name in formats)],
    }
    unset_choice = (None, _tr("from settings"))
    specs = [
        build_field_spec(ModelChoices, name, [unset_choice, *choices[name]] if name in choices else ())
        for name in ModelChoices.model_fields
    ]
    specs = [replace(spec, kind=FieldKind.ESCAPED_TEXT) if spec.kind is FieldKind.TEXT else spec for spec in specs]
    return [replace(spec, step=1024) if spec.name == "context" else spec for spec in specs]
