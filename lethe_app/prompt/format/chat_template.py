"""Chat template of a model: its constraints are probed once, then conversations are adapted to them and rendered."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from lethe_app.domain.prompt import PromptTurn
from lethe_app.errors import TemplateUnusable
from lethe_app.prompt.format.constraints import FormatConstraints, adapt_turns
from lethe_app.prompt.format.sandbox import MAX_TEXT, ChatEnvironment, RenderBudget, RenderBudgetExceeded
from lethe_app.prompt.format.thinking import ThinkingMarkers, close_thought, find_markers
from lethe_app.prompt.macros import MacroContext

MAX_SOURCE = 100_000
"""Maximum characters of a template; the longest in use have about thirty thousand."""
TIME_LIMIT = 2.0
"""Time limit for probing a template, and for each rendering."""
_OPEN_MARKER = "\ue0ffopen\ue0ff"
"""Marker for the end of an unfinished reply: private-use characters, which nobody else writes."""
# The contents are words that no template contains, so that each can be found in the rendered text.
SYSTEM = PromptTurn("system", "Qsystemq")
USER = PromptTurn("user", "Qaskingq")
REPLY = PromptTurn("assistant", "Qanswerq")
USER_2 = PromptTurn("user", "Qaskagainq")
REPLY_2 = PromptTurn("assistant", "Qansweragainq")
NOTE = PromptTurn("system", "Qnoteq")
_LATER_TURNS = [REPLY_2, PromptTurn("user", "Qaskoncemoreq")]
REMEDY = "Choose an instruct format in the settings."
_WORDS = re.compile(r"(?<![<|\w])[A-Za-z]{2,}(?![|>\w])")


class TemplateProbe(Protocol):
    """Function that renders turns unchanged; it returns None if the template refuses them."""

    def __call__(self, turns: Sequence[PromptTurn], *, opening: bool, parts: bool) -> str | None: ...


@dataclass(frozen=True)
class ProbeResult:
    """Result of probing a template."""

    constraints: FormatConstraints
    content_in_parts: bool = False
    """The template requires contents as lists of typed parts instead of plain text."""
    stop_strings: tuple[str, ...] = ()


class _Trial:
    """Template under test."""

    def __init__(self, attempt: TemplateProbe, *, parts: bool) -> None:
        self._attempt = attempt
        self.parts = parts

    def render(self, *turns: PromptTurn, opening: bool = False) -> str | None:
        """Return the rendered turns, or None if the template refuses them."""
        return self._attempt(turns, opening=opening, parts=self.parts)

    def has_contents(self, *turns: PromptTurn, opening: bool = False) -> bool:
        """Return whether the template accepts these turns and shows all their contents once and in order."""
        text = self.render(*turns, opening=opening)
        if text is None:
            return False
        positions = [text.find(turn.content) for turn in turns]
        return min(positions) >= 0 and positions == sorted(positions) and all(text.count(turn.content) == 1 for turn in turns)

    def is_prefix_stable(self, *turns: PromptTurn, more: Sequence[PromptTurn]) -> bool:
        """Return whether the text for `turns`, up to the last content, stays the same byte for byte when `more` follow."""
        before, after = self.render(*turns), self.render(*turns, *more)
        if before is None or after is None:
            return False
        beginning, found, _ = before.rpartition(turns[-1].content)
        return after.startswith(beginning + found)


def probe(attempt: TemplateProbe) -> ProbeResult:
    """Probe a template. Raise TemplateUnusable if it refuses or hides even a single user turn, or a second one."""
    trial = next((trial for parts in (False, True) if (trial := _Trial(attempt, parts=parts)).has_contents(USER)), None)
    if trial is None:
        raise TemplateUnusable("The model's chat template rejects every conversation.", REMEDY)
    if not trial.has_contents(USER, REPLY, USER_2):
        raise TemplateUnusable("The model's chat template rejects a second turn.", REMEDY)
    return ProbeResult(_probe_constraints(trial), trial.parts, _stop_strings(trial))


def _probe_constraints(trial: _Trial) -> FormatConstraints:
    """Find out what a template accepts. A system turn and a greeting count only if the text also stays stable as the
    conversation grows: some templates accept a system turn but move it.
    """
    system = trial.has_contents(SYSTEM, USER, REPLY, USER_2) and trial.is_prefix_stable(
        SYSTEM, USER, REPLY, USER_2, more=_LATER_TURNS
    )
    head = [SYSTEM] if system else []
    opening = trial.render(USER, opening=True) or ""
    opens_reply = len(opening) > len(trial.render(USER) or "")
    return FormatConstraints(
        system=system,
        mid_system=trial.has_contents(*head, USER, REPLY, NOTE, USER_2)
        and trial.has_contents(*head, USER, REPLY, NOTE, opening=True),
        assistant_first=trial.has_contents(*head, REPLY, USER)
        and trial.is_prefix_stable(*head, REPLY, USER, more=_LATER_TURNS),
        consecutive=opens_reply
        and trial.has_contents(*head, USER, USER_2)
        and trial.has_contents(*head, USER, REPLY, REPLY_2, USER_2)
        and trial.has_contents(*head, USER, REPLY, opening=True),
        needs_user=not trial.has_contents(*head, REPLY, opening=True),
        empty_system=system and _has_suppressible_default(trial),
    )


def _has_suppressible_default(trial: _Trial) -> bool:
    """Return whether the template invents a system text if none is given, which an empty system turn prevents."""
    default = _find_default_system(trial)
    text = trial.render(PromptTurn("system", ""), USER) if default else None
    return text is not None and default not in text


def _find_default_system(trial: _Trial) -> str:
    """Return the text before a lone user turn, apart from the header that every user turn has."""
    lone = (trial.render(USER) or "").partition(USER.content)[0]
    between = _text_after(trial.render(USER, REPLY, USER_2), REPLY.content).partition(USER_2.content)[0]
    common = 0
    while common < min(len(lone), len(between)) and lone[-1 - common] == between[-1 - common]:
        common += 1
    extra = lone[: len(lone) - common].strip()
    return extra if len(_WORDS.findall(extra)) > 3 else ""


def _text_after(text: str | None, content: str) -> str:
    return (text or "").partition(content)[2]


def _stop_strings(trial: _Trial) -> tuple[str, ...]:
    """Return the end of a reply, and the header of the user turn that would follow it."""
    end = _text_after(trial.render(USER, REPLY), REPLY.content)
    following = _text_after(trial.render(USER, REPLY, USER_2), REPLY.content).partition(USER_2.content)[0]
    header = following.removeprefix(end) if end else following
    return tuple(dict.fromkeys(text for text in (end.strip(), header.strip()) if len(text) > 1))


# The id has nine letters or digits, because one family of models refuses any other.
RESULT = PromptTurn("tool", "Qresultq", "a1b2c3d4e qtool")


def can_use_tools(
    render_plain: TemplateProbe, render_with_tools: TemplateProbe, probed: ProbeResult, names: Sequence[str]
) -> bool:
    """Return whether the template names every tool, shows calls and results, and keeps its text stable as the conversation
    grows.

    Some templates put the tools before the newest user message, so that most of the conversation would be evaluated again
    every turn.
    """
    calls = [{"id": "a1b2c3d4e", "function": {"name": names[0], "arguments": {"qkey": "Qvalueq"}}}]
    question = [SYSTEM, USER] if probed.constraints.system else [USER]
    used = [*question, PromptTurn("calls", json.dumps(calls)), RESULT]
    trial, plain_trial = (_Trial(attempt, parts=probed.content_in_parts) for attempt in (render_with_tools, render_plain))
    asked, plain, answered = trial.render(*question) or "", plain_trial.render(*question) or "", trial.render(*used) or ""
    return (
        # A template that prints the names without being given the tools proves nothing by printing them.
        all(name in asked for name in names)
        and not all(name in plain for name in names)
        and all(word in answered for word in (names[0], "qkey", "Qvalueq", RESULT.content))
        and trial.render(*used, opening=True) is not None
        and trial.is_prefix_stable(*question, more=[REPLY, USER_2])
        and trial.is_prefix_stable(*used, more=[REPLY_2, USER_2])
    )


class ChatTemplate:
    """Renders conversations with a model's own Jinja template, within constraints found by probing it."""

    add_names = uses_names = False

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

    def for_names(self, _names: MacroContext) -> ChatTemplate:
        """Return the template itself: names are no business of a model's own template."""
        return self

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
