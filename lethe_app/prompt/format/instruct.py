"""Rendering with instruct presets, and the choice between a model's own template and a preset."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from lethe_app.domain.model import LoadedModel
from lethe_app.domain.presets import InstructPreset
from lethe_app.domain.prompt import PromptTurn
from lethe_app.errors import TemplateUnusable
from lethe_app.paths import shipped_root
from lethe_app.prompt.format.chat_template import ChatTemplate
from lethe_app.prompt.format.constraints import FormatConstraints, adapt_turns
from lethe_app.prompt.format.renderer import Renderer
from lethe_app.prompt.format.thinking import ThinkingMarkers, find_markers, opens_thought
from lethe_app.prompt.macros import MacroContext, expand

FALLBACK_PRESET = "ChatML"
RECOGNITION = shipped_root() / "resources" / "presets" / "recognition.toml"
"""Table of the strings and architectures by which presets are recognised."""

SYSTEM_NAME = "System"
"""Name of the speaker of a system turn."""
_NOBODY = MacroContext("User", "Assistant", datetime.fromtimestamp(0, UTC))
_NAME = re.compile(r"\{\{\s*name\s*\}\}", re.IGNORECASE)


class InstructRenderer:
    """Renders conversations with the strings of an instruct preset."""

    def __init__(
        self,
        preset: InstructPreset,
        names: MacroContext = _NOBODY,
        *,
        bos: str = "",
        adds_bos: bool = False,
        thinking: ThinkingMarkers | None = None,
    ) -> None:
        """Adapt the preset to a model. `bos` and `adds_bos` are the model's: BOS is left out if the tokenizer adds it.

        `thinking` overrides the thinking markers; a preset without thinking still opens none. With thinking off, no
        reply begins with a prefix that opens a thought.
        """
        opens = opens_thought(preset.reply_start)
        markers = thinking or (find_markers(preset.reply_start) if opens and not preset.thinking_start else None)
        adapted = preset
        if markers is not None:
            adapted = preset.model_copy(update={"thinking_start": markers.start, "thinking_end": markers.end})
        used = adapted if preset.thinking_start or opens else preset
        self._for_names = partial(InstructRenderer, preset, bos=bos, adds_bos=adds_bos, thinking=thinking)
        self._bos = "" if adds_bos and preset.bos == bos else preset.bos
        # Presets have a single flag: a format without a system role counts as strict in every respect.
        lenient = preset.system_role
        self._constraints = FormatConstraints(
            system=lenient,
            mid_system=lenient,
            assistant_first=lenient,
            consecutive=lenient,
            system_start=_expand(preset.system_start, names),
            system_end=_expand(preset.system_end, names),
        )
        self.thinking_start = adapted.thinking_start
        self.thinking_end = adapted.thinking_end
        self.add_names = preset.add_names
        self.uses_names = bool(preset.opening_message) or "{{" in preset.model_dump_json(exclude={"original"})
        texts = {field: _expand(text, names) for field, text in used if isinstance(text, str)}
        stops = [_expand(text, names) for text in preset.stop_strings]
        self._names, self._preset = names, used.model_copy(update={**texts, "stop_strings": stops})
        head = self._preset.system_start, self._preset.system_end
        note = self._preset.note_start, self._preset.note_end
        self._wraps = {
            "head": head,
            "system": (head[0] if note[0] is None else note[0], head[1] if note[1] is None else note[1]),
            "user": (self._preset.user_start, self._preset.user_end),
            "assistant": (self._preset.bot_start, self._preset.bot_end),
        }
        found = _stop_strings(self._preset, self.thinking_end)
        self.stop_strings = tuple(self._fill_name(text, PromptTurn("user", "")) for text in found)

    def for_names(self, names: MacroContext) -> InstructRenderer:
        """Return the renderer with the macros in its strings expanded; {{name}} is the speaker of each turn."""
        return self._for_names(names)

    def render(self, turns: Sequence[PromptTurn], *, continue_last: bool = False, thinking: bool = True) -> str:
        """Return the prompt up to the opening of the reply; see `Renderer.render`."""
        assert not continue_last or turns[-1].role == "assistant", "only a reply can be continued"
        fitted = adapt_turns(turns, self._constraints, continue_last=continue_last)
        text = self._bos + "".join(self._render_turns(fitted[:-1] if continue_last else fitted))
        if continue_last:
            return text + self._fill_name(self._preset.bot_start, fitted[-1]) + fitted[-1].content
        before = text.removesuffix("\n") + "\n" if self._preset.reply_on_new_line else text
        opening = self._reply_opening(thinking=thinking)
        return before + (self._fill_name(opening, PromptTurn("assistant", "")) if self.uses_names else opening)

    def _render_turns(self, turns: Sequence[PromptTurn]) -> Iterator[str]:
        preset, first = self._preset, int(bool(turns) and turns[0].role == "system")
        newest = max((number for number, turn in enumerate(turns) if turn.role == "user"), default=-1)
        special = {(first, "user"): preset.first_user_start, (first, "assistant"): preset.first_bot_start}
        special[newest, "user"] = preset.last_user_start
        for number, turn in enumerate(turns):
            if number == first and turn.role != "user" and preset.opening_message:
                yield self._render_opening_message()
            start, end = self._wraps.get("head" if number < first else turn.role, self._wraps["user"])
            start = special.get((number, turn.role)) or start
            if self.uses_names:
                start, end = self._fill_name(start, turn), self._fill_name(end, turn)
            yield start + turn.content + end

    def _render_opening_message(self) -> str:
        text = f"{self._names.user}: {self._preset.opening_message}" if self.add_names else self._preset.opening_message
        text = (self._preset.first_user_start or self._preset.user_start) + text + self._preset.user_end
        return self._fill_name(text, PromptTurn("user", ""))

    def _fill_name(self, text: str, turn: PromptTurn) -> str:
        """Return a string with the name of a turn's speaker."""
        names = {"user": turn.name or self._names.user, "assistant": turn.name or self._names.char}
        return _NAME.sub(lambda _: names.get(turn.role, SYSTEM_NAME), text)

    def _reply_opening(self, *, thinking: bool) -> str:
        """Return the header of the reply, without a trailing space where no name follows it, because the model's first token
        usually begins with one.
        """
        preset = self._preset
        if preset.reply_start and (thinking or not preset.thinking_start):
            return preset.reply_start
        if thinking and preset.thinking_start:
            return preset.bot_start + preset.thinking_start
        if preset.thinking_start and preset.empty_thinking_when_off:
            return preset.bot_start + preset.thinking_start + preset.thinking_end
        return preset.bot_start if preset.add_names else preset.bot_start.rstrip(" ")


def _stop_strings(preset: InstructPreset, thinking_end: str) -> tuple[str, ...]:
    """Return the end of a reply (unless a thought ends the same way), the user's header, and the preset's own stop strings."""
    end = preset.bot_end.strip()
    ends = [] if thinking_end and thinking_end.strip().startswith(end) else [end]
    return tuple(dict.fromkeys(text for text in (*ends, preset.user_start.strip(), *preset.stop_strings) if text))


def _expand(text: str, names: MacroContext) -> str:
    """Return a string with its macros expanded, apart from {{name}}."""
    return "{{name}}".join(expand(part, names) for part in _NAME.split(text)) if "{{" in text else text


def recognise_preset(template: str, architecture: str, control_tokens: Iterable[str]) -> str | None:
    """Return the name of the preset that fits a model whose own template cannot be used, or None."""
    table = tomllib.loads(RECOGNITION.read_text(encoding="utf-8"))
    for text in (template, "\n".join(control_tokens)):
        for name, markers in table["markers"]:
            if text and all(marker in text for marker in markers):
                return str(name)
    by_architecture: dict[str, str] = table["architectures"]
    return by_architecture.get(architecture)


@dataclass(frozen=True)
class RendererChoice:
    """Renderer for a model, and its origin."""

    renderer: Renderer
    template_source: str
    """Origin as the receipt shows it."""
    problem: str = ""
    """Reason why the model's own template is not used, unless the user chose a preset."""


def choose_renderer(
    model: LoadedModel,
    presets: Sequence[InstructPreset],
    preset_name: str,
    moment: datetime,
    thinking: ThinkingMarkers | None = None,
) -> RendererChoice:
    """Return the preset called `preset_name` if it exists, else the model's own template, else the most suitable preset.

    `presets` must include the shipped ones, and `moment` is the date for templates that print one. `thinking` holds the
    user's thinking markers for this model. A hostile template can take two seconds, so call this in a thread.
    """
    by_name = {preset.name: preset for preset in presets}
    if preset_name in by_name:
        return RendererChoice(_build_instruct(by_name[preset_name], model, thinking), f"chosen: {preset_name}")
    problem = f"There is no instruct format called “{preset_name}”." if preset_name else ""
    if model.template:
        try:
            return RendererChoice(_build_template(model, moment, thinking), "model", problem)
        except TemplateUnusable as error:
            # An unusable template is no reason to refuse the model: a preset takes its place and the problem is shown.
            problem = error.message
    else:
        problem = problem or "The model has no chat template."
    name = recognise_preset(model.template, model.file.architecture, model.control_tokens)
    if name in by_name:
        return RendererChoice(_build_instruct(by_name[name], model, thinking), f"recognised: {name}", problem)
    return RendererChoice(_build_instruct(by_name[FALLBACK_PRESET], model, thinking), f"guessed: {FALLBACK_PRESET}", problem)


def _build_template(model: LoadedModel, moment: datetime, thinking: ThinkingMarkers | None) -> ChatTemplate:
    return ChatTemplate(model.template, moment=moment, bos=model.bos, eos=model.eos, adds_bos=model.adds_bos, thinking=thinking)


def _build_instruct(preset: InstructPreset, model: LoadedModel, thinking: ThinkingMarkers | None) -> InstructRenderer:
    return InstructRenderer(preset, bos=model.bos, adds_bos=model.adds_bos, thinking=thinking)
