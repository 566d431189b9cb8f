"""Choice of a voice in a form: the list is read when the user turns to the field, and a button says a sample."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from PySide6.QtCore import QCoreApplication, QEvent, QLocale, QObject
from PySide6.QtWidgets import QToolButton, QWidget

from lethe_app.errors import LetheError
from lethe_app.services.speech.output import SpeechOutput
from lethe_app.services.speech.voices import Voice
from lethe_app.ui.core.palette import ICON, SPACE_1
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.widgets.buttons import IconButton
from lethe_app.ui.widgets.form import Form

TURNS_TO_FIELD = frozenset({QEvent.Type.FocusIn, QEvent.Type.Enter, QEvent.Type.MouseButtonPress})
"""Events by which the user turns to a field. The list is not read before, because that starts a speech service."""


class VoiceChoices(QObject):
    """Fills the fields called `names` of a form."""

    def __init__(
        self,
        page: QWidget,
        form: Form,
        names: Sequence[str],
        value_of: Callable[[str], str],
        context: PageContext,
        speech: SpeechOutput,
    ) -> None:
        """`value_of` returns the id of the chosen voice of a field."""
        super().__init__(page)
        self._form, self._names, self._value_of, self._context = form, names, value_of, context
        self._speech = speech
        self._is_loaded = False
        self._loading_task: asyncio.Task[None] | None = None
        self.try_buttons: dict[str, QToolButton] = {}
        for name in names:
            form.field_widget(name).installEventFilter(self)
            self.try_buttons[name] = self._add_try_button(name)

    def _add_try_button(self, name: str) -> QToolButton:
        button = IconButton(self._context.theme, "play", self.tr("Try voice"), size=ICON - SPACE_1)
        button.clicked.connect(lambda: self._context.tasks.start_task(self._say_sample(name), key="voice sample"))
        self._form.add_field_button(name, button)
        return button

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in TURNS_TO_FIELD:
            self.start_loading()
        return super().eventFilter(watched, event)

    def show_stored_values(self) -> None:
        """Show the stored voices by their names, as long as the list was not read."""
        if not self._is_loaded:
            for name in self._names:
                voice_id = self._value_of(name)
                self._form.set_choices(name, [(voice_id, short_voice_name(voice_id))] if voice_id else [])

    def start_loading(self, *, again: bool = False) -> None:
        """Read the list of voices, unless it is being read or was read; `again` reads it in any case."""
        is_loading = self._loading_task is not None and not self._loading_task.done()
        if again or not (is_loading or self._is_loaded):
            self._loading_task = self._context.tasks.start_task(self._load(), key=f"voices {id(self)}")

    async def _load(self) -> None:
        voices = await self._speech.list_voices()
        problems = await self._speech.list_problems() if not voices else {}
        self._is_loaded = bool(voices)
        choices = [(voice.voice_id, format_voice(voice)) for voice in voices]
        for name in self._names:
            self._form.set_choices(name, choices)
            self._form.show_error(name, "" if voices else " ".join(map(str, problems.values())))

    async def _say_sample(self, name: str) -> None:
        """Say a sentence in the chosen voice; an error is shown below the field."""
        voice_id = self._value_of(name)
        try:
            await self._speech.connect(voice_id)
        except LetheError as error:
            self._form.show_error(name, str(error))
            return
        self._form.show_error(name, "")
        self._speech.speak_text(self.tr("Good evening. This is how I sound when I read to you."), voice_id=voice_id)


def format_voice(voice: Voice) -> str:
    """Return name and language of a voice."""
    locale = QLocale(voice.language)
    language = QLocale.languageToString(locale.language()) if locale.language() is not QLocale.Language.C else ""
    if not language or language.casefold() in voice.name.casefold():
        return voice.name
    if "-" in voice.language:  # with a territory
        language = f"{language}, {QLocale.territoryToString(locale.territory())}"
    return QCoreApplication.translate("VoiceChoices", "{name} · {language}").format(name=voice.name, language=language)


def short_voice_name(voice_id: str) -> str:
    """Return the name within the id of a voice."""
    return voice_id.rpartition(":")[2].removesuffix(".onnx")
