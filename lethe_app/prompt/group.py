"""A system prompt that several personas share, so that the model need not read everything again whenever another one speaks.

It introduces all of them in an order that stays and does not say who speaks: that is said at the end of the prompt, behind all
that stays the same, and by the name with which the reply is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SystemPreset
from lethe_app.prompt.macros import MacroContext, expand
from lethe_app.prompt.sections import Compiled, Extras, compile_system

SPEAKS = "{{char}} speaks now, and nobody else."
"""The line that names the next one; as short as can be, for it is read every turn."""
_OWN = ("charbio", "examples", "selfedit")
"""Texts that one member's scene may hold and the others' do not."""


def compile_group(
    preset: SystemPreset, members: Sequence[Persona], user: Persona | None, scene: MacroContext, extras: Extras
) -> Compiled:
    """The same for every member who speaks. Rules and scenario are the first one's, unless the scene tells another."""
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
    """`Ada, Bo and Cleo`."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _introduced(preset: SystemPreset, member: Persona, scene: MacroContext) -> str:
    """A member under their name; the macros in what is said of them mean them."""
    own = replace(scene, char=member.name, texts={**scene.texts, **dict.fromkeys(_OWN, "")})
    text = expand(member.mini_bio.strip() or member.bio, own).strip()
    return f"{preset.sub_category_separator} {member.name}\n{text}".strip()
