"""Announcement of a growing reply to screen readers, sentence by sentence."""

from __future__ import annotations

import re
from uuid import UUID

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from lethe_app.ui.core.accessibility import announce, is_screen_reader_active
from lethe_app.ui.transcript.markdown.blocks import strip_formatting
from lethe_app.ui.transcript.model.chat_model import ChatModel

SENTENCE_END = re.compile(r"(?:[.!?…。！？؟][\"”’)*_]*(?=\s)|\n)")


class ReplyAnnouncer(QObject):
    """Announces the sentences of a reply as they are completed, and the rest when the reply is finished."""

    def __init__(self, view: QWidget, model: ChatModel) -> None:
        super().__init__(view)
        self._view, self._model = view, model
        self._reply_id: UUID | None = None
        self._announced_length = 0
        model.reply_grew.connect(self._announce_sentences)
        model.reply_finished.connect(self._announce_rest)

    def _announce_sentences(self) -> None:
        row = self._model.growing_row
        if row is None or not is_screen_reader_active():
            return
        self._select_reply(row)
        text = self._model.text_of(row)[0]
        ends = [match.end() for match in SENTENCE_END.finditer(text, self._announced_length)]
        if ends:
            self._announce_part(row, text[self._announced_length : ends[-1]])
            self._announced_length = ends[-1]

    def _announce_rest(self, row: int) -> None:
        if not is_screen_reader_active():
            return
        self._select_reply(row)
        self._announce_part(row, self._model.text_of(row)[0][self._announced_length :])
        message = self._model.message(row)
        if message is not None and (interruption := self._model.interruption_of(message)):
            announce(self._view, interruption)
        self._reply_id = None

    def _select_reply(self, row: int) -> None:
        reply_id = self._model.outline(row).id
        if reply_id != self._reply_id:
            self._reply_id, self._announced_length = reply_id, 0

    def _announce_part(self, row: int, part: str) -> None:
        """Announce a part of the text of a row; its first part with the speaker."""
        # A part may begin or end within an emphasis, whose asterisks are then not recognised as formatting.
        text = strip_formatting(part).strip("*_ \n")
        if text:
            name = "" if self._announced_length else self._model.speaker_name(row)
            announce(self._view, f"{name}: {text}" if name else text)
