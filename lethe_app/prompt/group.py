"""System prompt shared by all personas of a group, so that a change of speaker does not invalidate the KV cache.

It introduces all personas in a fixed order and does not say who speaks: that is said at the end of the prompt, behind
everything that stays the same, and by the name that opens the reply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SystemPreset
from lethe_app.prompt.macros import MacroContext, expand
from lethe_app.prompt.sections import Compiled, Extras, compile_system

SPEAKS = "{{char}} speaks now, and nobody else."
"""Line that names the next speaker. It is short, because it is evaluated every turn."""
_OWN = ("charbio", "examples", "selfedit")
"""Macro texts that belong to one participant and must not be taken from the speaker's context."""


def compile_group(
    preset: SystemPreset, members: Sequence[Persona], user: Persona | None, scene: MacroContext, extras: Extras
) -> Compiled:
    """Compile the system prompt, which is the same whoever speaks. System prompt and scenario are the first persona's,
    unless the scene overrides the scenario.
    """
    first, names = members[0], in_a_row([member.name for member in members])
    lines = [f"{member.name}: {line}" for member in members for line in member.example_dialogs if line.strip()]
    everyone = first.model_copy(
        update={
            "name": names,
            "bio": "\n\n".join(_introduced(preset, member, scene) for member in members),
            "example_dialogs": lines,
            "self_edit_field": "",
        }
    )
    texts = {name: names if name == "group" else text for name, text in scene.texts.items() if name not in _OWN}
    return compile_system(preset, everyone, user, replace(scene, char=names, texts=texts), extras)


def in_a_row(names: Sequence[str]) -> str:
    """Return the names as a list in words: `Ada, Bo and Cleo`."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _introduced(preset: SystemPreset, member: Persona, scene: MacroContext) -> str:
    """Return a persona's name and bio; its macros refer to that persona."""
    own = replace(scene, char=member.name, texts={**scene.texts, **dict.fromkeys(_OWN, "")})
    text = expand(member.mini_bio.strip() or member.bio, own).strip()
    return f"{preset.sub_category_separator} {member.name}\n{text}".strip()
