"""Cards of models to download: purpose, size, licence and progress."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal, SignalInstance
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from lethe_app.domain.model import DownloadProgress, DownloadStage, RemoteModel
from lethe_app.ui.core.formatting import size_in_words
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.pages.models.labels import download_in_words
from lethe_app.ui.pages.page import explanation, headline


class DownloadOffer(QFrame):
    """Card of a model that can be downloaded."""

    wanted = Signal(object)
    stopped = Signal(object)
    unwanted = Signal(object)
    """The partial download is to be discarded."""
    use_wanted = Signal(object)

    def __init__(self, model: RemoteModel, free: int, parent: QWidget | None = None) -> None:
        """Create the card; `free` is the free memory in bytes."""
        super().__init__(parent)
        self.setProperty("panel", True)
        self.setAccessibleName(model.name)
        self.model = model
        # What the button does depends on the state; its one connection calls `_act`.
        self._act: Callable[[], None] = lambda: None
        fits = free >= model.memory
        needs = self.tr("needs about {memory} of free memory").format(memory=size_in_words(model.memory))
        facts = [size_in_words(model.size), needs, model.licence]
        title = QHBoxLayout()
        title.setSpacing(SPACE_3)
        title.addWidget(headline(model.name))
        self.mark = QLabel("" if fits else self.tr("more than is currently free"))
        self.mark.setProperty("small", True)
        title.addWidget(self.mark)
        title.addStretch(1)
        self.state = explanation("")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("Download of {name}").format(name=model.name))
        self.button = QPushButton()
        self.button.clicked.connect(self._press)
        self.drop = QPushButton(self.tr("Discard"))
        self.drop.setToolTip(self.tr("Discard the partial download"))
        self.drop.setAccessibleName(self.tr("Discard the partial download of {name}").format(name=model.name))
        self.drop.setProperty("filled", True)
        self.drop.clicked.connect(lambda: self.unwanted.emit(model))
        words = QVBoxLayout()
        words.setSpacing(SPACE_2)
        words.addLayout(title)
        why = QLabel(model.why)
        why.setWordWrap(True)
        words.addWidget(why)
        words.addWidget(explanation(" · ".join(fact for fact in facts if fact)))
        words.addWidget(self.state)
        words.addWidget(self.bar)
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_4)
        row.setSpacing(SPACE_4)
        row.addLayout(words, 1)
        buttons = QVBoxLayout()
        buttons.setSpacing(SPACE_2)
        buttons.addWidget(self.button)
        buttons.addWidget(self.drop)
        buttons.addStretch(1)
        row.addLayout(buttons)

    def show_news(self, news: DownloadProgress | None, *, is_here: bool, kept: int) -> None:
        """Show the progress; `is_here` is true if the file is complete, `kept` is the size of a partial download in bytes."""
        running = news is not None and not news.is_over
        self.bar.setVisible(running)
        if news is not None:
            self.bar.setRange(0, 1000 if news.total else 0)
            self.bar.setValue(round(1000 * news.done / news.total) if news.total else 0)
        left = self.tr("{kept} already downloaded.").format(kept=size_in_words(kept)) if kept else ""
        told = download_in_words(news) if news is not None and not is_here else left
        self.state.setText(told)
        self.state.setVisible(bool(told))
        self.state.setProperty("complaint", news is not None and news.stage is DownloadStage.FAILED)
        # Qt evaluates a style sheet's property selectors only when a widget is polished.
        self.state.style().polish(self.state)
        self.drop.setVisible(bool(kept) and not is_here and not running)
        if is_here:
            self._offer(self.tr("Use model"), self.use_wanted, primary=True)
        elif running:
            self._offer(self.tr("Stop"), self.stopped)
        else:
            self._offer(self.tr("Resume") if kept else self.tr("Download"), self.wanted)

    def _press(self) -> None:
        self._act()

    def _offer(self, words: str, signal: SignalInstance, *, primary: bool = False) -> None:
        self.button.setText(words)
        self.button.setAccessibleName(f"{words}: {self.model.name}")
        self.button.setProperty("primary", primary)
        self.button.setProperty("filled", not primary)
        self.button.style().polish(self.button)
        self._act = lambda: signal.emit(self.model)
