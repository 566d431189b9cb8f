"""Interface of a chat format: a model's own Jinja template or an instruct preset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from lethe_app.domain.prompt import PromptTurn
from lethe_app.prompt.macros import MacroContext


class Renderer(Protocol):
    """Renders conversations in the format of one model.

    Contents are inserted as they are: the caller has disarmed control tokens in them. The rendering of some turns is a
    byte-for-byte prefix of the rendering of the same turns with more after them (up to the opening of the reply), so that
    the KV cache can be reused.
    """

    @property
    def stop_strings(self) -> tuple[str, ...]:
        """Texts that occur only after the end of a reply."""

    @property
    def thinking_start(self) -> str:
        """Marker that opens the model's thinking; empty for models without thinking."""

    @property
    def thinking_end(self) -> str:
        """Marker that closes the model's thinking."""

    @property
    def add_names(self) -> bool:
        """True if the format requires `Name: ` before every message."""

    @property
    def uses_names(self) -> bool:
        """True if the format itself contains names of the participants, so that `for_names` is needed."""

    def for_names(self, names: MacroContext) -> Renderer:
        """Return the renderer for a conversation of these participants, whose names some formats write before each turn."""

    def render(self, turns: Sequence[PromptTurn], *, continue_last: bool = False, thinking: bool = True) -> str:
        """Return the prompt for the next reply, or with `continue_last` one whose last assistant turn is left open.

        Raise TemplateUnusable if the format refuses the conversation.
        """
