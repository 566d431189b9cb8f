"""What the builder asks of any format, be it a model's own Jinja template or one of our instruct presets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from lethe_app.domain.prompt import PromptTurn


class Renderer(Protocol):
    """Spells a conversation the way one model wants to read it.

    Contents are taken as they are: whoever calls has disarmed control tokens in them. The rendering of some turns is a
    byte-for-byte beginning of the rendering of the same turns with more behind them (up to the opening of the reply), so
    that the engine can keep what it has already read.
    """

    @property
    def stop_strings(self) -> tuple[str, ...]:
        """Texts that only ever come after the end of a reply."""

    @property
    def thinking_start(self) -> str:
        """The marker that opens the model's thinking; empty for models that do not think."""

    @property
    def thinking_end(self) -> str:
        """The marker that closes it."""

    @property
    def add_names(self) -> bool:
        """Does the format want `Name: ` before every message?"""

    def render(self, turns: Sequence[PromptTurn], *, continue_last: bool = False, thinking: bool = True) -> str:
        """The prompt for the next reply, or with `continue_last` one whose last assistant turn is left open.

        Raises TemplateUnusable when the format refuses the conversation.
        """
