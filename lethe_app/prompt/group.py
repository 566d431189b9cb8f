"""System prompt shared by all personas of a group, so that a change of speaker does not invalidate the KV cache.

It introduces all personas in a fixed order and does not say who speaks: that is said at the end of the prompt, after
everything that stays the same, and by the name that opens the reply.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SystemPreset
from lethe_app.prompt.macros import MacroContext, expand
from lethe_app.prompt.sections import CompiledSystemPrompt, StableAdditions, compile_system
from lethe_app.prompt.speaker_labels import label_of

SPEAKER_LINE = "{{char}} speaks now, and nobody else."
"""Line that names the next speaker. It is short, because it is evaluated every turn."""
_PLURALS = {"is": "are", "was": "were", "has": "have", "does": "do"}
_SINGULAR = re.compile(rf"(\{{\{{char\}}\}}) ({'|'.join(_PLURALS)})\b")
_PERSONAL_MACROS = ("charbio", "examples", "selfedit")
"""Macro texts that belong to one participant and must not be taken from the speaker's context."""


def compile_group(
    preset: SystemPreset, members: Sequence[Persona], user: Persona | None, macro_context: MacroContext, extras: StableAdditions
) -> CompiledSystemPrompt:
    """Compile the system prompt, which is the same whoever speaks. System prompt and scenario are the first persona's,
    unless the macro context overrides the scenario.
    """
    group = (*members, user) if user else members
    labels = [label_of(member, group) for member in members]
    first, names = members[0], join_names(labels)
    lines = [
        f"{label}: {line}"
        for member, label in zip(members, labels, strict=True)
        for line in member.example_dialogs
        if line.strip()
    ]
    preset = preset.model_copy(update={"prompt": _use_plural(preset.prompt)})
    combined = first.model_copy(
        update={
            "name": names,
            "system_prompt": _use_plural(first.system_prompt),
            "scenario": _use_plural(first.scenario),
            "example_dialogs": lines,
            "self_edit_field": "",
        }
    )
    texts = {name: text for name, text in macro_context.texts.items() if name not in _PERSONAL_MACROS}
    introductions = "\n\n".join(
        _introduce(preset, member, replace(macro_context, char=label)) for member, label in zip(members, labels, strict=True)
    )
    values = {**macro_context.values, "group": names, "charbio": introductions}
    return compile_system(preset, combined, user, replace(macro_context, char=names, texts=texts, values=values), extras)


def _use_plural(text: str) -> str:
    """Return a text in which the auxiliary verb after {{char}} agrees with several names: “Ada and Bo are talking”."""
    return _SINGULAR.sub(lambda match: f"{match[1]} {_PLURALS[match[2]]}", text)


def join_names(names: Sequence[str]) -> str:
    """Return the names as a list in words: `Ada, Bo and Cleo`."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _introduce(preset: SystemPreset, member: Persona, macro_context: MacroContext) -> str:
    """Return the label and bio of the persona to which the macros refer."""
    member_context = replace(macro_context, texts={**macro_context.texts, **dict.fromkeys(_PERSONAL_MACROS, "")})
    text = expand(member.mini_bio.strip() or member.description, member_context).strip()
    return f"{preset.sub_category_separator} {macro_context.char}\n{text}".strip()
