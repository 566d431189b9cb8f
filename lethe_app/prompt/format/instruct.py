"""Rendering with instruct presets, and the choice between a model's own template and a preset."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from lethe_app.domain.model import LoadedModel
from lethe_app.domain.presets import InstructPreset
from lethe_app.domain.prompt import PromptTurn
from lethe_app.errors import TemplateUnusable
from lethe_app.paths import shipped_root
from lethe_app.prompt.format.chat_template import ChatTemplate
from lethe_app.prompt.format.constraints import FormatConstraints, adapt_turns
from lethe_app.prompt.format.renderer import Renderer
from lethe_app.prompt.format.thinking import ThinkingMarkers

FALLBACK_PRESET = "ChatML"
RECOGNITION = shipped_root() / "resources" / "presets" / "recognition.toml"
"""Table of the strings and architectures by which presets are recognised."""


class InstructRenderer:
    """Renders conversations with the strings of an instruct preset."""

    def __init__(
        self, preset: InstructPreset, *, bos: str = "", adds_bos: bool = False, thinking: ThinkingMarkers | None = None
    ) -> None:
        """Adapt the preset to a model. `bos` and `adds_bos` are the model's: BOS is left out if the tokenizer adds it.

        `thinking` overrides the thinking markers; a preset without thinking still opens none.
        """
        adapted = preset
        if thinking is not None:
            adapted = preset.model_copy(update={"thinking_start": thinking.start, "thinking_end": thinking.end})
        self._preset = adapted if preset.thinking_start else preset
        self._bos = "" if adds_bos and preset.bos == bos else preset.bos
        # Presets have a single flag: a format without a system role counts as strict in every respect.
        lenient = preset.system_role
        self._constraints = FormatConstraints(
            system=lenient,
            mid_system=lenient,
            assistant_first=lenient,
            consecutive=lenient,
            system_start=preset.system_start,
            system_end=preset.system_end,
        )
        self.thinking_start = adapted.thinking_start
        self.thinking_end = adapted.thinking_end
        self.add_names = preset.add_names
        self.stop_strings = _stop_strings(adapted)

    def render(self, turns: Sequence[PromptTurn], *, continue_last: bool = False, thinking: bool = True) -> str:
        """Return the prompt up to the opening of the reply; see `Renderer.render`."""
        assert not continue_last or turns[-1].role == "assistant", "only a reply can be continued"
        fitted = adapt_turns(turns, self._constraints, continue_last=continue_last)
        closed = fitted[:-1] if continue_last else fitted
        text = self._bos + "".join(map(self._render_turn, closed))
        if continue_last:
            return text + self._preset.bot_start + fitted[-1].content
        return text + self._reply_opening(thinking=thinking)

    def _render_turn(self, turn: PromptTurn) -> str:
        preset = self._preset
        if turn.role == "assistant":
            return preset.bot_start + turn.content + preset.bot_end
        if turn.role == "system":
            return preset.system_start + turn.content + preset.system_end
        return preset.user_start + turn.content + preset.user_end

    def _reply_opening(self, *, thinking: bool) -> str:
        """Return the header of the reply without a trailing space, because the model's first token usually begins with one."""
        preset = self._preset
        if thinking and preset.reply_start:
            return preset.reply_start
        if thinking and preset.thinking_start:
            return preset.bot_start + preset.thinking_start
        if preset.thinking_start and preset.empty_thinking_when_off:
            return preset.bot_start + preset.thinking_start + preset.thinking_end
        return preset.bot_start.rstrip(" ")


def _stop_strings(preset: InstructPreset) -> tuple[str, ...]:
    """Return the end of a reply (unless a thought ends the same way), the user's header, and the preset's own stop strings."""
    end = preset.bot_end.strip()
    ends = [] if preset.thinking_end and preset.thinking_end.strip().startswith(end) else [end]
    return tuple(dict.fromkeys(text for text in (*ends, preset.user_start.strip(), *preset.stop_strings) if text))


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
