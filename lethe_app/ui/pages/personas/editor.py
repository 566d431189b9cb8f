"""Draft of a persona in its form: loading, changing, merging what others wrote, saving, trying it out and leaving."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QFrame, QWidget

from lethe_app.domain.persona import Persona
from lethe_app.errors import FileError
from lethe_app.services.chat.prompt_inspector import PromptInspector
from lethe_app.services.library import Library
from lethe_app.services.models.service import ModelService
from lethe_app.services.personas.draft_chat import DeletedDraftTest, DraftChat
from lethe_app.services.preferences import Preferences
from lethe_app.services.sessions.editing import SessionEditing
from lethe_app.services.sessions.service import SessionService
from lethe_app.ui.core.palette import SPACE_2, SPACE_3, SPACE_4
from lethe_app.ui.core.routes import PersonaRoute, Route
from lethe_app.ui.dialogs.dialogs import QuestionDialog, create_dialog_button, run_dialog
from lethe_app.ui.pages.choice_lists import ChoiceLists
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.page import Page
from lethe_app.ui.pages.personas.draft import Draft, StoredDraft, field_values
from lethe_app.ui.pages.personas.fields import (
    AVATAR,
    MODEL,
    SAMPLERS,
    TASKS,
    TOOLS,
    WORLDS,
    field_title,
    persona_sections,
    user_persona_sections,
)
from lethe_app.ui.pages.personas.form import PersonaForm
from lethe_app.ui.pages.undo_commands import FieldChange
from lethe_app.ui.widgets.buttons import build_button
from lethe_app.ui.widgets.card_column import fill_layout
from lethe_app.ui.widgets.labels import create_text_label
from lethe_app.ui.widgets.layouts import build_row


class MessageBanner(QFrame):
    """Message strip with buttons; hidden until `show_message`, and again after a click on a button."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        self._label, self._buttons = create_text_label(""), QWidget()
        self._row = build_row(spacing=SPACE_2, parent=self._buttons)
        margins = (SPACE_4, SPACE_2, SPACE_4, SPACE_2)
        build_row((self._label, 1), self._buttons, spacing=SPACE_3, margins=margins, parent=self)
        self.hide()

    def show_message(self, text: str, *buttons: tuple[str, Callable[[], object]]) -> None:
        """Show a text with (label, action) buttons; without any there is a button that closes the banner."""
        self._label.setText(text)
        self.setAccessibleName(text)
        shown = [build_button(title, self.hide) for title, _action in buttons] or [build_button(self.tr("Dismiss"), self.hide)]
        for button, (_title, action) in zip(shown, buttons, strict=False):
            button.clicked.connect(lambda _checked=False, action=action: action())
        fill_layout(self._row, shown)
        self.show()


@dataclass(frozen=True)
class PersonaEditorServices:
    """Services that the persona editor calls."""

    library: Library
    preferences: Preferences
    sessions: SessionService
    session_editing: SessionEditing
    draft_chat: DraftChat
    prompt_inspector: PromptInspector
    models: ModelService
    choice_lists: ChoiceLists


class PersonaEditor(Page):
    """Page with the draft of a persona and its form; every change is a command on the undo stack.

    Changes remain a draft until saved: leaving asks, and closing the window stores the draft for the next start. What others
    write into the file meanwhile updates untouched fields; fields that the user changed too keep the user's value.
    """

    draft_changed = Signal()
    """Emitted after a change of the draft or of the saved persona."""
    loaded = Signal()
    """Emitted when the draft is loaded and can be edited."""

    def __init__(self, context: PageContext, services: PersonaEditorServices, draft_file: Path, *, is_user: bool) -> None:
        """Create the editor; unsaved changes are stored in `draft_file`."""
        super().__init__(context.theme, "")
        self.context, self.services = context, services
        self.is_user, self.draft = is_user, Draft(is_user=is_user)
        self.saved: Persona | None = None
        self.shipped: Persona | None = None
        """The persona as shipped with Lethe; None for a persona of the user."""
        self.new_avatars: dict[str, bytes | str] = {}
        """Avatars chosen here, by the name that the draft has for them: the PNG, or its file once it is saved."""
        self._stored_draft = StoredDraft(draft_file)
        self.is_loaded = self.is_closed = False
        self._save_lock, self._chat_lock = asyncio.Lock(), asyncio.Lock()
        self._is_user_input = self._is_discarded = False
        self._is_contested = self._is_broken = False
        """Whether a field was changed both elsewhere and here, and whether the file can no longer be read."""
        self._copy_id = ""
        self.deleted_copy_id = ""
        """Unique name of a test copy that was deleted while its conversation was open below the editor."""
        self.sheet = PersonaForm(user_persona_sections() if is_user else persona_sections(), self.theme)
        self.sheet.setEnabled(False)  # nothing is written into a draft that is about to be replaced
        self.sheet.changed.connect(self.change_field)
        self.sheet.unfinished_changed.connect(self.draft_changed)
        self.sheet.avatar.remove_requested.connect(lambda: self.change_field(AVATAR, ""))
        self.banner = MessageBanner()
        self._stop_merging = services.library.changed.add(lambda _nothing: self._schedule_merge())

    # loading

    async def load_persona(self, persona_id: str) -> None:
        """Load the persona, or the draft that a test copy was made from, with unsaved changes, and then enable editing."""
        library, lists, form = self.services.library, self.services.choice_lists, self.sheet.form
        choices = {WORLDS: await lists.worlds(), SAMPLERS: await lists.samplers(), TOOLS: lists.tools(), TASKS: lists.tasks()}
        known_ids = {one.unique_name for one in [*await library.personas(), *await library.user_personas()]}
        draft_test = await self.services.draft_chat.draft_of(persona_id) if persona_id else None
        original = draft_test.draft.unique_name if draft_test is not None else persona_id
        saved = await library.persona(original) if original in known_ids or (original and draft_test is None) else None
        shipped = await library.shipped_persona(original) if saved is not None else None
        if self.is_closed:
            return
        for name in choices.keys() & set(form.field_names):
            form.set_choices(name, choices[name])
        if saved is not None:
            self.saved, self.draft, self.shipped = saved, Draft(saved), shipped
        if draft_test is not None:
            self.replace_fields(draft_test.draft, self.tr("restoring the draft"))
            self._show_copy(draft_test.copy_id)
        self._restore_unsaved()
        self.is_loaded = True
        self.sheet.setEnabled(True)
        form.show_values(self.draft.values)
        self.draft_changed.emit()
        self.loaded.emit()
        self.first_focus_widget().setFocus()
        if not self.is_user:
            models = await self.services.models.list_chat_models()  # afterwards, because the search reads the disk
            if not self.is_closed:
                form.set_choices(MODEL, [(model.path.name, model.name) for model in models])

    def _restore_unsaved(self) -> None:
        unsaved = self._stored_draft.load_draft(self.saved.unique_name if self.saved else "", is_user=self.is_user)
        if unsaved is not None and not self.draft.is_equivalent_to(unsaved):
            self.replace_fields(unsaved, self.tr("restoring unsaved changes"))
            self.banner.show_message(self.tr("Unsaved changes from the last session were restored. Undo discards them."))

    # changing

    def change_field(self, name: str, value: object) -> None:
        """Set a field as input of the user. Can be undone."""
        old = self.draft.values[name]
        if value != old:
            self._is_user_input = True
            self.undo_stack.push(FieldChange(field_title(name), name, old, value, self._apply_value))
            self._is_user_input = False

    def replace_fields(self, persona: Persona | None, title: str) -> None:
        """Set all fields to those of a persona, if there is one, in a single undo step."""
        changes = list(self.draft.differing_fields(persona)) if persona is not None else []
        if changes:
            self._is_user_input = True
            self.undo_stack.beginMacro(title)
            for name, old, new in changes:
                self.undo_stack.push(FieldChange(title, name, old, new, self._apply_value))
            self.undo_stack.endMacro()
            self._is_user_input = False

    def _apply_value(self, name: str, value: object) -> None:
        """Store and show a value; on undo and redo, scroll to its field."""
        saved_avatar = self.new_avatars.get(str(value)) if name == AVATAR else None
        self.draft.values[name] = saved_avatar if isinstance(saved_avatar, str) else value
        self.sheet.set_field(name, value)
        if not self._is_user_input:
            self.sheet.reveal_field(name)
        self.draft_changed.emit()

    @property
    def persona_name(self) -> str:
        return str(self.draft.values["name"]).strip()

    @property
    def is_dirty(self) -> bool:
        return not self.draft.is_equivalent_to(self.saved)

    def first_focus_widget(self) -> QWidget:
        return self.sheet.field("name")

    def is_showing(self, route: Route) -> bool:
        """Return whether the page edits the persona of the route, for example one that was created on it."""
        return isinstance(route, PersonaRoute) and self.saved is not None and self.saved.unique_name == route.persona_id

    # merging changes of the file

    def _schedule_merge(self) -> None:
        if self.is_loaded and not self._save_lock.locked():
            self.context.tasks.start_task(self._merge_changes())

    async def _merge_changes(self) -> None:
        """Merge changes written since the persona was last read or saved here; nothing happens if the file is missing."""
        before = self.saved
        on_disk = await self._load_from_disk(before.unique_name) if before is not None else None
        # The page may have saved or been closed while the file was being read.
        if before is None or on_disk is None or before is not self.saved or on_disk == before or self.is_closed:
            return
        old, new = field_values(before), field_values(on_disk)
        changed_names = {name for name, value in new.items() if value != old[name]}
        contested = {name for name in changed_names if self.draft.values[name] not in (old[name], new[name])}
        for name in changed_names - contested:
            self.draft.values[name] = new[name]
            self.sheet.set_field(name, new[name])
        self.saved = self.draft.base = on_disk
        self.draft_changed.emit()
        if contested:
            self._is_contested = True
            self._show_conflict(contested)

    async def _load_from_disk(self, unique_name: str) -> Persona | None:
        try:
            return await self.services.library.persona_on_disk(unique_name)
        except FileError:
            self._is_broken = self.services.library.is_own(unique_name)
            return None

    def _show_conflict(self, names: Collection[str]) -> None:
        fields = ", ".join(f"“{title}”" for title in sorted({field_title(name) for name in names}))
        text = self.tr(
            "{fields}: also changed elsewhere in the meantime. Saving keeps your version; the other one goes to the Trash."
        )
        self.banner.show_message(text.format(fields=fields))

    # saving

    async def save_persona(self) -> bool:
        """Save the draft; return False and mark the field if it is not valid."""
        self.sheet.apply_unfinished()
        if not self.persona_name:
            self.sheet.form.show_error("name", self.tr("Name is required."))
            self.sheet.reveal_field("name")
            return False
        async with self._save_lock:  # of two requests at once the second finds everything done
            if self.is_dirty or self.saved is None:
                await self._merge_changes()
                self.saved = self.draft.base = saved = await self._save_draft()
                self.draft.values[AVATAR] = saved.avatar
                self.draft_changed.emit()
                self._is_contested = self._is_broken = False
        return True

    async def _save_draft(self) -> Persona:
        """Write the draft to the user's folder and return the saved persona; the first user persona is put into use at once.

        A shipped persona without changes needs no file of the user's, so that file is moved to the trash.
        """
        draft, library = await self.finish_draft(), self.services.library
        if draft == self.shipped:
            if library.is_own(draft.unique_name):
                await library.delete_persona(draft.unique_name)
            saved = draft
        else:
            saved = await library.save_persona(draft, trash_existing=self._is_contested)
        if self.saved is not None and not saved.is_user:
            await self.services.session_editing.replace_greeting(self.saved, saved)
        preferences = self.services.preferences
        if saved.is_user and not preferences.current.user_persona:
            await preferences.set(user_persona=saved.unique_name)
        unreadable_text = self.tr("The previous file could not be read and is now in the Trash.")
        text = unreadable_text if self._is_broken else ""
        self.context.notifier.notify(self.tr("{name} was saved.").format(name=saved.name), text)
        return saved

    def build_draft(self) -> Persona | None:
        """Return the draft as a persona; None until it is loaded."""
        return self.draft.build_persona(self.tr("Unnamed")) if self.is_loaded else None

    async def finish_draft(self) -> Persona:
        """Return the draft with a newly chosen avatar saved as a file."""
        draft = self.draft.build_persona(self.tr("Unnamed"))
        avatar = self.new_avatars.get(draft.avatar, draft.avatar)
        if isinstance(avatar, bytes):
            avatar = self.new_avatars[draft.avatar] = await self.services.library.save_picture(draft.name, avatar)
        return draft.model_copy(update={"avatar": avatar})

    # trying out

    async def start_chat(self) -> None:
        """Start a conversation with the persona, or with a test copy if the draft has unsaved changes."""
        if self._chat_lock.locked():
            return  # a second click must not start another conversation while the first is being created
        async with self._chat_lock:
            self.sheet.apply_unfinished()
            if self.saved is not None and not self.is_dirty:
                session = await self.services.sessions.new(self.saved.unique_name)
                self.context.open_session(session.guid, None)
                return
            draft = await self.finish_draft()
            session = await self.services.draft_chat.start_session(draft, self.tr("Draft"), self._copy_id)
            self.discard_unsaved()
            self.context.open_session(session.guid, None)
            self.context.notifier.notify(
                self.tr("You are chatting with the draft."),
                self.tr("The draft is a copy with its own memory."),
                self.tr("Back to editor"),
                partial(self.context.navigator.open, PersonaRoute(session.persona_id)),
            )

    def _show_copy(self, copy_id: str) -> None:
        """Show a banner about the test copy of the draft, with buttons to keep or delete it."""
        self._copy_id = copy_id
        tasks = self.context.tasks
        self.banner.show_message(
            self.tr("This is the draft you chatted with. Its test copy is still in the persona list."),
            (self.tr("Keep copy"), tasks.create_callback(self._keep_copy)),
            (self.tr("Delete copy"), tasks.create_callback(self._delete_copy)),
        )

    async def _keep_copy(self) -> None:
        await self.services.draft_chat.keep_copy(self._copy_id)
        self._copy_id = ""

    async def _delete_copy(self) -> None:
        copy_id, self._copy_id = self._copy_id, ""
        deleted = await self.services.draft_chat.delete_copy(copy_id)
        self.deleted_copy_id = copy_id
        self.context.notifier.notify(
            self.tr("The copy and its conversation were deleted."),
            button=self.tr("Undo"),
            action=partial(self._restore_copy, deleted),
        )

    def _restore_copy(self, deleted: DeletedDraftTest) -> None:
        self.deleted_copy_id = ""
        self.context.tasks.start_task(self.services.draft_chat.restore_copy(deleted))

    # leaving

    def discard_unsaved(self) -> None:
        """Drop unsaved changes: neither ask about them nor store them."""
        self._is_discarded = True

    def store_draft(self) -> None:
        """Store unsaved changes for the next start, in case the window is closed or the program is killed."""
        if self.is_loaded and self.is_dirty and not self._is_discarded:
            self._stored_draft.save_draft(self.draft.build_persona("?"), is_new=self.saved is None)
        elif self.is_loaded:
            self._stored_draft.delete_draft()

    async def confirm_leave(self) -> bool:
        self.sheet.apply_unfinished()
        if self._is_discarded or not self.is_loaded or not self.is_dirty:
            return True
        dialog = UnsavedChangesDialog(self.context.dialog_parent, self.title.accessibleName())
        is_answered = await run_dialog(dialog)
        if is_answered and not dialog.is_discarding:
            return await self.save_persona()
        if is_answered:
            self.discard_unsaved()
        return is_answered

    def close_page(self) -> None:
        self.sheet.apply_unfinished()
        self.is_closed = True
        self._stop_merging()
        super().close_page()
        self.store_draft()


class UnsavedChangesDialog(QuestionDialog):
    """Dialog about unsaved changes; Enter saves, Esc keeps editing. It is accepted with both other answers."""

    def __init__(self, parent: QWidget, name: str) -> None:
        tr = QCoreApplication.translate
        super().__init__(parent, tr("UnsavedChangesDialog", "Save changes?"), tr("UnsavedChangesDialog", "Save"))
        self.is_discarding = False
        """Whether the changes are to be discarded instead of saved."""
        self.add_paragraph(self.tr("“{name}” has unsaved changes.").format(name=name))
        self.save_button, self.stay_button = self.primary, self.cancel
        self.stay_button.setText(self.tr("Keep editing"))
        self.discard_button = create_dialog_button(self.tr("Discard changes"), "filled", self._discard)
        self.buttons.insertWidget(0, self.discard_button)
        self.save_button.setFocus()

    def _discard(self) -> None:
        self.is_discarding = True
        self.accept()
