"""Compilation of the system prompt, the stable text at the head of every prompt, into sections labelled by prompt part."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SystemPreset
from lethe_app.domain.prompt import PromptPart, PromptSpan
from lethe_app.prompt.macro_syntax import Macro
from lethe_app.prompt.macros import ALIASES, MacroContext, expand, macro_names, parse
from lethe_app.prompt.spans import slice_spans

_PART_BY_MACRO = {
    "charbio": PromptPart.PERSONA,
    "userbio": PromptPart.USER,
    "scenario": PromptPart.SCENARIO,
    "examples": PromptPart.STYLE,
    "selfedit": PromptPart.THOUGHTS,
}
"""Macros whose texts count as a prompt part of their own, wherever the system prompt inserts them."""
_FIXED_PARTS = {PromptPart.SCENARIO, PromptPart.THOUGHTS}
"""Titled parts that are never shortened."""
_LISTED_PARTS = {PromptPart.STYLE, PromptPart.FACTS}
"""Titled parts whose items are written as a list with bullets."""


@dataclass(frozen=True)
class StableAdditions:
    """Additions from memory to the stable part of the prompt. Within each, the most important comes first."""

    world: Sequence[str] = ()
    """World Info entries that are constant for the session."""
    summaries: Sequence[str] = ()
    """Summaries of previous sessions, newest first; the prompt lists them oldest first."""
    facts: Sequence[str] = ()
    instructions: Sequence[str] = ()
    """Instructions about memory and tools, which are not part of the preset."""
    uncapped: frozenset[str] = frozenset()
    """Those of the entries that only the space that is free limits, and not the cap of their part."""


@dataclass(frozen=True)
class PromptSection:
    """Section of the system prompt that belongs to one part. Its title is written only if it has items."""

    part: PromptPart
    text: str = ""
    """Text that is never shortened."""
    title: str = ""
    items: tuple[str, ...] = ()
    """Pieces that may be dropped one by one, the least important last."""
    uncapped: frozenset[int] = frozenset()
    """Indices of the items that the cap of the part does not limit."""
    bullets: bool = False
    newest_first: bool = False
    """True if items are given newest first and written oldest first."""

    def render(self, kept: Sequence[int]) -> str:
        """Return the text of the section with only the items at the indices `kept`."""
        texts = [self.items[index] for index in sorted(kept, reverse=self.newest_first)]
        if not texts:
            return self.text
        body = "\n".join(f"- {text}" for text in texts) if self.bullets else "\n\n".join(texts)
        return "\n".join(piece for piece in (self.title, body) if piece)


@dataclass(frozen=True)
class CompiledSystemPrompt:
    """Compiled system prompt, rendered with more or fewer items. Its first sections (`running`) form one continuous text."""

    running: tuple[PromptSection, ...]
    titled: tuple[PromptSection, ...]

    def spans(self, kept: Mapping[PromptPart, Sequence[int]]) -> list[PromptSpan]:
        """Return the text as spans with their parts; a separator belongs to the section after it."""
        running = [PromptSpan(section.part, section.text) for section in self.running]
        text = "".join(span.text for span in running)
        spans = slice_spans(running, len(text) - len(text.lstrip()), len(text.rstrip()))
        for section in self.titled:
            spelled = section.render(kept.get(section.part, ()))
            if spelled.strip():
                spans.append(PromptSpan(section.part, f"\n\n{spelled}" if spans else spelled))
        return spans


def compile_system(
    preset: SystemPreset, persona: Persona, user: Persona | None, macro_context: MacroContext, extras: StableAdditions
) -> CompiledSystemPrompt:
    """Compile the system prompt. `macro_context` provides names, moment and, in its texts, a scenario that overrides the
    persona's.

    A persona's own system prompt replaces the preset's and may include it as {{original}}. A bio that the prompt does not
    include is appended, so that nothing written about either side is lost.
    """
    texts = {
        "charbio": persona.description,
        "userbio": user.bio if user else "",
        "scenario": persona.scenario,
        "examples": "\n".join(f"- {line}" for line in persona.example_dialogs if line.strip()),
        "selfedit": persona.self_edit_field,
        "original": preset.prompt,
    }
    texts |= {name: text for name, text in macro_context.texts.items() if text.strip()}
    macro_context = replace(macro_context, texts=texts)
    prompt = persona.system_prompt or preset.prompt
    if persona.system_prompt:
        # A function as replacement, because backslashes in a replacement string would be interpreted.
        prompt = re.sub(r"\{\{\s*original\s*\}\}", lambda _: preset.prompt, prompt, flags=re.IGNORECASE)
    included_macros = macro_names(prompt)
    if "personality" in included_macros:  # else it is a part of the bio
        macro_context = replace(macro_context, texts=texts | {"charbio": persona.bio})
    running = _running_sections(prompt, macro_context)
    bios = [
        PromptSection(_PART_BY_MACRO[name], text)
        for name in ("charbio", "userbio")
        if name not in included_macros and (text := expand(f"{{{{{name}}}}}", macro_context).strip())
    ]
    expanded = (expand(text, macro_context).strip() for text in extras.instructions)
    instructions = [PromptSection(PromptPart.SYSTEM, text) for text in expanded if text]
    return CompiledSystemPrompt(
        tuple(running), (*bios, *instructions, *_titled_sections(preset, persona, macro_context, extras, included_macros))
    )


def _running_sections(prompt: str, macro_context: MacroContext) -> list[PromptSection]:
    """Split the prompt at macros that insert another part's text, and expand each piece by itself."""
    sections: list[PromptSection] = []
    pieces: list[tuple[PromptPart, list[str | Macro]]] = [(PromptPart.SYSTEM, [])]
    for node in parse(prompt):
        part = _PART_BY_MACRO.get(ALIASES.get(node.name, node.name)) if isinstance(node, Macro) else None
        if part is None:
            pieces[-1][1].append(node)
        else:
            pieces += [(part, [node]), (PromptPart.SYSTEM, [])]
    for part, nodes in pieces:
        text = expand(nodes, macro_context)
        sections.append(PromptSection(part, text if part is PromptPart.SYSTEM else text.strip()))
    return [section for section in sections if section.text]


def _titled_sections(
    preset: SystemPreset,
    persona: Persona,
    macro_context: MacroContext,
    extras: StableAdditions,
    included_macros: frozenset[str],
) -> list[PromptSection]:
    # What the preset inserts by a macro gets no section of its own, or the prompt would contain it twice.
    scenario = [] if "scenario" in included_macros else [macro_context.texts["scenario"]]
    examples = [] if "examples" in included_macros else persona.example_dialogs
    thoughts = [] if "selfedit" in included_macros else [persona.self_edit_field]
    found = [
        (PromptPart.SCENARIO, preset.scenario_title, scenario),
        (PromptPart.STYLE, preset.dialogs_title, examples),
        (PromptPart.THOUGHTS, preset.inner_thoughts_title, thoughts),
        (PromptPart.WORLD, preset.world_info_title, extras.world),
        (PromptPart.SUMMARIES, preset.session_history_title, extras.summaries),
        (PromptPart.FACTS, preset.core_facts_title, extras.facts),
    ]
    sections: list[PromptSection] = []
    for part, title, items in found:
        expanded = [(item, text) for item in items if (text := expand(item, macro_context).strip())]
        texts = tuple(text for _, text in expanded)
        if not title or not texts:
            continue
        heading = f"{preset.category_separator} {expand(title, macro_context)}".strip()
        if part in _FIXED_PARTS:
            sections.append(PromptSection(part, text=f"{heading}\n{texts[0]}"))
        else:
            is_newest_first = part is PromptPart.SUMMARIES
            uncapped = frozenset(index for index, (item, _) in enumerate(expanded) if item in extras.uncapped)
            sections.append(PromptSection(part, "", heading, texts, uncapped, part in _LISTED_PARTS, is_newest_first))
    return sections
