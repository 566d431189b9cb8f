"""A model's own Jinja chat template: what it accepts is found out once, then conversations are fitted to it and rendered."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from lethe_app.domain.prompt import PromptTurn
from lethe_app.errors import TemplateUnusable
from lethe_app.prompt.format.constraints import fit
from lethe_app.prompt.format.probe import REMEDY, Probed, probe, takes_tools
from lethe_app.prompt.format.sandbox import MAX_TEXT, ChatEnvironment, Overspent, RenderBudget
from lethe_app.prompt.format.thinking import Markers, closed_thought, find_markers

MAX_SOURCE = 100_000
"""Characters of a template; the longest in use have about thirty thousand."""
SECONDS = 2.0
"""For finding out about a template, and for each rendering."""
_OPEN = "\ue0ffopen\ue0ff"
"""Marks the end of an unfinished reply; private-use characters, so nobody else writes them."""


class ChatTemplate:
    """Renders conversations with a model's own template, after having found out by trying what it accepts."""

    add_names = False

    def __init__(
        self,
        source: str,
        *,
        moment: datetime,
        bos: str = "",
        eos: str = "",
        adds_bos: bool = False,
        seconds: float = SECONDS,
        thinking: Markers | None = None,
    ) -> None:
        """`moment` is today for templates that print a date, `thinking` what encloses thoughts. Raises TemplateUnusable."""
        if len(source) > MAX_SOURCE:
            raise TemplateUnusable(f"The model's chat template has more than {MAX_SOURCE} characters.")
        self._bos, self._eos, self._adds_bos = bos, eos, adds_bos
        self._ledger = RenderBudget(seconds)
        self.tools: Sequence[dict[str, Any]] = ()
        self._equipped: dict[str, ChatTemplate | None] = {}
        try:
            self._template = ChatEnvironment(self._ledger, moment).from_string(source)
        except Exception as problem:
            raise _unusable(problem) from problem
        markers = thinking or find_markers(source)
        self.thinking_start, self.thinking_end = markers or ("", "")
        self.probed: Probed = probe(self.attempt)
        self.stop_strings = self.probed.stop_strings

    def with_tools(self, tools: Sequence[dict[str, Any]]) -> ChatTemplate | None:
        """The same template telling of these tools; None where it knows no tools, or what it writes would not stay."""
        key = json.dumps(tools)
        if key not in self._equipped:
            equipped = copy.copy(self)
            equipped.tools = tools
            equipped.probed = replace(self.probed, manners=replace(self.probed.manners, tools=True))
            self._ledger.open()
            try:
                knows = takes_tools(self.attempt, equipped.attempt, self.probed, [tool["function"]["name"] for tool in tools])
            except TemplateUnusable:
                knows = False
            self._equipped[key] = equipped if knows else None
        return self._equipped[key]

    def render(self, turns: Sequence[PromptTurn], *, continue_last: bool = False, thinking: bool = True) -> str:
        """The prompt up to the opening of the reply; see `Renderer`."""
        assert not continue_last or turns[-1].role == "assistant", "only a reply can be continued"
        fitted = fit(turns, self.probed.manners, continue_last=continue_last)
        self._ledger.open(sum(len(turn.content) for turn in fitted))
        if continue_last:
            return self._render_open(fitted, thinking=thinking)
        text = self._run(fitted, opening=True, thinking=thinking, parts=self.probed.content_in_parts)
        return text if thinking else closed_thought(text, self.thinking_end, self.thinking_start)

    def _render_open(self, turns: Sequence[PromptTurn], *, thinking: bool) -> str:
        last = turns[-1]
        marked = [*turns[:-1], PromptTurn(last.role, last.content + _OPEN, last.name)]
        text = self._run(marked, opening=False, thinking=thinking, parts=self.probed.content_in_parts)
        before, found, _ = text.rpartition(_OPEN)
        if not found:
            raise TemplateUnusable("The model's chat template does not let a reply be continued.")
        return before

    def attempt(self, turns: Sequence[PromptTurn], *, opening: bool, thinking: bool, parts: bool) -> str | None:
        """For the probe, which shares one allowance of time: None where the template refuses."""
        try:
            return self._run(turns, opening=opening, thinking=thinking, parts=parts)
        except TemplateUnusable as problem:
            if isinstance(problem.__cause__, Overspent | MemoryError | RecursionError):
                raise
            return None

    def _run(self, turns: Sequence[PromptTurn], *, opening: bool, thinking: bool, parts: bool) -> str:
        messages = [_message(turn, parts=parts) for turn in turns]
        pieces: list[str] = []
        length = 0
        try:
            for piece in self._template.generate(
                messages=messages,
                add_generation_prompt=opening,
                enable_thinking=thinking,
                bos_token=self._bos,
                eos_token=self._eos,
                tools=list(self.tools) or None,
                tools_in_user_message=False,
                documents=None,
            ):
                length += len(piece)
                if length > MAX_TEXT:
                    raise Overspent("it makes too long a text")  # noqa: TRY301 - translated with all else the template may raise
                self._ledger.spend()
                pieces.append(piece)
        except Exception as problem:
            raise _unusable(problem) from problem
        text = "".join(pieces)
        return text.removeprefix(self._bos) if self._adds_bos and self._bos else text


def _message(turn: PromptTurn, *, parts: bool) -> dict[str, Any]:
    """As templates expect it; calls in the shape that all of them know."""
    content = _in_parts(turn.content) if parts else turn.content
    if turn.role == "tool":
        identity, _, name = turn.name.partition(" ")
        return {"role": "tool", "content": content, "name": name, "tool_call_id": identity}
    if turn.role == "calls":
        try:
            calls = json.loads(turn.content)
        except ValueError:  # something else stands in its place for a moment
            return {"role": "assistant", "content": content}
        return {"role": "assistant", "content": "", "tool_calls": [{"type": "function", **call} for call in calls]}
    return {"role": turn.role, "content": content}


def _in_parts(content: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": content}]


def _unusable(problem: BaseException) -> TemplateUnusable:
    """A template is a foreign program and may raise anything; all of it means the same to us."""
    words = str(problem).splitlines()[0][:200] if str(problem) else type(problem).__name__
    return TemplateUnusable(f"The model's chat template cannot be used: {words}.", REMEDY)
