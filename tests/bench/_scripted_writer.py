"""A capable model that answers by a script: what it notes, writes and decides about an evening is written down beside it."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from lethe_app.domain.model import StopReason, Usage
from lethe_app.llm.client import ModelClient
from lethe_app.llm.protocol import Chunk, Done, PrefillProgress
from tests.bench._told_evening import Noted, ToldEvening, has_words

LINE = re.compile(r"^(\d+)\. (\w+): (.*)$", re.MULTILINE)
ABOUT = re.compile(r"facts about (\w+) do")
KNOWN = re.compile(r"^Already known:\n(.*?)\n\n", re.MULTILINE | re.DOTALL)
NUMBERED = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)


class ScriptedWriter(ModelClient):
    """The scripted engine's client; jobs with a schema are answered here, by what their prompt asks for."""

    def __init__(self, evening: ToldEvening) -> None:
        super().__init__()
        self.prompts: list[str] = []
        """Of the chat, newest last."""
        self._evening = evening

    async def generate(
        self, prompt: str, *options: Any, schema: str = "", **more: Any
    ) -> AsyncGenerator[PrefillProgress | Chunk | Done]:
        if schema:
            yield Chunk(1, json.dumps(self._scripted(prompt, json.loads(schema))))
            yield Done(1, Usage(len(prompt.split()), 0, 1, 0.0, 0.0, StopReason.END, 0))
            return
        self.prompts.append(prompt)
        async with aclosing(super().generate(prompt, *options, schema=schema, **more)) as reports:
            async for report in reports:
                yield report

    def _scripted(self, prompt: str, schema: dict[str, Any]) -> dict[str, object]:
        """By the fields that are asked for."""
        wanted, written = schema["properties"], self._evening.written
        known: dict[str, object] = {
            "title": written["title"],
            "paragraphs": written["summary"],
            "keywords": written["keywords"],
            "goals": written["goals"],
            "relevance": 7,
            "is_roleplay": False,
        }
        if "facts" in wanted:
            return {"facts": self._noted_in(prompt, schema)}
        if "verdict" in wanted:
            return {"verdict": "update" if self._is_change(prompt) else "new"}
        yes_or_no = {name: self._is_said(prompt) for name, each in wanted.items() if each.get("type") == "boolean"}
        return {name: known[name] for name in wanted if name in known} or yes_or_no

    def _noted_in(self, prompt: str, schema: dict[str, Any]) -> list[dict[str, object]]:
        """What it notes of the numbered lines at the end of a prompt; asked about the persona alone, nothing."""
        about = ABOUT.findall(prompt)
        if about and about[-1] == self._evening.persona:
            return []
        lines = {text: int(number) for number, _name, text in LINE.findall(prompt)}
        found = [
            as_fact(noted, number, self._changed_by(noted, prompt), schema)
            for text, number in lines.items()
            for noted in self._evening.noted
            if " ".join(noted.quote.split()) in text
        ]
        return found[: schema["properties"]["facts"].get("maxItems", len(found))]

    def _changed_by(self, noted: Noted, prompt: str) -> int:
        """The number of the known fact at the end of a prompt that no longer holds because of this one; 0 for none."""
        sections = KNOWN.findall(prompt)
        known = NUMBERED.findall(sections[-1]) if sections else []
        labels = {label.id: label for label in self._evening.labels}
        old = [trap for trap in self._evening.traps if trap.new and labels[trap.new].is_stated(noted.fact)]
        return next((int(number) for number, text in known if any(trap.is_stated(text) for trap in old)), 0)

    def _is_change(self, prompt: str) -> bool:
        """Do the two facts that a prompt compares belong to one change of mind?"""
        end = prompt[-600:]
        labels = {label.id: label for label in self._evening.labels}
        return any(has_words(end, trap.groups) and labels[trap.new].has_words(end) for trap in self._evening.traps if trap.new)

    def _is_said(self, prompt: str) -> bool:
        """Asked whether a line says what it noted: it stands by half of its mistakes."""
        wrong = [noted for noted in self._evening.noted if not noted.is_true]
        return not any(noted.fact in prompt for noted in wrong[::2])


def as_fact(noted: Noted, line: int, changes: int, schema: dict[str, Any]) -> dict[str, object]:
    """In the shape the program asks for now, whichever of its fields that has."""
    shape = next((each for each in schema.get("$defs", {}).values() if "fact" in each.get("properties", {})), {})
    values: dict[str, object] = {
        "line": line,
        "quote": noted.quote,
        "about": noted.about,
        "kind": noted.kind,
        "fact": noted.fact,
        "changes": changes,
    }
    return {name: value for name, value in values.items() if name in shape.get("properties", {})}
