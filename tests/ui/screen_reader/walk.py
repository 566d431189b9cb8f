"""Goes through the window as a screen reader does and prints what it heard as JSON.

Debian's python3 runs it, because `pyatspi` is not on PyPI; it imports nothing of the project.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pyatspi
from gi.repository import GLib

MESSAGE = "Good evening."
CONTROLS = {"push button", "check box", "radio button", "text", "combo box", "spin button", "slider", "toggle button"}
PATIENCE = 60.0


class Listener:
    """What the accessibility bus reported."""

    def __init__(self) -> None:
        self.announced: list[str] = []
        self.focused: list[tuple[str, str]] = []
        pyatspi.Registry.registerEventListener(lambda event: self.announced.append(str(event.any_data)), "object:announcement")
        pyatspi.Registry.registerEventListener(self._on_focus, "object:state-changed:focused")

    def _on_focus(self, event: object) -> None:
        if event.detail1:
            with suppress(GLib.GError):  # gone already
                self.focused.append((event.source.getRoleName(), event.source.name))


def until(condition: Callable[[], object], seconds: float = PATIENCE) -> bool:
    """Process events until the condition holds; False if it never does."""
    context, end = GLib.MainContext.default(), time.monotonic() + seconds
    while time.monotonic() < end:
        while context.pending():
            context.iteration(False)
        if condition():
            return True
        time.sleep(0.02)
    return False


def showing(node: object) -> Iterator[object]:
    """Yield all nodes that are on the screen."""
    if node is None or not node.getState().contains(pyatspi.STATE_SHOWING):
        return
    yield node
    for index in range(min(node.childCount, 40)):
        yield from showing(node.getChildAtIndex(index))


def nameless(window: object) -> list[str]:
    """Return the controls on the screen that have no name, by role and by the name of what contains them."""
    nodes = [node for node in showing(window) if node.getRoleName() in CONTROLS and not node.name]
    return [f"{node.getRoleName()} in {node.parent.getRoleName()} “{node.parent.name}”" for node in nodes]


def has_focused_text(window: object) -> bool:
    """Return whether a text field has the focus, which may have been given before the listener was there."""
    texts = (node for node in showing(window) if node.getRoleName() == "text")
    return any(node.getState().contains(pyatspi.STATE_FOCUSED) for node in texts)


def find_application() -> object:
    desktop = pyatspi.Registry.getDesktop(0)
    found: list[object] = []

    def is_there() -> bool:
        children = (desktop.getChildAtIndex(index) for index in range(desktop.childCount))
        found[:] = [child for child in children if child is not None and child.name == "Lethe" and child.childCount]
        return bool(found)

    assert until(is_there), "the window is not on the accessibility bus"
    return found[0]


def press(key: str) -> None:
    subprocess.run(["xdotool", "key", key], check=True)


def converse(window: object, listener: Listener) -> dict[str, object]:
    """Send a message and listen to the reply."""
    for _ in range(20):
        if until(lambda: has_focused_text(window), PATIENCE / 10):
            break
        # On a busy machine the window may be shown before the window manager gives out the focus.
        subprocess.run(["xdotool", "search", "--onlyvisible", "--name", "Lethe", "windowactivate"], check=False)
    assert has_focused_text(window), "the composer has no focus"
    subprocess.run(["xdotool", "type", MESSAGE], check=True)
    press("Return")
    until(lambda: any(text.endswith("THE END.") for text in listener.announced))
    reply, rows = list(listener.announced), [node.name for node in showing(window) if node.getRoleName() == "list item"]
    # The newest message, the one above, back again, and its menu, whose last entry deletes it after a question.
    focused = []
    for key in (
        "shift+Tab",
        "Up",
        "Down",
        "Return",
        "Up",
        "Return",
        "Return",
    ):
        listener.focused.clear()
        press(key)
        until(lambda: False, 0.7)
        focused.append(listener.focused[-1:])
    until(lambda: len(listener.announced) > len(reply), 10)
    return {"reply": reply, "rows": rows, "deletion": listener.announced[len(reply) :], "focused": focused}


def visit(window: object, listener: Listener, keys: str) -> dict[str, object]:
    """Open a page by its keys and leave it again."""
    before = window.name
    listener.focused.clear()
    press(keys)
    until(lambda: window.name != before, 5)
    until(lambda: False, 0.5)
    report = {"title": window.name, "focused": listener.focused[-1:], "nameless": nameless(window)}
    press("Escape")
    until(lambda: window.name == before, 5)
    return report


def main() -> None:
    listener = Listener()
    window = find_application().getChildAtIndex(0)
    until(lambda: any(node.name == "Conversation" for node in showing(window)))
    report = {"nameless": nameless(window), "conversation": converse(window, listener)}
    report["pages"] = {keys: visit(window, listener, keys) for keys in sys.argv[1:]}
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    main()
