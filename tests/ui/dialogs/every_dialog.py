"""Makes every dialog there is; run as a program, it says how each lies on the screen it is given.

Run with `python -m tests.ui.dialogs.every_dialog 22`, where the number is the size of the text in pixels.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from uuid import UUID

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QApplication, QDialog, QPushButton, QWidget

import lethe_app.ui
from lethe_app.domain.bundle import Bundle, BundleCounts, BundleScope, Manifest
from lethe_app.domain.chat import Alternative, Degradation, DegradationKind, Message, Role
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.import_notes import ImportNote, NoteKind
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.persona import Persona
from lethe_app.errors import FileError
from lethe_app.paths import Paths
from lethe_app.services.imports.plan import Excerpt, ExcerptKind, ImportItem, ImportPlan, ItemAction, ItemKind
from lethe_app.services.personas.bundles import ExportPreview
from lethe_app.ui.controllers.erasure import DayChoice, DayErasureDialog, ErasureDialog
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.dialogs.bundle_parts import AVATAR_SIZE, TransferProgressDialog
from lethe_app.ui.dialogs.bundles import BundleExportDialog, BundleImportDialog
from lethe_app.ui.dialogs.dialogs import AboutDialog, ConfirmDialog, GrowingScrollArea, TextDialog
from lethe_app.ui.dialogs.group import GroupDialog
from lethe_app.ui.dialogs.image_crop import CropDialog
from lethe_app.ui.dialogs.import_preview import ImportPreviewDialog
from lethe_app.ui.dialogs.message_details import MessageDetailsDialog
from lethe_app.ui.dialogs.shortcuts import ShortcutsDialog
from lethe_app.ui.pages.facts.dialogs import MergeFactsDialog, NewFactDialog
from lethe_app.ui.pages.irrelevant_memories.page import FeedbackRow, ReasonDialog
from lethe_app.ui.pages.mind.reminders import ReminderDialog
from lethe_app.ui.pages.mind.writings import EntryDialog
from lethe_app.ui.pages.notebooks.page import NotebookTitleDialog
from lethe_app.ui.pages.personas.editor import UnsavedChangesDialog
from lethe_app.ui.pages.sessions.dialogs import InsertMessage
from lethe_app.ui.pages.worlds.copying import RememberDialog
from lethe_app.ui.shell.notification import Notification
from lethe_app.ui.shell.notification_history import NotificationsDialog

Make = Callable[[QWidget, Theme], QDialog]
FACTS = [ExtractedFact(fact="Tomas sails."), ExtractedFact(fact="Tomas sails a small boat, and has for years.")]
MIRA = Persona(
    name="Mira",
    unique_name="mira",
    tagline="ship navigator",
    mini_bio="Mira navigates the ketch Petrel on the Nineteen-Day Sea. A former tide clerk, dry, exact and loyal, she argues "
    "with her captain and gives times to the minute. She carries stolen logs that prove the tide tables wrong.",
)
HOLDS = BundleCounts(worlds=2, memories=31, facts=104, notebooks=3, conversations=17, messages=2417)
REPLY = "“Then report nothing. I like the sound of it,” you said. I would have told you about the bell logs."
DISLIKED = FeedbackRow(REPLY, "far too long", datetime(2026, 3, 14, 21, 12, tzinfo=UTC), None, UUID(int=1))


def degraded_reply() -> Message:
    """A reply of which everything there is to say is known."""
    degradations = [
        Degradation(
            kind=kind, values={"count": 3, "tool": "web_search"} if "omitted" in kind or "cut" in kind else {"tool": "x"}
        )
        for kind in DegradationKind
    ]
    told = {"language": "de", "is_sensitive": True, "first_token_ms": 640, "total_ms": 12_400, "is_cut": True}
    reply = Alternative(content=REPLY, model="SmolLM2 135M Instruct", degradations=degradations, **told)
    return Message(session_id=UUID(int=1), role=Role.ASSISTANT, speaker_name="Mira", alternatives=[reply])


def face_of(_persona: Persona) -> QPixmap:
    face = QPixmap(AVATAR_SIZE, AVATAR_SIZE)
    face.fill(Qt.GlobalColor.darkCyan)
    return face


def giving(window: QWidget, theme: Theme) -> QDialog:
    sizes = {BundleScope.PERSONA: 21_000, BundleScope.MEMORIES: 240_000, BundleScope.EVERYTHING: 4_100_000}
    return BundleExportDialog(window, theme, ExportPreview(MIRA, "Tomas", HOLDS, sizes), face_of(MIRA), BundleScope.EVERYTHING)


def meeting(window: QWidget, theme: Theme) -> QDialog:
    made = datetime(2026, 3, 17, 21, 12, tzinfo=UTC)
    manifest = Manifest(made=made, giver="Tomas", name="Mira", holds=HOLDS)
    return BundleImportDialog(window, theme, Bundle(manifest, MIRA), "Mira 2")


def importing(window: QWidget, _theme: Theme) -> QDialog:
    made = datetime(2026, 3, 17, 21, 12, tzinfo=UTC)
    notes = [
        ImportNote(NoteKind.NO_EFFECT, "characterFilter"),
        ImportNote(NoteKind.OUT_OF_RANGE, "entries[3].probability", {"used": "100"}),
        ImportNote(NoteKind.REMOTE_ASSET, "data.assets[1].uri", {"host": "example.org"}),
        ImportNote(NoteKind.SKIPPED, "entries[7]"),
    ]

    def item(kind: ItemKind, name: str, file: str, earlier: str = "") -> ImportItem:
        action = ItemAction.SKIP if earlier else ItemAction.IMPORT
        texts = {
            ExcerptKind.DESCRIPTION: "Keeps the light of Velm. " * 9,
            ExcerptKind.GREETING: "Come in, you are wet through.",
        }
        excerpts = [Excerpt(kind, text) for kind, text in texts.items()] if name == "Vera Lind" else []
        key, some_notes = f"{kind} {name}", notes[: len(name) % 5]
        return ImportItem(kind, key, Path(file), name, made, some_notes, 3, earlier, action, excerpts, len(excerpts))

    items = [
        item(ItemKind.WORLD, "Harbour of a town with a long name", "Harbour.json"),
        item(ItemKind.PERSONA, "Vera Lind", "Vera_Lind_spec_v2_and_a_very_long_file_name_from_a_hub.png"),
        item(ItemKind.PERSONA, "Bo", "Bo.charx", earlier="bo"),
        item(ItemKind.PRESET, "ChatML", "ChatML.json"),
    ]
    errors = [
        FileError("/home/ann/broken.json", "is not valid JSON (line 1, column 2)"),
        FileError("x.png", "is empty", "data.name"),
    ]
    return ImportPreviewDialog(window, ImportPlan(items, errors, {"": 12, "reasoning template": 1}))


DIALOGS: dict[str, Make] = {
    "question": lambda window, _theme: ConfirmDialog(window, "Delete “First night”?", "The Trash gives it back.", "Delete it"),
    "crop": lambda window, theme: CropDialog(window, QImage(320, 200, QImage.Format.Format_RGB32), theme),
    "insert": lambda window, _theme: InsertMessage(window, "Mira", "The message is inserted above the selected one."),
    "reword": lambda window, _theme: TextDialog(window, "Edit message by Mira", "Save changes", "Message text", REPLY),
    "message details": lambda window, _theme: MessageDetailsDialog(window, degraded_reply()),
    "leaving": lambda window, _theme: UnsavedChangesDialog(window, "Mira"),
    "new fact": lambda window, _theme: NewFactDialog(window, "Mira"),
    "one of several": lambda window, _theme: MergeFactsDialog(window, FACTS),
    "reminder": lambda window, _theme: ReminderDialog(window, MemoryUnit(content="Bring the lantern back.")),
    "remember": lambda window, theme: RememberDialog(window, theme, "The Needle", [MIRA], "mira"),
    "giving": giving,
    "meeting": meeting,
    "importing": importing,
    "nothing to import": lambda window, _theme: ImportPreviewDialog(window, ImportPlan()),
    "waiting": lambda window, _theme: TransferProgressDialog(window, "Exporting Mira…"),
    "journal entry": lambda window, _theme: EntryDialog(window, "Mira"),
    "notebook": lambda window, _theme: NotebookTitleDialog(window, "New notebook", "Create", "Harrow Light"),
    "reason": lambda window, _theme: ReasonDialog(window, DISLIKED),
    "who takes part": lambda window, _theme: GroupDialog(window, ["gone"], [MIRA], [MIRA] * 9, face_of),
    "nobody to ask": lambda window, _theme: GroupDialog(window, [], [MIRA], [], face_of),
    "notifications": lambda window, _theme: NotificationsDialog(
        window,
        [
            Notification("“Tomas sails” was forgotten.", button="Undo"),
            Notification("The file could not be read.", "Check that it is a character card.", is_error=True),
            Notification("Lethe ran into an unexpected error.", REPLY, is_error=True, traceback="KeyError"),
        ],
    ),
    "no notifications": lambda window, _theme: NotificationsDialog(window, []),
    "keys": lambda window, _theme: ShortcutsDialog(window),
    "about": lambda window, _theme: AboutDialog(window),
    "day erasure": lambda window, _theme: DayErasureDialog(
        window,
        [DayChoice("mira", "Mira", {date(2026, 3, 17): 212, date(2026, 3, 16): 1}), DayChoice("", "All personas", {})],
        "mira",
    ),
    "erasure": lambda window, _theme: ErasureDialog(window, "Mira"),
}


def kinds() -> set[type[QDialog]]:
    """Every class of dialog that our modules have."""
    for module in pkgutil.walk_packages(lethe_app.ui.__path__, f"{lethe_app.ui.__name__}."):
        importlib.import_module(module.name)
    return set(_below(QDialog))


def _below(kind: type[QDialog]) -> Iterator[type[QDialog]]:
    for each in kind.__subclasses__():
        yield from _below(each)
        if each.__module__.startswith(lethe_app.ui.__name__):
            yield each


def main() -> None:
    application = QApplication([])
    theme = Theme(application, Paths.standard(Path("unused")).resources / "theme", "dark", int(sys.argv[1]))
    window = QWidget()
    window.resize(application.primaryScreen().availableSize())
    sizes: dict[str, tuple[int, int]] = {}
    cut, hidden = [], []
    for name, make in DIALOGS.items():
        dialog = make(window, theme)
        dialog.open()
        for _ in range(5):
            application.processEvents()
        sizes[name] = (dialog.width(), dialog.height())
        for button in dialog.findChildren(QPushButton):
            if button.isVisible() and not dialog.rect().contains(button.geometry()):
                cut.append(f"{name}: {button.text()}")
        for tall in dialog.findChildren(GrowingScrollArea):
            inside = tall.widget()
            reach = tall.viewport().height() + tall.verticalScrollBar().maximum()
            if inside is None or inside.height() > reach or inside.height() < tall.content_height(inside.width()):
                hidden.append(name)
        dialog.close()
    screen = application.primaryScreen().size()
    reported = {"screen": screen.toTuple(), "dialogs": sizes, "buttons cut off": cut, "not reached by scrolling": hidden}
    print(json.dumps(reported))  # noqa: T201 - what it is run for


if __name__ == "__main__":
    main()
