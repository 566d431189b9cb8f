"""Table of all actions of the window with titles and shortcuts, for menus, tooltips, the command palette and the shortcut
list.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QWidget

from lethe_app.ui.core.routes import PAGES, ActionGroup, ActionSpec

SHORTCUT_MODIFIERS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
LOCAL_ACTIONS = frozenset({"rename", "delete", "send", "line_break", "edit_last", "good_reply", "bad_reply", "undo", "redo"})
"""Actions whose keys are handled by the focused widget, not by a shortcut of the window."""
OWN_ACTIONS: dict[ActionGroup, tuple[tuple[str, str, str], ...]] = {
    ActionGroup.MESSAGES: (
        ("send", "Send", "Return"),
        ("line_break", "New line", "Shift+Return"),
        ("edit_last", "Edit last message (message box empty)", "Up"),
        ("stop", "Stop generating", "Esc"),
        ("dictate", "Dictate (hold or press)", "Ctrl+Shift+Space"),
        ("regenerate", "Regenerate reply", "Ctrl+R"),
        ("continue_reply", "Continue reply", "Ctrl+Shift+R"),
        ("copy_reply", "Copy last reply", "Ctrl+Shift+C"),
        ("previous_reply", "Previous swipe", "Alt+Left"),
        ("next_reply", "Next swipe", "Alt+Right"),
        ("good_reply", "Good reply (reply selected)", "+"),
        ("bad_reply", "Bad reply (reply selected)", "-"),
        ("speak_replies", "Speak replies", "F7"),
        ("spoken_style", "Spoken style", "Shift+F7"),
        ("read_aloud", "Read last reply aloud", "F8"),
        ("stop_speaking", "Stop speaking", "Shift+F8"),
        ("show_hidden_messages", "Show hidden messages", "Ctrl+Shift+H"),
    ),
    ActionGroup.CONVERSATIONS: (
        ("new", "New conversation", "Ctrl+N"),
        ("incognito", "New incognito conversation", "Ctrl+Alt+I"),
        ("rename", "Rename conversation", "F2"),
        ("end_session", "End conversation", "Ctrl+Alt+W"),
        ("export_session", "Export conversation…", "Ctrl+Alt+X"),
        ("delete", "Delete conversation", "Del"),
        ("find_conversation", "Find persona or conversation", "Ctrl+Shift+F"),
        ("group", "Group chat…", "Ctrl+G"),
        ("choose_speaker", "Choose next speaker", "Ctrl+J"),
    ),
    ActionGroup.PERSONAS: (
        ("persona_editor", "Edit persona", "Ctrl+E"),
        ("duplicate_persona", "Duplicate persona", "Ctrl+Alt+N"),
        ("delete_persona", "Delete persona…", "Ctrl+Alt+Shift+N"),
        ("import_files", "Import files…", "Ctrl+O"),
        ("import_folder", "Import SillyTavern folder…", "Ctrl+Alt+O"),
        ("export", "Export persona", "Ctrl+Shift+X"),
    ),
    ActionGroup.MEMORY: (
        ("memory_panel", "Show or hide memory panel", "Ctrl+M"),
        ("rebuild_index", "Rebuild memory index", "Ctrl+F5"),
        ("erase_day", "Delete a day…", "Ctrl+Alt+Shift+D"),
        ("erase_history", "Delete conversations and memories…", "Ctrl+Alt+Shift+Del"),
    ),
    ActionGroup.MODELS: (("models", "Choose model", "Ctrl+Shift+M"),),
    ActionGroup.WINDOW: (
        ("palette", "Command palette", "Ctrl+K"),
        ("keyboard_shortcuts", "Keyboard shortcuts", "F1"),
        ("sidebar", "Show or hide sidebar", "Ctrl+B"),
        ("next_pane", "Go to next pane", "F6"),
        ("focus_sidebar", "Go to conversations", "Ctrl+1"),
        ("focus_chat", "Go to messages", "Ctrl+2"),
        ("focus_composer", "Go to message box", "Ctrl+3"),
        ("larger_text", "Larger text", "Ctrl++ Ctrl+="),
        ("smaller_text", "Smaller text", "Ctrl+-"),
        ("reset_text_size", "Reset text size", "Ctrl+0"),
        ("undo", "Undo change", "Ctrl+Z"),
        ("redo", "Redo change", "Ctrl+Shift+Z"),
        ("notifications", "Recent notifications", "Ctrl+Alt+H"),
        ("open_data", "Open data folder", "Ctrl+Alt+D"),
        ("repair", "Check and repair data", "Ctrl+Alt+Shift+R"),
        ("about", "About Lethe", "Shift+F1"),
        ("quit", "Quit", "Ctrl+Q"),
    ),
}
"""Name, title and shortcuts of the actions that open no page, by group."""
OWN_SPECS = tuple(
    ActionSpec(name, title, keys, group, is_local=name in LOCAL_ACTIONS)
    for group, actions in OWN_ACTIONS.items()
    for name, title, keys in actions
)
ACTION_SPECS = tuple(sorted((*OWN_SPECS, *PAGES.values()), key=lambda spec: list(ActionGroup).index(spec.group)))
"""All actions by group."""
_SPECS_BY_NAME = {spec.name: spec for spec in ACTION_SPECS}
RENAMED_ACTIONS = {
    "meet": "import_files",
    "timeline": "overview",
    "find": "search_everything",
    "search": "find_conversation",
    "keys": "keyboard_shortcuts",
    "objections": "irrelevant_memories",
    "away": "background_activity",
    "outgoing": "network_log",
    "larger": "larger_text",
    "smaller": "smaller_text",
    "normal": "reset_text_size",
    "hidden": "show_hidden_messages",
    "proceed": "continue_reply",
    "who_answers": "choose_speaker",
    "open_backups": "backups",
}
"""Names by which earlier versions stored the commands used last."""

RETURN_TO_SESSION = frozenset(
    {"new", "incognito", "rename", "find_conversation", "focus_sidebar", "focus_chat", "focus_composer"}
)
"""Actions that return to the session first if they are used on a page."""
SESSION_ONLY = frozenset(
    {"stop", "dictate", "regenerate", "continue_reply", "previous_reply", "next_reply"}
    | {"sidebar", "memory_panel", "next_pane", "show_hidden_messages", "models", "group", "choose_speaker"}
    | {"copy_reply", "edit_last", "delete", "end_session", "export_session", "speak_replies", "spoken_style", "read_aloud"}
)
"""Actions that are only available while the session is visible, so that no reply is stopped or repeated unseen."""

KEYS_ONLY = frozenset({"send", "line_break", "good_reply", "bad_reply"})
"""Actions that are no commands, because they act on what has the focus."""


def action_title(name: str) -> str:
    """Return the translated title of the action called `name`."""
    return QCoreApplication.translate("Action", _SPECS_BY_NAME[name].title)


def action_shortcut(name: str) -> str:
    """Return the first shortcut of the action in the notation of the system (⌘ on macOS); empty if it has none."""
    keys = _SPECS_BY_NAME[name].keys.split()
    return QKeySequence(keys[0]).toString(QKeySequence.SequenceFormat.NativeText) if keys else ""


def action_tooltip(name: str) -> str:
    """Return a tooltip with title and shortcut."""
    return f"{action_title(name)}  {action_shortcut(name)}".rstrip()


def is_idle_undo(event: QEvent, *, has_undo: bool, has_redo: bool) -> bool:
    """Return whether a text field would take the keys of undo or redo though it has nothing to undo or redo. It ignores the
    event then, so that the window's shortcut is activated.
    """
    if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    is_undo, is_redo = event.matches(QKeySequence.StandardKey.Undo), event.matches(QKeySequence.StandardKey.Redo)
    return (is_undo and not has_undo) or (is_redo and not has_redo)


def typed_text(event: QKeyEvent) -> str:
    """Return what a key press types; empty for spaces, control characters and shortcuts."""
    text = event.text().strip()
    return text if text.isprintable() and not event.modifiers() & SHORTCUT_MODIFIERS else ""


class Actions(dict[str, QAction]):
    """QActions of a window for all actions by name; those of local ones have no shortcut."""

    def __init__(self, window: QWidget) -> None:
        super().__init__()
        for spec in ACTION_SPECS:
            action = QAction(QCoreApplication.translate("Action", spec.title), window)
            action.setObjectName(spec.name)
            if not spec.is_local:
                action.setShortcuts([QKeySequence(keys) for keys in spec.keys.split()])
                window.addAction(action)
            self[spec.name] = action

    def connect(self, **slots: Callable[[], object]) -> None:
        """Connect each slot to the action of its name."""
        for name, slot in slots.items():
            self[name].triggered.connect(lambda _checked=False, run=slot: run())

    def update_visibility(self, *, is_session_visible: bool, is_welcome_visible: bool) -> None:
        """Update the visibility of actions: whether the session is visible, and whether the welcome page is shown."""
        for name in SESSION_ONLY:
            self[name].setVisible(is_session_visible)
        for name in RETURN_TO_SESSION:
            self[name].setVisible(not is_welcome_visible)
