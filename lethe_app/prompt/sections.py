"""Compiles the system prompt: the stable text at the head of every prompt, in sections that know which part they are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SystemPreset
from lethe_app.domain.prompt import PromptPart, PromptSpan
from lethe_app.prompt.macros import MacroContext, expand
from lethe_app.prompt.spans import cut_out

_BODIES = {
    "charbio": PromptPart.PERSONA,
    "userbio": PromptPart.USER,
    "scenario": PromptPart.SCENARIO,
    "examples": PromptPart.STYLE,
    "selfedit": PromptPart.THOUGHTS,
}
"""Macros whose texts are parts of their own, wherever the prompt puts them."""
_BODY = re.compile(r"\{\{\s*(charbio|userbio|scenario|examples|selfedit|description|persona|mesexamples)\s*\}\}", re.IGNORECASE)
_OTHER_NAMES = {"description": "charbio", "persona": "userbio", "mesexamples": "examples"}


@dataclass(frozen=True)
class Extras:
    """What the session's memory adds to the stable part. Within each, the most important comes first."""

    world: Sequence[str] = ()
    """World entries that are always there."""
    summaries: Sequence[str] = ()
    """Previous sessions, newest first; they are written oldest first."""
    facts: Sequence[str] = ()
    tools: str = ""
    """How tools are used, where there are any."""


@dataclass(frozen=True)
class PromptSection:
    """A stretch of the system prompt that belongs to one part. Its title stands only above items that are there."""

    part: PromptPart
    text: str = ""
    """Text that is never shortened."""
    title: str = ""
    items: tuple[str, ...] = ()
    """Pieces that may be left out one by one, the least important last."""
    bullets: bool = False
    newest_first: bool = False
    """Items are given newest first and written oldest first."""

    def spell(self, kept: Sequence[int]) -> str:
        """The section with only the items at these places."""
        texts = [self.items[place] for place in sorted(kept, reverse=self.newest_first)]
        if not texts:
            return self.text
        body = "\n".join(f"- {text}" for text in texts) if self.bullets else "\n\n".join(texts)
        return "\n".join(piece for piece in (self.title, body) if piece)


@dataclass(frozen=True)
class Compiled:
    """The system prompt, ready to be spelled with more or fewer items. The first sections are one running text."""

    running: tuple[PromptSection, ...]
    titled: tuple[PromptSection, ...]

    def spell(self, kept: Mapping[PromptPart, Sequence[int]]) -> str:
        """The whole text."""
        return "".join(span.text for span in self.spans(kept))

    def spans(self, kept: Mapping[PromptPart, Sequence[int]]) -> list[PromptSpan]:
        """The text in stretches, each with its part; a gap belongs to what follows it."""
        running = [PromptSpan(section.part, section.text) for section in self.running]
        text = "".join(span.text for span in running)
        spans = cut_out(running, len(text) - len(text.lstrip()), len(text.rstrip()))
        for section in self.titled:
            spelled = section.spell(kept.get(section.part, ()))
            if spelled.strip():
                spans.append(PromptSpan(section.part, f"\n\n{spelled}" if spans else spelled))
        return spans


def compile_system(
    preset: SystemPreset, persona: Persona, user: Persona | None, scene: MacroContext, extras: Extras
) -> Compiled:
    """`scene` gives names, moment and, in its texts, the session's own scenario where there is one.

    A persona's own system prompt replaces the preset's and may name it as {{original}}. A bio that the prompt does not name is
    put behind it, so that nothing written about either side is lost.
    """
    scene = with_texts(scene, preset, persona, user)
    prompt = persona.system_prompt or preset.prompt
    if persona.system_prompt:
        prompt = re.sub(r"\{\{\s*original\s*\}\}", lambda _: preset.prompt, prompt, flags=re.IGNORECASE)
    named = {_OTHER_NAMES.get(name.lower(), name.lower()) for name in _BODY.findall(prompt)}
    running = _running(prompt, scene)
    unnamed = [name for name in ("charbio", "userbio") if name not in named]
    bios = [PromptSection(_BODIES[name], text) for name in unnamed if (text := _full(name, scene))]
    tools = [PromptSection(PromptPart.SYSTEM, text)] if (text := expand(extras.tools, scene).strip()) else []
    return Compiled(tuple(running), (*bios, *tools, *_titled(preset, persona, scene, extras, named)))


def with_texts(scene: MacroContext, preset: SystemPreset, persona: Persona, user: Persona | None) -> MacroContext:
    """The scene with the long texts that macros may name."""
    texts = {
        "charbio": persona.bio,
        "userbio": user.bio if user else "",
        "scenario": persona.scenario,
        "examples": "\n".join(f"- {line}" for line in persona.example_dialogs if line.strip()),
        "selfedit": persona.self_edit_field,
        "original": preset.prompt,
    }
    return replace(scene, texts=texts | {name: text for name, text in scene.texts.items() if text.strip()})


def _running(prompt: str, scene: MacroContext) -> list[PromptSection]:
    """The prompt cut where a macro brings in the text of another part, each piece filled in by itself."""
    sections: list[PromptSection] = []
    end = 0
    for match in _BODY.finditer(prompt):
        name = match[1].lower()
        name = _OTHER_NAMES.get(name, name)
        sections.append(PromptSection(PromptPart.SYSTEM, expand(prompt[end : match.start()], scene)))
        sections.append(PromptSection(_BODIES[name], _full(name, scene)))
        end = match.end()
    sections.append(PromptSection(PromptPart.SYSTEM, expand(prompt[end:], scene)))
    return [section for section in sections if section.text]


def _full(name: str, scene: MacroContext) -> str:
    return expand(f"{{{{{name}}}}}", scene).strip()


def _titled(
    preset: SystemPreset, persona: Persona, scene: MacroContext, extras: Extras, named: set[str]
) -> list[PromptSection]:
    def section(
        part: PromptPart, title: str, items: Sequence[str], *, bullets: bool = False, fixed: bool = False
    ) -> PromptSection | None:
        texts = tuple(text for item in items if (text := expand(item, scene).strip()))
        if not title or not texts:
            return None
        heading = f"{preset.category_separator} {expand(title, scene)}".strip()
        if fixed:
            return PromptSection(part, text=f"{heading}\n{texts[0]}")
        return PromptSection(part, "", heading, texts, bullets=bullets, newest_first=part is PromptPart.SUMMARIES)

    scenario = [] if "scenario" in named else [scene.texts["scenario"]]
    examples = [] if "examples" in named else persona.example_dialogs
    thoughts = [] if "selfedit" in named else [persona.self_edit_field]
    found = [
        section(PromptPart.SCENARIO, preset.scenario_title, scenario, fixed=True),
        section(PromptPart.STYLE, preset.dialogs_title, examples, bullets=True),
        section(PromptPart.THOUGHTS, preset.inner_thoughts_title, thoughts, fixed=True),
        section(PromptPart.WORLD, preset.world_info_title, extras.world),
        section(PromptPart.SUMMARIES, preset.session_history_title, extras.summaries),
        section(PromptPart.FACTS, preset.core_facts_title, extras.facts, bullets=True),
    ]
    return [one for one in found if one is not None]
