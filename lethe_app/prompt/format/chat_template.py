"""Chat template of a model: its constraints are probed once, then conversations are adapted to them and rendered."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from lethe_app.domain.prompt import PromptTurn
from lethe_app.errors import TemplateUnusable
from lethe_app.prompt.format.constraints import adapt_turns
from lethe_app.prompt.format.probe import REMEDY, ProbeResult, can_use_tools, probe
from lethe_app.prompt.format.sandbox import MAX_TEXT, ChatEnvironment, RenderBudget, RenderBudgetExceeded
from lethe_app.prompt.format.thinking import ThinkingMarkers, close_thought, find_markers

MAX_SOURCE = 100_000
"""Maximum characters of a template; the longest in use have about thirty thousand."""
TIME_LIMIT = 2.0
"""Time limit for probing a template, and for each rendering."""
_OPEN_MARKER = "\ue0ffopen\ue0ff"
"""Marker for the end of an unfinished reply: private-use characters, which nobody else writes."""


class ChatTemplate:
    """Renders conversations with a model's own Jinja template, within constraints found by probing it."""

    add_names = False

    def __init__(
        self,
        source: str,
        *,
        moment: datetime,
        bos: str = "",
        eos: str = "",
        adds_bos: bool = False,
        seconds: float = TIME_LIMIT,
        thinking: ThinkingMarkers | None = None,
    ) -> None:
        """Compile and probe the template. Raise TemplateUnusable if that fails.

        `moment` is the date for templates that print one; `thinking` overrides the thinking markers.
        """
        if len(source) > MAX_SOURCE:
            raise TemplateUnusable(f"The model's chat template has more than {MAX_SOURCE} characters.")
        self._bos, self._eos, self._adds_bos = bos, eos, adds_bos
        self._budget = RenderBudget(seconds)
        self.tools: Sequence[dict[str, Any]] = ()
        self._tool_variants: dict[str, ChatTemplate | None] = {}
        try:
            self._template = ChatEnvironment(self._budget, moment).from_string(source)
        except Exception as error:
            raise _template_error(error) from error
        markers = thinking or find_markers(source)
        self.thinking_start, self.thinking_end = markers or ("", "")
        self.probed: ProbeResult = probe(self.try_render)
        self.stop_strings = self.probed.stop_strings

    def with_tools(self, tools: Sequence[dict[str, Any]]) -> ChatTemplate | None:
        """Return the template with these tools enabled, cached by tool list.

        None if the template does not support tools, or if its text would change as the conversation grows.
        """
        key = json.dumps(tools)
        if key not in self._tool_variants:
            # The compiled template and its render budget are shared; only tools and constraints differ.
            variant = copy.copy(self)
            variant.tools = tools
            variant.probed = replace(self.probed, constraints=replace(self.probed.constraints, tools=True))
            self._budget.reset()
            self._tool_variants[key] = None
            names = [tool["function"]["name"] for tool in tools]
            with suppress(TemplateUnusable):
                if can_use_tools(self.try_render, variant.try_render, self.probed, names):
                    self._tool_variants[key] = variant
        return self._tool_variants[key]

    def render(self, turns: Sequence[PromptTurn], *, continue_last: bool = False, thinking: bool = True) -> str:
        """Return the prompt up to the opening of the reply; see `Renderer.render`."""
        assert not continue_last or turns[-1].role == "assistant", "only a reply can be continued"
        fitted = adapt_turns(turns, self.probed.constraints, continue_last=continue_last)
        self._budget.reset(sum(len(turn.content) for turn in fitted))
        if continue_last:
            return self._render_continued(fitted, thinking=thinking)
        text = self._run_template(fitted, opening=True, thinking=thinking, parts=self.probed.content_in_parts)
        return text if thinking else close_thought(text, self.thinking_end, self.thinking_start)

    def _render_continued(self, turns: Sequence[PromptTurn], *, thinking: bool) -> str:
        last = turns[-1]
        marked = [*turns[:-1], PromptTurn(last.role, last.content + _OPEN_MARKER, last.name)]
        text = self._run_template(marked, opening=False, thinking=thinking, parts=self.probed.content_in_parts)
        # Everything the template writes after the content (end-of-turn token, line break) is cut off, so that the reply
        # stays open.
        before, found, _ = text.rpartition(_OPEN_MARKER)
        if not found:
            raise TemplateUnusable("The model's chat template does not support continuing a reply.")
        return before

    def try_render(self, turns: Sequence[PromptTurn], *, opening: bool, parts: bool) -> str | None:
        """Render turns for the probe; None if the template refuses them. All attempts of a probe share one render budget."""
        try:
            return self._run_template(turns, opening=opening, thinking=True, parts=parts)
        except TemplateUnusable as problem:
            # Exhausted limits are not a refusal: further attempts would only take more time or memory.
            if isinstance(problem.__cause__, RenderBudgetExceeded | MemoryError | RecursionError):
                raise
            return None

    def _run_template(self, turns: Sequence[PromptTurn], *, opening: bool, thinking: bool, parts: bool) -> str:
        messages = [_build_message(turn, parts=parts) for turn in turns]
        pieces: list[str] = []
        length = 0
        try:
            for piece in self._template.generate(
                messages=messages,
                add_generation_prompt=opening,
                enable_thinking=thinking,
                bos_token=self._bos,
                eos_token=self._eos,
                # None and not an empty list: templates such as that of Llama 3.1 only test `tools is not none`.
                tools=list(self.tools) or None,
                tools_in_user_message=False,
                documents=None,
            ):
                length += len(piece)
                if length > MAX_TEXT:
                    raise RenderBudgetExceeded("it produces too much text")  # noqa: TRY301 - translated with all else the template may raise
                self._budget.spend()
                pieces.append(piece)
        except Exception as problem:
            raise _template_error(problem) from problem
        text = "".join(pieces)
        # The tokenizer adds BOS itself; a second one would change what the model computes.
        return text.removeprefix(self._bos) if self._adds_bos and self._bos else text


def _build_message(turn: PromptTurn, *, parts: bool) -> dict[str, Any]:
    """Return the turn as the dictionary that templates expect; tool calls in the shape all of them support."""
    content = [{"type": "text", "text": turn.content}] if parts else turn.content
    if turn.role == "tool":
        identity, _, name = turn.name.partition(" ")
        return {"role": "tool", "content": content, "name": name, "tool_call_id": identity}
    if turn.role == "calls":
        try:
            calls = json.loads(turn.content)
        except ValueError:  # `spans.label_spans` renders markers in place of contents
            return {"role": "assistant", "content": content}
        return {"role": "assistant", "content": "", "tool_calls": [{"type": "function", **call} for call in calls]}
    return {"role": turn.role, "content": content}


def _template_error(error: BaseException) -> TemplateUnusable:
    """Return any exception of a template as TemplateUnusable. A template is a foreign program and may raise anything."""
    reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return TemplateUnusable(f"The model's chat template cannot be used: {reason}.", REMEDY)
