"""Every action of the window with its title and keys in one table, for menus, tooltips and the list of shortcuts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget


@dataclass(frozen=True)
class ActionSpec:
    """Something the user can ask for. `is_local` keys are handled by the field that has the focus, not by the window."""

    name: str
    title: str
    keys: tuple[str, ...] = ()
    is_local: bool = False


WISHES = (
    ActionSpec("new", str(QT_TRANSLATE_NOOP("Wish", "New conversation")), ("Ctrl+N",)),
    ActionSpec("persona_editor", str(QT_TRANSLATE_NOOP("Wish", "Edit the persona")), ("Ctrl+E",)),
    ActionSpec("new_persona", str(QT_TRANSLATE_NOOP("Wish", "New persona")), ("Ctrl+Shift+N",)),
    ActionSpec("meet", str(QT_TRANSLATE_NOOP("Wish", "Meet a persona from a file")), ("Ctrl+O",)),
    ActionSpec("user_personas", str(QT_TRANSLATE_NOOP("Wish", "Who you are")), ("Ctrl+Shift+Y",)),
    ActionSpec("group", str(QT_TRANSLATE_NOOP("Wish", "Ask others in")), ("Ctrl+G",)),
    ActionSpec("who_answers", str(QT_TRANSLATE_NOOP("Wish", "Who answers")), ("Ctrl+J",)),
    ActionSpec("search", str(QT_TRANSLATE_NOOP("Wish", "Find a persona or conversation")), ("Ctrl+Shift+F",)),
    ActionSpec("sidebar", str(QT_TRANSLATE_NOOP("Wish", "Show or hide the sidebar")), ("Ctrl+B",)),
    ActionSpec("memory_panel", str(QT_TRANSLATE_NOOP("Wish", "Show or hide what was remembered")), ("Ctrl+M",)),
    ActionSpec("inspector", str(QT_TRANSLATE_NOOP("Wish", "Look at the prompt")), ("Ctrl+I",)),
    ActionSpec("next_pane", str(QT_TRANSLATE_NOOP("Wish", "Go to the next pane")), ("F6",)),
    ActionSpec("focus_sidebar", str(QT_TRANSLATE_NOOP("Wish", "Go to the conversations")), ("Ctrl+1",)),
    ActionSpec("focus_chat", str(QT_TRANSLATE_NOOP("Wish", "Go to the messages")), ("Ctrl+2",)),
    ActionSpec("focus_composer", str(QT_TRANSLATE_NOOP("Wish", "Go to the writing field")), ("Ctrl+3",)),
    ActionSpec("stop", str(QT_TRANSLATE_NOOP("Wish", "Stop the reply")), ("Esc",)),
    ActionSpec("regenerate", str(QT_TRANSLATE_NOOP("Wish", "Another reply")), ("Ctrl+R",)),
    ActionSpec("proceed", str(QT_TRANSLATE_NOOP("Wish", "Continue the reply")), ("Ctrl+Shift+R",)),
    ActionSpec("previous_reply", str(QT_TRANSLATE_NOOP("Wish", "Previous wording")), ("Alt+Left",)),
    ActionSpec("next_reply", str(QT_TRANSLATE_NOOP("Wish", "Next wording")), ("Alt+Right",)),
    ActionSpec("models", str(QT_TRANSLATE_NOOP("Wish", "Choose a model")), ("Ctrl+Shift+M",)),
    ActionSpec("model_manager", str(QT_TRANSLATE_NOOP("Wish", "Models and where to get them")), ("Ctrl+Shift+L",)),
    ActionSpec("larger", str(QT_TRANSLATE_NOOP("Wish", "Larger text")), ("Ctrl++", "Ctrl+=")),
    ActionSpec("smaller", str(QT_TRANSLATE_NOOP("Wish", "Smaller text")), ("Ctrl+-",)),
    ActionSpec("normal", str(QT_TRANSLATE_NOOP("Wish", "Normal text size")), ("Ctrl+0",)),
    ActionSpec("hidden", str(QT_TRANSLATE_NOOP("Wish", "Show hidden messages")), ("Ctrl+Shift+H",)),
    ActionSpec("find", str(QT_TRANSLATE_NOOP("Wish", "Find in everything")), ("Ctrl+F",)),
    ActionSpec("conversations", str(QT_TRANSLATE_NOOP("Wish", "All conversations")), ("Ctrl+Shift+O",)),
    ActionSpec("trash", str(QT_TRANSLATE_NOOP("Wish", "Trash")), ("Ctrl+Shift+Del",)),
    ActionSpec("memories", str(QT_TRANSLATE_NOOP("Wish", "Memories")), ("Ctrl+Shift+E",)),
    ActionSpec("rebuild_index", str(QT_TRANSLATE_NOOP("Wish", "Rebuild the memory index")), ("Ctrl+F5",)),
    ActionSpec("facts", str(QT_TRANSLATE_NOOP("Wish", "Facts")), ("Ctrl+Shift+K",)),
    ActionSpec("objections", str(QT_TRANSLATE_NOOP("Wish", "What did not belong")), ("Ctrl+Shift+B",)),
    ActionSpec("timeline", str(QT_TRANSLATE_NOOP("Wish", "What do you remember about me?")), ("Ctrl+Shift+T",)),
    ActionSpec("mind", str(QT_TRANSLATE_NOOP("Wish", "Moods, plans and thoughts")), ("Ctrl+Shift+D",)),
    ActionSpec("notebooks", str(QT_TRANSLATE_NOOP("Wish", "Notebooks")), ("Ctrl+Shift+J",)),
    ActionSpec("away", str(QT_TRANSLATE_NOOP("Wish", "While you were away")), ("Ctrl+Shift+A",)),
    ActionSpec("dreams", str(QT_TRANSLATE_NOOP("Wish", "Dreams")), ("Ctrl+D",)),
    ActionSpec("worlds", str(QT_TRANSLATE_NOOP("Wish", "Worlds and their entries")), ("Ctrl+Shift+W",)),
    ActionSpec("settings", str(QT_TRANSLATE_NOOP("Wish", "Settings")), ("Ctrl+,",)),
    ActionSpec("research", str(QT_TRANSLATE_NOOP("Wish", "Find out about…")), ("Ctrl+Shift+S",)),
    ActionSpec("outgoing", str(QT_TRANSLATE_NOOP("Wish", "What left this computer")), ("Ctrl+Shift+I",)),
    ActionSpec("presets", str(QT_TRANSLATE_NOOP("Wish", "Presets: samplers, formats, system prompts")), ("Ctrl+Shift+P",)),
    ActionSpec("palette", str(QT_TRANSLATE_NOOP("Wish", "All commands")), ("Ctrl+K",)),
    ActionSpec("keys", str(QT_TRANSLATE_NOOP("Wish", "Keyboard shortcuts")), ("F1",)),
    ActionSpec("quit", str(QT_TRANSLATE_NOOP("Wish", "Quit")), ("Ctrl+Q",)),
    ActionSpec("send", str(QT_TRANSLATE_NOOP("Wish", "Send")), ("Return",), is_local=True),
    ActionSpec("break", str(QT_TRANSLATE_NOOP("Wish", "New line")), ("Shift+Return",), is_local=True),
    ActionSpec(
        "edit_last", str(QT_TRANSLATE_NOOP("Wish", "Edit your last message (from an empty field)")), ("Up",), is_local=True
    ),
    ActionSpec("good", str(QT_TRANSLATE_NOOP("Wish", "A good reply (on a reply)")), ("+",), is_local=True),
    ActionSpec("bad", str(QT_TRANSLATE_NOOP("Wish", "Not a good reply (on a reply)")), ("-",), is_local=True),
    ActionSpec("rename", str(QT_TRANSLATE_NOOP("Wish", "Rename the conversation")), ("F2",), is_local=True),
    ActionSpec("delete", str(QT_TRANSLATE_NOOP("Wish", "Delete the conversation")), ("Del",), is_local=True),
)


LEADS_BACK = frozenset({"new", "search", "focus_sidebar", "focus_chat", "focus_composer"})
"""Asked for on a page, these go back to the conversation first."""
BESIDE_IT = frozenset(
    {"stop", "regenerate", "proceed", "previous_reply", "next_reply"}
    | {"sidebar", "memory_panel", "next_pane", "hidden", "models", "group", "who_answers"}
)
"""These are there only while the conversation can be seen: nobody repeats a reply or stops one unseen."""


def title_of(name: str) -> str:
    """The translated title of the wish called `name`."""
    return next(QCoreApplication.translate("Wish", wish.title) for wish in WISHES if wish.name == name)


def keys_of(name: str) -> str:
    """The first keys of the wish as this system writes them (⌘ on a Mac)."""
    keys = next(wish.keys for wish in WISHES if wish.name == name)
    return QKeySequence(keys[0]).toString(QKeySequence.SequenceFormat.NativeText) if keys else ""


def hint(name: str) -> str:
    """A tooltip: title and keys."""
    return f"{title_of(name)}  {keys_of(name)}".rstrip()


class Actions:
    """The table as QActions of one window."""

    def __init__(self, window: QWidget) -> None:
        self._actions: dict[str, QAction] = {}
        self.lead_back: Callable[[Callable[[], object]], None] = _at_once
        """Does something in the conversation, from wherever the user is."""
        for wish in WISHES:
            if wish.is_local:
                continue
            action = QAction(QCoreApplication.translate("Wish", wish.title), window)
            action.setObjectName(wish.name)
            action.setShortcuts([QKeySequence(keys) for keys in wish.keys])
            window.addAction(action)
            self._actions[wish.name] = action

    def __contains__(self, name: str) -> bool:
        return name in self._actions

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def connect(self, **slots: Callable[[], object]) -> None:
        """Do `slots[name]` whenever the wish `name` is asked for."""
        for name, slot in slots.items():
            do = partial(self._do_there, slot) if name in LEADS_BACK else slot
            self._actions[name].triggered.connect(lambda _checked=False, do=do: do())

    def _do_there(self, slot: Callable[[], object]) -> None:
        self.lead_back(slot)

    def follow(self, *, conversation: bool, greeting: bool) -> None:
        """What is on display: the conversation, the greeting of the first start, or a page."""
        for name in BESIDE_IT:
            self._actions[name].setVisible(conversation)
        for name in LEADS_BACK:
            self._actions[name].setVisible(not greeting)


def _at_once(do: Callable[[], object]) -> None:
    do()
