"""Usual words of other programs typed into the command palette and the settings search of a real window.

`palette.json` lists each word with the actions and settings that somebody who types it may mean. It is found if one of them is
among the first three rows of the palette; on the settings page, among the first three settings or the first three actions that
are offered below them. `palette` and `settings` are percent of the words.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtWidgets import QApplication

from lethe_app.config.settings import Settings
from lethe_app.ui.core.actions import ACTION_SPECS, action_title
from lethe_app.ui.core.labels.fields import field_title
from lethe_app.ui.pages.settings.page import SettingsPage
from tests.bench.report import Measured, run
from tests.ui.window_scene import Scene, opened, until

WORDS: list[tuple[str, list[str]]] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
FIRST = 3


def title_of(name: str) -> str:
    """Return the title of an action or setting."""
    return action_title(name) if any(spec.name == name for spec in ACTION_SPECS) else field_title(Settings, name)


def in_palette(scene: Scene, word: str) -> list[str]:
    """Return the titles of the first rows that the palette shows."""
    palette = scene.controller.command_palette
    palette.open_palette()
    palette.search_field.setText(word)
    rows = palette.command_list.model()
    titles = [str(rows.index(row, 0).data()) for row in range(rows.rowCount() - 1)]  # the last one searches everything
    palette.close_palette()
    return titles[:FIRST]


def in_settings(page: SettingsPage, word: str) -> list[str]:
    """Return the titles of the first settings and actions that the settings page shows."""
    page.search.setText(word)
    form = page.form
    cards = [form.column.itemAt(number).widget() for number in range(form.column.count())]
    visible = [(name, form.field_widget(name)) for name in form.field_names if form.field_widget(name).isVisibleTo(page)]
    names = [name for card in cards for name, field in visible if card is not None and card.isAncestorOf(field)]
    return [title_of(name) for name in [*names[:FIRST], *(button.objectName() for button in page.action_buttons[:FIRST])]]


def missed(find: Callable[[str], Sequence[str]]) -> list[str]:
    """Return the words that none of their meanings was found by, with what was found instead."""
    found = {word: find(word) for word, _names in WORDS}
    return [
        f"{word}: {', '.join(found[word])}"
        for word, names in WORDS
        if not {title_of(name) for name in names} & set(found[word])
    ]


async def measured() -> dict[str, list[str]]:
    """Return the missed words of both searches."""
    with tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder)) as scene:
            in_chat = missed(lambda word: in_palette(scene, word))
            scene.window.window_actions["settings"].trigger()
            page = scene.page
            assert isinstance(page, SettingsPage)
            await until(lambda: page.sections.currentRow() == 0)
            return {"palette": in_chat, "settings": missed(lambda word: in_settings(page, word))}


def measure() -> Measured:
    """Percent of the words that find their command in each language, and those that do not."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication([])
    misses = asyncio.run(measured())
    del application
    figures = {name: 100 * (1 - len(words) / len(WORDS)) for name, words in misses.items()}
    return [(f"missed in {name}", word) for name, words in misses.items() for word in words], figures


if __name__ == "__main__":
    run(__doc__, lambda _wanted: measure())
