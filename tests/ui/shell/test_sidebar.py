"""The list of personas and conversations."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from lethe_app.ui.core.formatting import format_session_title
from lethe_app.ui.shell.sidebar import Sidebar
from lethe_app.ui.shell.sidebar_model import PersonaRow, SessionRow

PRESENT = datetime(2026, 11, 20, 12, tzinfo=UTC)
STORM, NIGHT = "guid-storm", "guid-night"


@pytest.fixture
def sidebar(qtbot, theme) -> Sidebar:
    made = Sidebar(theme, lambda: PRESENT)
    qtbot.addWidget(made)
    made.model.set_personas([PersonaRow("aiko", "Aiko", "piano tuner"), PersonaRow("mira", "Mira", "ship navigator")])
    made.model.set_sessions("mira", [session(STORM, "The storm", 0), session(NIGHT, "First night", 1, 212)])
    made.model.set_sessions("aiko", [session("guid-piano", "The stormy piano", 3)])
    made.set_open_session("mira", STORM)
    made.apply_theme()
    made.resize(264, 700)
    made.show()
    return made


def session(guid: str, title: str, days: int, messages: int = 3) -> SessionRow:
    persona = "aiko" if "piano" in guid else "mira"
    return SessionRow(guid, persona, title, PRESENT - timedelta(days=days), messages)


def titles(sidebar: Sidebar) -> list[str]:
    model = sidebar.model
    return [model.data(model.index(row)) for row in range(model.rowCount())]


def middle_of(sidebar: Sidebar, key: str):
    return sidebar.session_list.visualRect(sidebar.model.index_of(key)).center()


def test_only_the_open_persona_shows_its_conversations(sidebar):
    assert titles(sidebar) == ["Aiko", "Mira", "The storm", "First night"]


def test_a_click_opens_a_conversation(sidebar, qtbot):
    with qtbot.waitSignal(sidebar.session_chosen) as chosen:
        QTest.mouseClick(sidebar.session_list.viewport(), Qt.MouseButton.LeftButton, pos=middle_of(sidebar, f"session {NIGHT}"))

    assert chosen.args == [NIGHT]


def test_a_click_on_a_persona_continues_its_conversation(sidebar, qtbot):
    with qtbot.waitSignal(sidebar.persona_chosen) as chosen:
        QTest.mouseClick(sidebar.session_list.viewport(), Qt.MouseButton.LeftButton, pos=middle_of(sidebar, "persona aiko"))

    assert chosen.args == ["aiko"]


def test_arrows_and_enter_open_too(sidebar, qtbot):
    sidebar.focus_list()
    sidebar.session_list.setCurrentIndex(sidebar.model.index_of(f"session {STORM}"))

    with qtbot.waitSignal(sidebar.session_chosen) as chosen:
        QTest.keyClick(sidebar.session_list, Qt.Key.Key_Down)
        QTest.keyClick(sidebar.session_list, Qt.Key.Key_Return)

    assert chosen.args == [NIGHT]


def test_a_search_finds_names_taglines_and_titles_of_everyone(sidebar):
    QTest.keyClicks(sidebar.search_field, "storm")
    assert titles(sidebar) == ["Aiko", "The stormy piano", "Mira", "The storm"]

    sidebar.search_field.clear()
    QTest.keyClicks(sidebar.search_field, "NAVIG")
    assert titles(sidebar) == ["Mira"]

    sidebar.search_field.clear()
    assert titles(sidebar) == ["Aiko", "Mira", "The storm", "First night"]


def test_a_search_without_a_find_says_so(sidebar):
    QTest.keyClicks(sidebar.search_field, "xyz")

    assert sidebar.empty_label.isVisible()
    assert not sidebar.session_list.isVisible()


def test_enter_in_the_search_opens_the_first_conversation_found(sidebar, qtbot):
    QTest.keyClicks(sidebar.search_field, "first")

    with qtbot.waitSignal(sidebar.session_chosen) as chosen:
        QTest.keyClick(sidebar.search_field, Qt.Key.Key_Return)

    assert chosen.args == [NIGHT]
    assert sidebar.search_field.text() == ""


def test_f2_renames_in_place(sidebar, qtbot):
    sidebar.focus_list()
    sidebar.session_list.setCurrentIndex(sidebar.model.index_of(f"session {NIGHT}"))
    QTest.keyClick(sidebar.session_list, Qt.Key.Key_F2)
    field = sidebar.session_list.findChild(QLineEdit)
    assert field.text() == "First night"

    with qtbot.waitSignal(sidebar.rename_requested) as wanted:
        field.selectAll()
        QTest.keyClicks(field, "The second night")
        QTest.keyClick(field, Qt.Key.Key_Return)

    assert wanted.args == [NIGHT, "The second night"]
    assert sidebar.model.find_session(NIGHT).title == "The second night", "a deletion right afterwards names it"


def test_an_empty_or_unchanged_title_renames_nothing(sidebar, qtbot):
    index = sidebar.model.index_of(f"session {NIGHT}")
    with qtbot.assertNotEmitted(sidebar.rename_requested):
        assert not sidebar.model.setData(index, "   ")
        assert not sidebar.model.setData(index, "First night")


def test_del_asks_to_delete_the_conversation_but_never_a_persona(sidebar, qtbot):
    sidebar.focus_list()
    sidebar.session_list.setCurrentIndex(sidebar.model.index_of("persona mira"))
    with qtbot.assertNotEmitted(sidebar.command_chosen):
        QTest.keyClick(sidebar.session_list, Qt.Key.Key_Delete)

    sidebar.session_list.setCurrentIndex(sidebar.model.index_of(f"session {NIGHT}"))
    with qtbot.waitSignal(sidebar.command_chosen) as wanted:
        QTest.keyClick(sidebar.session_list, Qt.Key.Key_Delete)

    assert wanted.args == ["delete", NIGHT]


def test_rows_are_read_out_in_words(sidebar):
    model = sidebar.model
    spoken = [model.data(model.index(row), Qt.ItemDataRole.AccessibleTextRole) for row in range(model.rowCount())]

    assert spoken == [
        "Aiko, piano tuner",
        "Mira, ship navigator, open",
        "The storm, today, 3 messages, open",
        "First night, yesterday, 212 messages",
    ]


def test_a_reply_in_progress_is_marked_on_its_conversation_or_its_folded_persona(sidebar):
    def spoken() -> list[str]:
        model = sidebar.model
        return [model.data(model.index(row), Qt.ItemDataRole.AccessibleTextRole) for row in range(model.rowCount())]

    sidebar.model.set_replying_sessions(frozenset({NIGHT}))
    assert spoken()[1:] == [
        "Mira, ship navigator, open",
        "The storm, today, 3 messages, open",
        "First night, yesterday, 212 messages, A reply is being written",
    ]
    marked = sidebar.grab().toImage()

    sidebar.set_open_session("aiko", "guid-piano")
    assert spoken()[-1] == "Mira, ship navigator, A reply is being written"

    sidebar.set_open_session("mira", STORM)
    sidebar.model.set_replying_sessions(frozenset())
    assert not any("being written" in words for words in spoken())
    assert sidebar.grab().toImage() != marked


def test_news_of_a_conversation_keeps_the_place_in_the_list(sidebar):
    sidebar.session_list.setCurrentIndex(sidebar.model.index_of(f"session {NIGHT}"))

    news = [session("guid-new", "New", 0), session(STORM, "The storm", 0), session(NIGHT, "First night", 1)]
    sidebar.model.set_sessions("mira", news)

    row = sidebar.model.row_at(sidebar.session_list.currentIndex())
    assert row.key == f"session {NIGHT}"


def test_thousands_of_conversations_are_painted_at_once(sidebar, qtbot):
    sidebar.model.set_sessions("mira", [session(f"guid-{number}", f"Talk {number}", number) for number in range(5000)])

    sidebar.grab()

    assert sidebar.model.rowCount() == 5002


def test_first_words_keep_their_quotation_marks_as_a_title():
    assert format_session_title("> *She nods.* “Eleven metres!” ") == "She nods. “Eleven metres!”"
    assert format_session_title("“Who goes there?”") == "“Who goes there?”"
    stored = ("She found a letter in the pocket of her work coat, with" + " a key and a stamp" * 5)[:80]
    assert format_session_title(stored) == "She found a letter in the pocket of her work coat, with a key…"
