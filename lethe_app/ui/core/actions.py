"""Table of all actions of the window with titles and shortcuts, for menus, tooltips, the command palette and the shortcut
list.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QEvent
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QWidget

from lethe_app.ui.core.action_spec import ActionGroup, ActionSpec
from lethe_app.ui.core.routes import PAGES

OWN_SPECS = (
    ActionSpec("new", str(QT_TRANSLATE_NOOP("Action", "New conversation")), ("Ctrl+N",), ActionGroup.CONVERSATIONS),
    ActionSpec(
        "incognito", str(QT_TRANSLATE_NOOP("Action", "New incognito conversation")), ("Ctrl+Alt+I",), ActionGroup.CONVERSATIONS
    ),
    ActionSpec(
        "rename", str(QT_TRANSLATE_NOOP("Action", "Rename conversation")), ("F2",), ActionGroup.CONVERSATIONS, is_local=True
    ),
    ActionSpec("end_session", str(QT_TRANSLATE_NOOP("Action", "End conversation")), ("Ctrl+Alt+W",), ActionGroup.CONVERSATIONS),
    ActionSpec(
        "export_session", str(QT_TRANSLATE_NOOP("Action", "Export conversation…")), ("Ctrl+Alt+X",), ActionGroup.CONVERSATIONS
    ),
    ActionSpec(
        "delete", str(QT_TRANSLATE_NOOP("Action", "Delete conversation")), ("Del",), ActionGroup.CONVERSATIONS, is_local=True
    ),
    ActionSpec(
        "find_conversation",
        str(QT_TRANSLATE_NOOP("Action", "Find persona or conversation")),
        ("Ctrl+Shift+F",),
        ActionGroup.CONVERSATIONS,
    ),
    ActionSpec("group", str(QT_TRANSLATE_NOOP("Action", "Group chat…")), ("Ctrl+G",), ActionGroup.CONVERSATIONS),
    ActionSpec(
        "choose_speaker", str(QT_TRANSLATE_NOOP("Action", "Choose next speaker")), ("Ctrl+J",), ActionGroup.CONVERSATIONS
    ),
    ActionSpec("persona_editor", str(QT_TRANSLATE_NOOP("Action", "Edit persona")), ("Ctrl+E",), ActionGroup.PERSONAS),
    ActionSpec(
        "duplicate_persona", str(QT_TRANSLATE_NOOP("Action", "Duplicate persona")), ("Ctrl+Alt+N",), ActionGroup.PERSONAS
    ),
    ActionSpec(
        "delete_persona", str(QT_TRANSLATE_NOOP("Action", "Delete persona…")), ("Ctrl+Alt+Shift+N",), ActionGroup.PERSONAS
    ),
    ActionSpec("import_files", str(QT_TRANSLATE_NOOP("Action", "Import files…")), ("Ctrl+O",), ActionGroup.PERSONAS),
    ActionSpec(
        "import_folder", str(QT_TRANSLATE_NOOP("Action", "Import SillyTavern folder…")), ("Ctrl+Alt+O",), ActionGroup.PERSONAS
    ),
    ActionSpec("export", str(QT_TRANSLATE_NOOP("Action", "Export persona")), ("Ctrl+Shift+X",), ActionGroup.PERSONAS),
    ActionSpec("send", str(QT_TRANSLATE_NOOP("Action", "Send")), ("Return",), ActionGroup.MESSAGES, is_local=True),
    ActionSpec(
        "line_break", str(QT_TRANSLATE_NOOP("Action", "New line")), ("Shift+Return",), ActionGroup.MESSAGES, is_local=True
    ),
    ActionSpec(
        "edit_last",
        str(QT_TRANSLATE_NOOP("Action", "Edit last message (message box empty)")),
        ("Up",),
        ActionGroup.MESSAGES,
        is_local=True,
    ),
    ActionSpec("stop", str(QT_TRANSLATE_NOOP("Action", "Stop generating")), ("Esc",), ActionGroup.MESSAGES),
    ActionSpec(
        "dictate", str(QT_TRANSLATE_NOOP("Action", "Dictate (hold or press)")), ("Ctrl+Shift+Space",), ActionGroup.MESSAGES
    ),
    ActionSpec("regenerate", str(QT_TRANSLATE_NOOP("Action", "Regenerate reply")), ("Ctrl+R",), ActionGroup.MESSAGES),
    ActionSpec("continue_reply", str(QT_TRANSLATE_NOOP("Action", "Continue reply")), ("Ctrl+Shift+R",), ActionGroup.MESSAGES),
    ActionSpec("copy_reply", str(QT_TRANSLATE_NOOP("Action", "Copy last reply")), ("Ctrl+Shift+C",), ActionGroup.MESSAGES),
    ActionSpec("previous_reply", str(QT_TRANSLATE_NOOP("Action", "Previous swipe")), ("Alt+Left",), ActionGroup.MESSAGES),
    ActionSpec("next_reply", str(QT_TRANSLATE_NOOP("Action", "Next swipe")), ("Alt+Right",), ActionGroup.MESSAGES),
    ActionSpec(
        "good_reply",
        str(QT_TRANSLATE_NOOP("Action", "Good reply (reply selected)")),
        ("+",),
        ActionGroup.MESSAGES,
        is_local=True,
    ),
    ActionSpec(
        "bad_reply", str(QT_TRANSLATE_NOOP("Action", "Bad reply (reply selected)")), ("-",), ActionGroup.MESSAGES, is_local=True
    ),
    ActionSpec("speak_replies", str(QT_TRANSLATE_NOOP("Action", "Speak replies")), ("F7",), ActionGroup.MESSAGES),
    ActionSpec("spoken_style", str(QT_TRANSLATE_NOOP("Action", "Spoken style")), ("Shift+F7",), ActionGroup.MESSAGES),
    ActionSpec("read_aloud", str(QT_TRANSLATE_NOOP("Action", "Read last reply aloud")), ("F8",), ActionGroup.MESSAGES),
    ActionSpec("stop_speaking", str(QT_TRANSLATE_NOOP("Action", "Stop speaking")), ("Shift+F8",), ActionGroup.MESSAGES),
    ActionSpec(
        "show_hidden_messages",
        str(QT_TRANSLATE_NOOP("Action", "Show hidden messages")),
        ("Ctrl+Shift+H",),
        ActionGroup.MESSAGES,
    ),
    ActionSpec("memory_panel", str(QT_TRANSLATE_NOOP("Action", "Show or hide memory panel")), ("Ctrl+M",), ActionGroup.MEMORY),
    ActionSpec("rebuild_index", str(QT_TRANSLATE_NOOP("Action", "Rebuild memory index")), ("Ctrl+F5",), ActionGroup.MEMORY),
    ActionSpec("erase_day", str(QT_TRANSLATE_NOOP("Action", "Delete a day…")), ("Ctrl+Alt+Shift+D",), ActionGroup.MEMORY),
    ActionSpec(
        "erase_history",
        str(QT_TRANSLATE_NOOP("Action", "Delete conversations and memories…")),
        ("Ctrl+Alt+Shift+Del",),
        ActionGroup.MEMORY,
    ),
    ActionSpec("models", str(QT_TRANSLATE_NOOP("Action", "Choose model")), ("Ctrl+Shift+M",), ActionGroup.MODELS),
    ActionSpec("palette", str(QT_TRANSLATE_NOOP("Action", "Command palette")), ("Ctrl+K",), ActionGroup.WINDOW),
    ActionSpec("keyboard_shortcuts", str(QT_TRANSLATE_NOOP("Action", "Keyboard shortcuts")), ("F1",), ActionGroup.WINDOW),
    ActionSpec("sidebar", str(QT_TRANSLATE_NOOP("Action", "Show or hide sidebar")), ("Ctrl+B",), ActionGroup.WINDOW),
    ActionSpec("next_pane", str(QT_TRANSLATE_NOOP("Action", "Go to next pane")), ("F6",), ActionGroup.WINDOW),
    ActionSpec("focus_sidebar", str(QT_TRANSLATE_NOOP("Action", "Go to conversations")), ("Ctrl+1",), ActionGroup.WINDOW),
    ActionSpec("focus_chat", str(QT_TRANSLATE_NOOP("Action", "Go to messages")), ("Ctrl+2",), ActionGroup.WINDOW),
    ActionSpec("focus_composer", str(QT_TRANSLATE_NOOP("Action", "Go to message box")), ("Ctrl+3",), ActionGroup.WINDOW),
    ActionSpec("larger_text", str(QT_TRANSLATE_NOOP("Action", "Larger text")), ("Ctrl++", "Ctrl+="), ActionGroup.WINDOW),
    ActionSpec("smaller_text", str(QT_TRANSLATE_NOOP("Action", "Smaller text")), ("Ctrl+-",), ActionGroup.WINDOW),
    ActionSpec("reset_text_size", str(QT_TRANSLATE_NOOP("Action", "Reset text size")), ("Ctrl+0",), ActionGroup.WINDOW),
    ActionSpec("undo", str(QT_TRANSLATE_NOOP("Action", "Undo change")), ("Ctrl+Z",), ActionGroup.WINDOW, is_local=True),
    ActionSpec("redo", str(QT_TRANSLATE_NOOP("Action", "Redo change")), ("Ctrl+Shift+Z",), ActionGroup.WINDOW, is_local=True),
    ActionSpec("notifications", str(QT_TRANSLATE_NOOP("Action", "Recent notifications")), ("Ctrl+Alt+H",), ActionGroup.WINDOW),
    ActionSpec("open_backups", str(QT_TRANSLATE_NOOP("Action", "Open backup folder")), ("Ctrl+Alt+B",), ActionGroup.WINDOW),
    ActionSpec("open_data", str(QT_TRANSLATE_NOOP("Action", "Open data folder")), ("Ctrl+Alt+D",), ActionGroup.WINDOW),
    ActionSpec("about", str(QT_TRANSLATE_NOOP("Action", "About Lethe")), ("Shift+F1",), ActionGroup.WINDOW),
    ActionSpec("quit", str(QT_TRANSLATE_NOOP("Action", "Quit")), ("Ctrl+Q",), ActionGroup.WINDOW),
)
"""Actions that open no page."""
ACTION_SPECS = tuple(sorted((*OWN_SPECS, *PAGES.values()), key=lambda spec: list(ActionGroup).index(spec.group)))
"""All actions by group."""
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
    return next(QCoreApplication.translate("Action", spec.title) for spec in ACTION_SPECS if spec.name == name)


def action_shortcut(name: str) -> str:
    """Return the first shortcut of the action in the notation of the system (⌘ on macOS); empty if it has none."""
    keys = next(spec.keys for spec in ACTION_SPECS if spec.name == name)
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


class Actions:
    """QActions of a window for all actions; those of local ones have no shortcut."""

    def __init__(self, window: QWidget) -> None:
        self._actions: dict[str, QAction] = {}
        for spec in ACTION_SPECS:
            action = QAction(QCoreApplication.translate("Action", spec.title), window)
            action.setObjectName(spec.name)
            if not spec.is_local:
                action.setShortcuts([QKeySequence(keys) for keys in spec.keys])
                window.addAction(action)
            self._actions[spec.name] = action

    def __contains__(self, name: str) -> bool:
        return name in self._actions

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def connect(self, **slots: Callable[[], object]) -> None:
        """Connect each slot to the action of its name."""
        for name, slot in slots.items():
            self._actions[name].triggered.connect(lambda _checked=False, run=slot: run())

    def update_visibility(self, *, is_session_visible: bool, is_welcome_visible: bool) -> None:
        """Update the visibility of actions: whether the session is visible, and whether the welcome page is shown."""
        for name in SESSION_ONLY:
            self._actions[name].setVisible(is_session_visible)
        for name in RETURN_TO_SESSION:
            self._actions[name].setVisible(not is_welcome_visible)
