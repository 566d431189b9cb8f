"""Instruct templates rendered as SillyTavern does and as Lethe does after importing them: equal but for BOS.

`--data` is a template, or a folder with templates at any depth. Without it, made-up ones are rendered, in which every field is
tried with and without line breaks (`wrap`) and names. SillyTavern's rules are written down here once more, independently of the
program: `Template.render`. Each template renders each conversation of `CONVERSATIONS`; `different` is the number of templates
of which a rendering differs.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

from lethe_app.domain.import_notes import ImportNotes
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import InstructPreset, SystemPreset
from lethe_app.domain.prompt import PromptTurn
from lethe_app.interchange.presets.preset import read_presets, write_preset
from lethe_app.prompt.builder import PromptRequest, build_prompt
from lethe_app.prompt.format.instruct import InstructRenderer
from lethe_app.prompt.macros import MacroContext
from tests.bench.report import Measured, run

USER, CHAR = "Tomas", "Vera Lind"
STORY = "Vera keeps the lighthouse.\nIt rains."
Line = tuple[str, str]
"""Role and text of a message: `user`, `char` or `note`, a message of the system among the others."""
CONVERSATIONS: Mapping[str, Sequence[Line]] = {
    "one": [("user", "Is the lamp lit?")],
    "greeting": [("char", "Come in."), ("user", "Good evening."), ("char", "Wet, is it?"), ("user", "Very.\n\nAnd cold.")],
    "notes": [("user", "Hello."), ("note", "A storm is coming up."), ("char", "Shut the door."), ("user", "Done.")],
    "note last": [("char", "Come in."), ("user", "Gladly."), ("note", "The lamp goes out.")],
    "again": [("user", "Hello?"), ("char", "I was asleep."), ("char", "Who is it?")],
    "greeting only": [("char", "Come in.")],
}


@dataclass(frozen=True)
class Template:
    """A template by SillyTavern's rules: `public/scripts/instruct-mode.js` and `Generate` of `public/script.js`."""

    values: Mapping[str, Any]

    def text(self, name: str) -> str:
        """Return a sequence; a missing one is empty."""
        return self.values.get(name) or ""

    @property
    def newline(self) -> str:
        """Separator of prefix and message."""
        return "\n" if self.values.get("wrap", True) else ""

    @property
    def has_names(self) -> bool:
        """Whether messages begin with a name outside of groups; `names` is the older form of `names_behavior`."""
        if "names" in self.values:
            return bool(self.values["names"])
        return self.text("names_behavior") == "always"

    def filled(self, text: str, name: str) -> str:
        """Return a sequence with its macros replaced."""
        for macro, value in (("user", USER), ("char", CHAR), ("name", name)):
            text = re.sub(r"\{\{" + macro + r"\}\}", lambda _, value=value: value, text, flags=re.IGNORECASE)
        return text

    def message(self, role: str, text: str, *, place: str = "") -> str:
        """Return a message in its sequences; `place` is `first` or `last` where a sequence of its own may stand."""
        sequence = {"user": "input", "char": "output", "note": "input" if self.values.get("system_same_as_user") else "system"}
        kind = sequence[role]
        start = self.text(f"{kind}_sequence")
        if role != "note" and place:
            start = self.text(f"{place}_{kind}_sequence") or start
        end = self.text(f"{kind}_suffix")
        if kind == "output" and "separator_sequence" in self.values:
            end = self.text("separator_sequence")
        name = {"user": USER, "char": CHAR, "note": ""}[role]
        start, end = self.filled(start, name or "System"), self.filled(end, name or "System") or self.newline
        content = f"{name}: {text}{end}" if self.has_names and name else text + end
        return self.newline.join(part for part in (start, content) if part)

    def story(self) -> str:
        """Return the system prompt in its sequences."""
        start, end = self.text("story_string_prefix"), self.text("story_string_suffix")
        story = STORY + ("" if end else self.newline)
        return (self.filled(start, "System") + self.newline if start else "") + story + self.filled(end, "System")

    def reply(self) -> str:
        """Return what stands before the reply."""
        past, last = self.text("output_sequence"), self.text("last_output_sequence")
        start = self.filled(last or past, CHAR)
        if not self.has_names:
            text = self.newline + start
            return text.rstrip() + self.newline if self.newline else text
        needs_filler = last and past and past[-1].isspace() and not last[-1].isspace()
        return self.newline + start + self.newline + (past[-1] if needs_filler else "") + f"{CHAR}:"

    def render(self, lines: Sequence[Line]) -> str:
        """Return the prompt for the next reply."""
        newest = max((number for number, (role, _text) in enumerate(lines) if role == "user"), default=-1)
        messages = []
        for number, (role, text) in enumerate(lines):
            place = "last" if number == newest else "first" if number == 0 else ""
            messages.append(self.message(role, text, place=place))
        if self.text("user_alignment_message") and lines[0][0] != "user":
            opening = self.filled(self.text("user_alignment_message"), USER)
            messages.insert(0, self.message("user", opening, place="first"))
        chat = "".join(messages)
        return self.story() + (chat.removesuffix("\n") if self.newline else chat) + self.reply()


async def ours(preset: InstructPreset, lines: Sequence[Line], *, thinking: bool) -> str:
    """Return the prompt that Lethe builds with an imported template."""
    roles = {"user": "user", "char": "assistant", "note": "system"}
    names = {"user": USER, "char": CHAR, "note": ""}
    turns = [PromptTurn(roles[role], text, names[role]) for role, text in lines]
    request = PromptRequest(
        renderer=InstructRenderer(preset.model_copy(update={"bos": ""})),
        template_source="",
        persona=Persona(name=CHAR),
        user=None,
        system=SystemPreset(name="x", prompt=STORY),
        macro_context=MacroContext(USER, CHAR, datetime(2026, 3, 1, tzinfo=UTC)),
        history=turns,
        context=100_000,
        reply_reserve=0,
        thinking=thinking,
    )

    async def count(texts: list[str]) -> list[int]:
        return [len(text) for text in texts]

    return (await build_prompt(request, count)).text


CHATML = {
    "input_sequence": "<|im_start|>user",
    "input_suffix": "<|im_end|>\n",
    "output_sequence": "<|im_start|>assistant",
    "output_suffix": "<|im_end|>\n",
    "system_sequence": "<|im_start|>system",
    "system_suffix": "<|im_end|>\n",
    "story_string_prefix": "<|im_start|>system",
    "story_string_suffix": "<|im_end|>\n",
}
MARKS = {"input_sequence": "[Q]", "output_sequence": "[A] ", "system_sequence": "[S]"}
ENDS = {"input_suffix": "[/Q]", "output_suffix": "[/A]", "system_suffix": "[/S]"}
HEADERS = {"input_sequence": "### Said by {{name}}:\n", "output_sequence": "### {{name}} to {{user}}", "output_suffix": "\n\n"}
MADE_UP: Mapping[str, Mapping[str, object]] = {
    "chatml": CHATML,
    "marks": MARKS,
    "ends": {**MARKS, **ENDS},
    "ends with lines": {**MARKS, **{name: f"{end}\n" for name, end in ENDS.items()}},
    "one end": {**MARKS, "input_suffix": "[/Q]", "output_suffix": "\n"},
    "story": {**MARKS, **ENDS, "story_string_prefix": "[STORY of {{char}} as {{name}}]", "story_string_suffix": "[/STORY]"},
    "story prefix": {**MARKS, "story_string_prefix": "Story:\n"},
    "story suffix": {**MARKS, **ENDS, "story_string_suffix": "\n---\n"},
    "last reply": {**MARKS, **ENDS, "last_output_sequence": "[A now]"},
    "last reply thinks": {**CHATML, "last_output_sequence": "<|im_start|>assistant\n<think>", "names_behavior": "none"},
    "last reply does not think": {**CHATML, "last_output_sequence": "<|im_start|>assistant\n<think>\n\n</think>\n\n"},
    "last reply after a line": {**HEADERS, "last_output_sequence": "\n### Now {{char}}:"},
    "names in headers": HEADERS,
    "names in suffixes": {**MARKS, "input_suffix": "[/{{name}}]", "output_suffix": "[/{{char}}]\n"},
    "system as user": {**MARKS, **ENDS, "system_same_as_user": True},
    "nothing": {"input_sequence": "", "output_sequence": ""},
    "first and last": {
        **MARKS,
        **ENDS,
        "first_input_sequence": "[Q1 {{user}}]",
        "last_input_sequence": "[Qn]",
        "first_output_sequence": "[A1]",
    },
    "first only": {**MARKS, "first_input_sequence": "[Q1]", "first_output_sequence": "[A1 {{name}}]"},
    "begun by the user": {**MARKS, **ENDS, "user_alignment_message": "Let us begin, {{char}}."},
    "begun by a first one": {**MARKS, "user_alignment_message": "Begin.", "first_input_sequence": "[Q1]"},
    "separator": {**MARKS, **ENDS, "separator_sequence": "</s>"},
    "empty separator": {**MARKS, **ENDS, "separator_sequence": ""},
    "spaces": {
        "input_sequence": " [I] ",
        "output_sequence": " [/I] ",
        "last_output_sequence": " [/I]",
        "output_suffix": "</s>",
    },
    "old names": {**MARKS, "names": True, "names_force_groups": False},
    "stops": {**MARKS, **ENDS, "stop_sequence": "[/A]\n[Q]", "sequences_as_stop_strings": False},
}
VARIANTS = tuple(product((True, False), ("none", "force", "always")))


def made_up() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each made-up template by name, with and without `wrap` and names."""
    for name, values in MADE_UP.items():
        for wrap, names in VARIANTS:
            settings = {"name": name, "macro": True, "wrap": wrap, "names_behavior": names}
            yield f"{name} (wrap {wrap}, names {names})", {**settings, **values}


def templates_in(place: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the templates of a file or folder, also those inside master files."""
    for path in sorted(place.rglob("*.json")) if place.is_dir() else [place]:
        try:
            values = json.loads(path.read_text("utf-8-sig"))
        except ValueError:
            continue
        found = values.get("instruct", values) if isinstance(values, dict) else None
        if isinstance(found, dict) and {"input_sequence", "output_sequence"} <= found.keys():
            yield path.stem, {"name": path.stem, **found}


async def differences_of(values: Mapping[str, Any]) -> list[str]:
    """Return where a template renders otherwise here than there, also after it was exported and imported again."""
    found, template = [], Template(values)
    (preset,) = read_presets(values, "x", ImportNotes())
    assert isinstance(preset, InstructPreset)
    fresh = preset.model_copy(update={"original": {}})  # written from our fields alone
    (again,) = read_presets(write_preset(fresh), "x", ImportNotes())
    assert isinstance(again, InstructPreset)
    is_plain = not InstructRenderer(preset).thinking_start
    for kind, read, thinking in (("", preset, True), ("without thinking: ", preset, False), ("again: ", again, True)):
        if not thinking and not is_plain:
            continue  # a thought that is not wanted is not begun
        for name, lines in CONVERSATIONS.items():
            expected, rendered = template.render(lines), await ours(read, lines, thinking=thinking)
            if rendered != expected:
                found.append(f"{kind}{name}: {expected!r} there, {rendered!r} here")
    return found


async def measure(wanted: argparse.Namespace) -> Measured:
    """Number of templates, and of those that differ, with the first difference of each."""
    templates = list(templates_in(Path(wanted.data)) if wanted.data else made_up())
    different = [(name, found) for name, values in templates if (found := await differences_of(values))]
    rows = [(name, found[0]) for name, found in different]
    return rows, {"templates": len(templates), "different": len(different)}


if __name__ == "__main__":
    run(__doc__, measure, ("--data", {"default": "", "metavar": "PATH", "help": "a template or a folder with templates"}))
