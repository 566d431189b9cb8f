"""Table of all actions of the window with titles and shortcuts, for menus, tooltips, the command palette and the shortcut
list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QEvent
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QWidget


@dataclass(frozen=True)
class ActionSpec:
    """Action of the user.

    Keys of an `is_local` action are handled by the focused widget, not by a shortcut of the window; the command palette can
    trigger it if a controller has connected it.
    """

    name: str
    title: str
    keys: tuple[str, ...] = ()
    is_local: bool = False


ACTION_SPECS = (
    ActionSpec("new", str(QT_TRANSLATE_NOOP("Action", "New conversation")), ("Ctrl+N",)),
    ActionSpec("incognito", str(QT_TRANSLATE_NOOP("Action", "New incognito conversation")), ("Ctrl+Alt+I",)),
    ActionSpec("end_session", str(QT_TRANSLATE_NOOP("Action", "End conversation")), ("Ctrl+Alt+W",)),
    ActionSpec("export_session", str(QT_TRANSLATE_NOOP("Action", "Export conversation…")), ("Ctrl+Alt+X",)),
    ActionSpec("persona_editor", str(QT_TRANSLATE_NOOP("Action", "Edit persona")), ("Ctrl+E",)),
    ActionSpec("new_persona", str(QT_TRANSLATE_NOOP("Action", "New persona")), ("Ctrl+Shift+N",)),
    ActionSpec("duplicate_persona", str(QT_TRANSLATE_NOOP("Action", "Duplicate persona")), ("Ctrl+Alt+N",)),
    ActionSpec("delete_persona", str(QT_TRANSLATE_NOOP("Action", "Delete persona…")), ("Ctrl+Alt+Shift+N",)),
    ActionSpec("meet", str(QT_TRANSLATE_NOOP("Action", "Import files…")), ("Ctrl+O",)),
    ActionSpec("import_folder", str(QT_TRANSLATE_NOOP("Action", "Import SillyTavern folder…")), ("Ctrl+Alt+O",)),
    ActionSpec("export", str(QT_TRANSLATE_NOOP("Action", "Export persona")), ("Ctrl+Shift+X",)),
    ActionSpec("user_personas", str(QT_TRANSLATE_NOOP("Action", "You (user personas)")), ("Ctrl+Shift+Y",)),
    ActionSpec("group", str(QT_TRANSLATE_NOOP("Action", "Group chat…")), ("Ctrl+G",)),
    ActionSpec("who_answers", str(QT_TRANSLATE_NOOP("Action", "Choose next speaker")), ("Ctrl+J",)),
    ActionSpec("search", str(QT_TRANSLATE_NOOP("Action", "Find persona or conversation")), ("Ctrl+Shift+F",)),
    ActionSpec("sidebar", str(QT_TRANSLATE_NOOP("Action", "Show or hide sidebar")), ("Ctrl+B",)),
    ActionSpec("memory_panel", str(QT_TRANSLATE_NOOP("Action", "Show or hide memory panel")), ("Ctrl+M",)),
    ActionSpec("inspector", str(QT_TRANSLATE_NOOP("Action", "Prompt inspector")), ("Ctrl+I",)),
    ActionSpec("next_pane", str(QT_TRANSLATE_NOOP("Action", "Go to next pane")), ("F6",)),
    ActionSpec("focus_sidebar", str(QT_TRANSLATE_NOOP("Action", "Go to conversations")), ("Ctrl+1",)),
    ActionSpec("focus_chat", str(QT_TRANSLATE_NOOP("Action", "Go to messages")), ("Ctrl+2",)),
    ActionSpec("focus_composer", str(QT_TRANSLATE_NOOP("Action", "Go to message box")), ("Ctrl+3",)),
    ActionSpec("stop", str(QT_TRANSLATE_NOOP("Action", "Stop generating")), ("Esc",)),
    ActionSpec("dictate", str(QT_TRANSLATE_NOOP("Action", "Dictate (hold or press)")), ("Ctrl+Shift+Space",)),
    ActionSpec("regenerate", str(QT_TRANSLATE_NOOP("Action", "Regenerate reply")), ("Ctrl+R",)),
    ActionSpec("proceed", str(QT_TRANSLATE_NOOP("Action", "Continue reply")), ("Ctrl+Shift+R",)),
    ActionSpec("copy_reply", str(QT_TRANSLATE_NOOP("Action", "Copy last reply")), ("Ctrl+Shift+C",)),
    ActionSpec("previous_reply", str(QT_TRANSLATE_NOOP("Action", "Previous swipe")), ("Alt+Left",)),
    ActionSpec("next_reply", str(QT_TRANSLATE_NOOP("Action", "Next swipe")), ("Alt+Right",)),
    ActionSpec("speak_replies", str(QT_TRANSLATE_NOOP("Action", "Speak replies")), ("F7",)),
    ActionSpec("spoken_style", str(QT_TRANSLATE_NOOP("Action", "Spoken style")), ("Shift+F7",)),
    ActionSpec("read_aloud", str(QT_TRANSLATE_NOOP("Action", "Read last reply aloud")), ("F8",)),
    ActionSpec("stop_speaking", str(QT_TRANSLATE_NOOP("Action", "Stop speaking")), ("Shift+F8",)),
    ActionSpec("models", str(QT_TRANSLATE_NOOP("Action", "Choose model")), ("Ctrl+Shift+M",)),
    ActionSpec("model_manager", str(QT_TRANSLATE_NOOP("Action", "Models and downloads")), ("Ctrl+Shift+L",)),
    ActionSpec("larger", str(QT_TRANSLATE_NOOP("Action", "Larger text")), ("Ctrl++", "Ctrl+=")),
    ActionSpec("smaller", str(QT_TRANSLATE_NOOP("Action", "Smaller text")), ("Ctrl+-",)),
    ActionSpec("normal", str(QT_TRANSLATE_NOOP("Action", "Reset text size")), ("Ctrl+0",)),
    ActionSpec("hidden", str(QT_TRANSLATE_NOOP("Action", "Show hidden messages")), ("Ctrl+Shift+H",)),
    ActionSpec("find", str(QT_TRANSLATE_NOOP("Action", "Search everything")), ("Ctrl+F",)),
    ActionSpec("conversations", str(QT_TRANSLATE_NOOP("Action", "Conversations")), ("Ctrl+Shift+O",)),
    ActionSpec("trash", str(QT_TRANSLATE_NOOP("Action", "Trash")), ("Ctrl+Shift+Del",)),
    ActionSpec(
        "erase_history", str(QT_TRANSLATE_NOOP("Action", "Delete conversations and memories…")), ("Ctrl+Alt+Shift+Del",)
    ),
    ActionSpec("erase_day", str(QT_TRANSLATE_NOOP("Action", "Delete a day…")), ("Ctrl+Alt+Shift+D",)),
    ActionSpec("memories", str(QT_TRANSLATE_NOOP("Action", "Memories")), ("Ctrl+Shift+E",)),
    ActionSpec("rebuild_index", str(QT_TRANSLATE_NOOP("Action", "Rebuild memory index")), ("Ctrl+F5",)),
    ActionSpec("facts", str(QT_TRANSLATE_NOOP("Action", "Facts")), ("Ctrl+Shift+K",)),
    ActionSpec("objections", str(QT_TRANSLATE_NOOP("Action", "Irrelevant memories")), ("Ctrl+Shift+B",)),
    ActionSpec("timeline", str(QT_TRANSLATE_NOOP("Action", "Overview")), ("Ctrl+Shift+T",)),
    ActionSpec("mind", str(QT_TRANSLATE_NOOP("Action", "Mind (moods, plans, thoughts)")), ("Ctrl+Shift+D",)),
    ActionSpec("notebooks", str(QT_TRANSLATE_NOOP("Action", "Notebooks")), ("Ctrl+Shift+J",)),
    ActionSpec("documents", str(QT_TRANSLATE_NOOP("Action", "Documents")), ("Ctrl+Alt+K",)),
    ActionSpec("away", str(QT_TRANSLATE_NOOP("Action", "Background activity")), ("Ctrl+Shift+A",)),
    ActionSpec("dreams", str(QT_TRANSLATE_NOOP("Action", "Dreams")), ("Ctrl+D",)),
    ActionSpec("worlds", str(QT_TRANSLATE_NOOP("Action", "Worlds (lorebooks)")), ("Ctrl+Shift+W",)),
    ActionSpec("settings", str(QT_TRANSLATE_NOOP("Action", "Settings")), ("Ctrl+,",)),
    ActionSpec("research", str(QT_TRANSLATE_NOOP("Action", "Research")), ("Ctrl+Shift+S",)),
    ActionSpec("outgoing", str(QT_TRANSLATE_NOOP("Action", "Network log")), ("Ctrl+Shift+I",)),
    ActionSpec("presets", str(QT_TRANSLATE_NOOP("Action", "Presets (samplers, formats, prompts)")), ("Ctrl+Shift+P",)),
    ActionSpec("palette", str(QT_TRANSLATE_NOOP("Action", "Command palette")), ("Ctrl+K",)),
    ActionSpec("keys", str(QT_TRANSLATE_NOOP("Action", "Keyboard shortcuts")), ("F1",)),
    ActionSpec("notifications", str(QT_TRANSLATE_NOOP("Action", "Recent notifications")), ("Ctrl+Alt+H",)),
    ActionSpec("open_backups", str(QT_TRANSLATE_NOOP("Action", "Open backup folder")), ("Ctrl+Alt+B",)),
    ActionSpec("open_data", str(QT_TRANSLATE_NOOP("Action", "Open data folder")), ("Ctrl+Alt+D",)),
    ActionSpec("about", str(QT_TRANSLATE_NOOP("Action", "About Lethe")), ("Shift+F1",)),
    ActionSpec("quit", str(QT_TRANSLATE_NOOP("Action", "Quit")), ("Ctrl+Q",)),
    ActionSpec("undo", str(QT_TRANSLATE_NOOP("Action", "Undo change")), ("Ctrl+Z",), is_local=True),
    ActionSpec("redo", str(QT_TRANSLATE_NOOP("Action", "Redo change")), ("Ctrl+Shift+Z",), is_local=True),
    ActionSpec("send", str(QT_TRANSLATE_NOOP("Action", "Send")), ("Return",), is_local=True),
    ActionSpec("break", str(QT_TRANSLATE_NOOP("Action", "New line")), ("Shift+Return",), is_local=True),
    ActionSpec("edit_last", str(QT_TRANSLATE_NOOP("Action", "Edit last message (message box empty)")), ("Up",), is_local=True),
    ActionSpec("good", str(QT_TRANSLATE_NOOP("Action", "Good reply (reply selected)")), ("+",), is_local=True),
    ActionSpec("bad", str(QT_TRANSLATE_NOOP("Action", "Bad reply (reply selected)")), ("-",), is_local=True),
    ActionSpec("rename", str(QT_TRANSLATE_NOOP("Action", "Rename conversation")), ("F2",), is_local=True),
    ActionSpec("delete", str(QT_TRANSLATE_NOOP("Action", "Delete conversation")), ("Del",), is_local=True),
)


ACTION_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        str(QT_TRANSLATE_NOOP("Action", "Messages and replies")),
        (
            "send",
            "break",
            "edit_last",
            "stop",
            "dictate",
            "regenerate",
            "proceed",
            "copy_reply",
            "previous_reply",
            "next_reply",
            "good",
            "bad",
            "speak_replies",
            "spoken_style",
            "read_aloud",
            "stop_speaking",
            "hidden",
        ),
    ),
    (
        str(QT_TRANSLATE_NOOP("Action", "Conversations")),
        (
            "new",
            "incognito",
            "rename",
            "end_session",
            "export_session",
            "delete",
            "conversations",
            "search",
            "find",
            "group",
            "who_answers",
        ),
    ),
    (
        str(QT_TRANSLATE_NOOP("Action", "Personas and worlds")),
        (
            "persona_editor",
            "new_persona",
            "duplicate_persona",
            "delete_persona",
            "meet",
            "import_folder",
            "export",
            "user_personas",
            "worlds",
        ),
    ),
    (
        str(QT_TRANSLATE_NOOP("Action", "Memory")),
        (
            "memory_panel",
            "inspector",
            "timeline",
            "memories",
            "facts",
            "notebooks",
            "documents",
            "mind",
            "dreams",
            "objections",
            "rebuild_index",
            "erase_day",
            "erase_history",
        ),
    ),
    (
        str(QT_TRANSLATE_NOOP("Action", "Models, background and internet")),
        ("models", "model_manager", "presets", "away", "research", "outgoing"),
    ),
    (
        str(QT_TRANSLATE_NOOP("Action", "Window")),
        (
            "palette",
            "keys",
            "settings",
            "sidebar",
            "next_pane",
            "focus_sidebar",
            "focus_chat",
            "focus_composer",
            "larger",
            "smaller",
            "normal",
            "undo",
            "redo",
            "trash",
            "notifications",
            "open_backups",
            "open_data",
            "about",
            "quit",
        ),
    ),
)
"""Title and names of each group of actions, for the list of shortcuts."""

RETURN_TO_SESSION = frozenset({"new", "incognito", "rename", "search", "focus_sidebar", "focus_chat", "focus_composer"})
"""Actions that return to the session first if they are used on a page."""
SESSION_ONLY = frozenset(
    {"stop", "dictate", "regenerate", "proceed", "previous_reply", "next_reply"}
    | {"sidebar", "memory_panel", "next_pane", "hidden", "models", "group", "who_answers"}
    | {"copy_reply", "edit_last", "delete", "end_session", "export_session", "speak_replies", "spoken_style", "read_aloud"}
)
"""Actions that are only available while the session is visible, so that no reply is stopped or repeated unseen."""

KEYS_ONLY = frozenset({"send", "break", "good", "bad"})
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
