"""Tab “Speech”: which model recognises what the user says, and those that can be downloaded."""

from __future__ import annotations

from lethe_app.domain.model import RemoteModel
from lethe_app.errors import LetheError, SpeechModelMissing
from lethe_app.services.models.downloads import Downloads
from lethe_app.services.preferences import Preferences
from lethe_app.services.speech.dictation import Dictation
from lethe_app.ui.core.formatting import format_size
from lethe_app.ui.core.palette import SPACE_2
from lethe_app.ui.core.tasks import Work
from lethe_app.ui.dialogs.files import ask_for_file
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.card_column import CardColumn
from lethe_app.ui.widgets.labels import create_text_label
from lethe_app.ui.widgets.layouts import build_row


class SpeechModelSheet(CardColumn):
    """Card with the model in use, above those of the downloads, which the page adds."""

    def __init__(self, context: PageContext, downloads: Downloads, preferences: Preferences, dictation: Dictation) -> None:
        super().__init__()
        self._context, self._downloads, self._preferences, self._dictation = context, downloads, preferences, dictation
        column = self.add_card(
            self.tr("Dictation"),
            self.tr(
                "What you say is recognised on this computer by a Whisper model. The sound is never stored, and never leaves"
                " this computer."
            ),
        )
        self.model_label = create_text_label("")
        self.pick_button = build_button(self.tr("Choose file…"), lambda: self._spawn(self._pick_file(), "pick"))
        column.addLayout(build_row((self.model_label, 1), self.pick_button, spacing=SPACE_2))

    def use_model(self, model: RemoteModel) -> None:
        """Recognise with a model that was downloaded."""
        path = self._downloads.find_downloaded(model)
        if path is not None:
            self._spawn(self._preferences.set(dictation_model=str(path)), "use")

    def refresh(self) -> None:
        """Show which model recognises."""
        self._spawn(self._show_model(), "speech model")

    async def _show_model(self) -> None:
        try:
            path = await self._dictation.find_model()
        except SpeechModelMissing as error:  # its remedy leads to this page
            self.model_label.setText(f"{error.message} {self.tr('Download one below, or choose a file.')}")
            return
        except LetheError as error:
            self.model_label.setText(str(error))
            return
        model = next((one for one in await self._dictation.list_models() if one.path == path.resolve()), None)
        if model is None:
            self.model_label.setText(self.tr("{file} is not a complete Whisper model.").format(file=path.name))
            return
        languages = self.tr("many languages") if model.is_multilingual else self.tr("English only")
        self.model_label.setText(
            self.tr("In use: {file} · {languages} · {size}").format(
                file=path.name, languages=languages, size=format_size(model.size)
            )
        )

    async def _pick_file(self) -> None:
        title, kind = self.tr("Choose speech recognition model"), self.tr("Whisper models (*.bin)")
        path = await ask_for_file(self._context.dialog_parent, title, kind)
        if path is not None:
            await self._preferences.set(dictation_model=str(path))

    def _spawn(self, work: Work, key: str) -> None:
        self._context.tasks.start_task(work, key=key)
