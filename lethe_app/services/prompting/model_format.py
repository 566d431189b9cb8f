"""Chat format of the loaded model: its own template, or an instruct preset."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from lethe_app.config.options import ModelChoices
from lethe_app.domain.clock import now
from lethe_app.domain.model import LoadedModel
from lethe_app.prompt.control_tokens import ControlTokenFilter
from lethe_app.prompt.format.instruct import RendererChoice, choose_renderer
from lethe_app.prompt.format.thinking import ThinkingMarkers
from lethe_app.services.library import Library
from lethe_app.services.preferences import Preferences


@dataclass(frozen=True)
class ChatFormat:
    """Chat format of a loaded model."""

    model: LoadedModel
    instruct: str
    thinking: ThinkingMarkers | None
    """Markers around its thinking; None if the user set none."""
    choice: RendererChoice
    control_filter: ControlTokenFilter


class ModelFormats:
    """Choose the format of the loaded model, once per model and choice of the user."""

    def __init__(self, library: Library, preferences: Preferences) -> None:
        self._library = library
        self._preferences = preferences
        self._format: ChatFormat | None = None

    async def renderer(self, model: LoadedModel) -> RendererChoice:
        """Return the renderer of a model's chat format."""
        return (await self.format_of(model)).choice

    async def format_of(self, model: LoadedModel) -> ChatFormat:
        """Return the chat format of a model. The first call may take two seconds, in a thread, for a hostile template."""
        name = model.file.path.name
        choices = self._preferences.current.model_choices.get(name, ModelChoices())
        instruct = self._preferences.current.instruct if choices.instruct is None else choices.instruct
        start, end = choices.thinking_start or "", choices.thinking_end or ""
        thinking = ThinkingMarkers(start, end) if start.strip() and end.strip() else None
        chat_format = self._format
        if (
            chat_format is None
            or chat_format.model is not model
            or (chat_format.instruct, chat_format.thinking) != (instruct, thinking)
        ):
            presets = list((await self._library.instruct_presets()).values())
            choice = await asyncio.to_thread(choose_renderer, model, presets, instruct, now(), thinking)
            chat_format = self._format = ChatFormat(model, instruct, thinking, choice, ControlTokenFilter(model.control_tokens))
        return chat_format
