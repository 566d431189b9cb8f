"""Probing of a chat template: small conversations are rendered once at load time to find out what it accepts."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lethe_app.domain.prompt import PromptTurn
from lethe_app.errors import TemplateUnusable
from lethe_app.prompt.format.constraints import FormatConstraints

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
