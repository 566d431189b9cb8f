"""Status line of the model; a click opens the model chooser."""

from __future__ import annotations

import time

from PySide6.QtCore import QLocale, Qt, QTimer
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QSizePolicy

from lethe_app.services.models.recommendation import words_per_second
from lethe_app.ui.core.formatting import abbreviate_tokens, format_count, format_recalled_count
from lethe_app.ui.widgets.buttons import ElidedButton

RESULT_DISPLAY_MS = 10_000
"""Milliseconds for which the figures of the last reply are shown."""


class StatusLine(ElidedButton):
    """Line at the right of the header. The current activity replaces the description of the model while it lasts."""

    def __init__(self, result_display_ms: int = RESULT_DISPLAY_MS) -> None:
        super().__init__(padding=18, min_width=96)
        self.setObjectName("status")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._model_text = self.tr("Opening…")
        self._activity_text = self._background_text = self._web_request_text = self._model_description = ""
        self._timed_text = self._activity_details = self._side_text = ""
        self._timed_since = 0.0
        self._second_timer = QTimer(self, interval=1000)
        self._second_timer.timeout.connect(self._show_seconds)
        self._result_timer = QTimer(self, singleShot=True, interval=result_display_ms)
        self._result_timer.timeout.connect(lambda: self.show_activity(""))
        self._refresh_text()

    # Model

    def show_no_model(self) -> None:
        self._set_model_text(self.tr("No model: choose one"))

    def show_no_model_loaded(self) -> None:
        self._set_model_text(self.tr("No model loaded: your first message loads one"))

    def show_loading(self, name: str, fraction: float) -> None:
        self.show_activity("")  # nothing else can be going on
        self._set_model_text(self.tr("Loading {name}… {percent} %").format(name=name, percent=round(fraction * 100)))

    def show_ready(self, name: str, used_tokens: int, context_size: int) -> None:
        context_text = abbreviate_tokens(context_size)
        words = (
            f"{abbreviate_tokens(used_tokens)} / {context_text}"
            if used_tokens
            else self.tr("{size} context").format(size=context_text)
        )
        self._set_model_text(f"● {name} · {words}", self._describe_context_use(name, used_tokens, context_size))

    def _describe_context_use(self, name: str, used_tokens: int, context_size: int) -> str:
        locale = QLocale()
        if used_tokens:
            template = self.tr("This conversation uses {used} of the {size} tokens in the context of {name}.")
        else:
            template = self.tr("{name} has a context of {size} tokens.")
        description = template.format(name=name, used=locale.toString(used_tokens), size=locale.toString(context_size))
        return f"{description}\n{self.tr('A token is a short word or part of a longer one.')}"

    def show_background(self, text: str) -> None:
        """Show what runs in the background; an empty text removes it."""
        self._background_text = text
        self._refresh_text()

    def show_failed(self, name: str) -> None:
        self._set_model_text(
            self.tr("{name} is not running: reload or choose another").format(name=name or self.tr("The model"))
        )

    # Internet

    def show_web_icon(self, web_icon: QIcon | None) -> None:
        """Show an icon while internet search is allowed; None removes it."""
        self.setIcon(web_icon or QIcon())
        self._refresh_text()

    def show_web_request(self, text: str) -> None:
        """Show what is sent to the internet now, in place of everything else; an empty text removes it."""
        self._web_request_text = text
        self._refresh_text()

    def show_side_activity(self, text: str) -> None:
        """Show what else is under way, in place of the current activity, which goes on; an empty text removes it."""
        self._side_text = text
        self._refresh_text()

    # Current activity

    def show_timed_activity(self, text: str, since: float, details: str = "") -> None:
        """Show an activity with the seconds since the moment `since` of `time.monotonic`, until something else is shown;
        `details` are for the tooltip.
        """
        self._result_timer.stop()
        if not self._second_timer.isActive():
            self._second_timer.start()
        self._timed_text, self._timed_since, self._activity_details = text, since, details
        self._show_seconds()

    def show_result(self, speed: float, reused_tokens: int, prompt_tokens: int, memory_count: int = 0) -> None:
        """Show the speed in tokens per second, in words, and recalled memories of the last reply for `RESULT_DISPLAY_MS`. The
        tooltip counts tokens.
        """
        locale = QLocale()
        words = format_count(words_per_second(speed), self.tr("{n} word/s"), self.tr("{n} words/s"))
        template = self.tr("{speed} tokens/s, reused {reused} of {prompt} tokens of the prompt")
        details = template.format(
            speed=round(speed), reused=locale.toString(reused_tokens), prompt=locale.toString(prompt_tokens)
        )
        shown = [words, *([format_recalled_count(memory_count)] if memory_count else [])]
        self.show_activity(" · ".join(shown), details)
        self._result_timer.start()

    def _show_seconds(self) -> None:
        seconds = int(time.monotonic() - self._timed_since)
        self._activity_text = self.tr("{activity} {seconds} s").format(activity=self._timed_text, seconds=seconds)
        self._refresh_text()

    def _set_model_text(self, text: str, description: str = "") -> None:
        self._model_text, self._model_description = text, description
        self._refresh_text()

    def show_activity(self, text: str, details: str = "") -> None:
        """Show an activity, with `details` for the tooltip; an empty text shows that nothing is going on."""
        self._second_timer.stop()
        self._result_timer.stop()
        self._activity_text, self._activity_details = text, details
        self._refresh_text()

    def _refresh_text(self) -> None:
        model_text = " · ".join(part for part in (self._model_text, self._background_text) if part)
        self.set_full_text(self._web_request_text or self._side_text or self._activity_text or model_text)
        template = self.tr("Internet: {words}") if self._web_request_text else self.tr("Model: {words}")
        parts = [template.format(words=self.full_text.removeprefix("● "))]
        lines = (
            [self.full_text]
            if not self._web_request_text and not self._activity_text
            else [self._web_request_text, self._activity_text, self._activity_details, self._model_text]
        )
        if not self.icon().isNull():
            parts.append(self.tr("Internet search is allowed."))
            lines.append(parts[-1])
        lines += [self._model_description, self.tr("Click to choose another model.") if self._model_description else ""]
        self.setAccessibleName(". ".join(parts))
        self.setAccessibleDescription(self._model_description.replace("\n", " "))
        self.setToolTip("\n".join(line for line in lines if line))
