"""Categories and tags in the list of memories: to be written, to narrow the list, and to be searched by."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QToolButton

from lethe_app.domain.memory import MemoryUnit
from lethe_app.ui.pages.memories.page import MemoryPage
from lethe_app.ui.widgets.row_fields import KeyValueField
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")
PIP = MemoryUnit(name="Pip", content="A terrier.", filed_under="family/pets", tags=["dog"])
INES = MemoryUnit(name="Ines", content="Lives in Porto.", filed_under="family")
LAMP = MemoryUnit(name="Lamp", content="It is dark.", tags=["dog"])
CARD = MemoryUnit(name="Card", content="Pay by card.", metadata={"source": "inferred", "requires_user_permission": "true"})
ROPE = MemoryUnit(name="Rope", content="It is wet.")


async def page_of(scene: Scene, *memories: MemoryUnit) -> MemoryPage:
    for memory in memories:
        await scene.services.memory.memorize("mira", memory, check=False)
    page = scene.open_page("memories", MemoryPage)
    await until(lambda: page.rows.row_total >= len(memories) and page.filed_filter.count() > 1)
    return page


def shown(page: MemoryPage) -> set[str]:
    return {line.name for line in page.rows.visible_rows}


async def test_a_category_shows_what_lies_in_it_and_its_branches_and_a_tag_what_carries_it(
    tmp_path: Path, echo_model: Callable[..., Path]
):
    async with opened(tmp_path / "home", echo_model("Indeed.")) as scene:
        page = await page_of(scene, PIP, INES, LAMP, ROPE)
        filed = page.filed_filter
        assert filed.isVisible()
        assert [filed.itemText(place).split() for place in range(filed.count())] == [
            ["All", "categories", "and", "tags"],
            ["family", "2"],
            ["pets", "1"],
            [],
            ["#dog", "2"],
        ]

        filed.select_key("family")
        assert shown(page) == {"Pip", "Ines"}
        filed.select_key("family/pets")
        assert shown(page) == {"Pip"}
        filed.select_key("#dog")
        assert shown(page) == {"Pip", "Lamp"}
        filed.select_key("")
        assert shown(page) >= {"Pip", "Ines", "Lamp", "Rope"}


async def test_a_memory_is_filed_in_its_form_and_found_by_these_words(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path / "home", echo_model("Indeed.")) as scene:
        page = await page_of(scene, PIP, ROPE)
        page.table.select_row(str(ROPE.guid))
        await until(lambda: page.detail.memory is not None and page.detail.memory.guid == ROPE.guid)
        field = page.detail.form.field_widget("filed_under")
        assert isinstance(field, QLineEdit)
        assert not field.isVisible()
        page.detail.form.advanced_chip.click()
        assert field.isVisible()
        field.setFocus()

        QTest.keyClicks(field, "rigging/mast-head")
        tags = page.detail.form.field_widget("tags")
        tags.setFocus()
        QTest.keyClicks(tags.focusProxy(), "hemp")
        QTest.keyClick(tags.focusProxy(), Qt.Key.Key_Return)
        await page.saver.save()

        memory = await scene.services.memory_lists.load_memory(ROPE.guid)
        assert (memory.filed_under, memory.tags) == ("rigging/mast-head", ["hemp"])
        for words in ("What about the mast?", "And the hemp?"):
            assert ROPE.guid in {one.memory for one in await scene.services.memory_lookup.search("mira", words)}
        await until(lambda: "rigging/mast-head" in page.filed_filter.categories)

        page.undo_stack.undo()
        page.undo_stack.undo()
        await page.saver.save()
        memory = await scene.services.memory_lists.load_memory(ROPE.guid)
        assert (memory.filed_under, memory.tags) == ("", [])


async def test_advanced_fields_are_shown_where_they_are_set_and_on_request(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path / "home", echo_model("Indeed.")) as scene:
        page = await page_of(scene, PIP, ROPE)
        for memory, is_shown in ((PIP, True), (ROPE, False)):
            page.table.select_row(str(memory.guid))
            await until(lambda guid=memory.guid: page.detail.memory is not None and page.detail.memory.guid == guid)
            assert page.detail.form.field_widget("tags").isVisible() == is_shown
            assert not page.detail.form.field_widget("trigger_chance").isVisible()

        assert not page.rebuild_button.isVisible()
        page.detail.form.advanced_chip.click()

        assert page.detail.form.field_widget("trigger_chance").isVisible()
        await until(page.rebuild_button.isVisible)
        await until(lambda: "memories" in scene.services.preferences.current.advanced_pages)


async def test_categories_there_are_are_offered_while_one_is_typed(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path / "home", echo_model("Indeed.")) as scene:
        page = await page_of(scene, PIP, ROPE)
        field = page.detail.form.field_widget("filed_under")
        assert isinstance(field, QLineEdit)
        completer = field.completer()

        completer.setCompletionPrefix("pet")

        assert completer.currentCompletion() == "family/pets"


async def test_metadata_is_a_table_of_names_and_values_that_undo_restores(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path / "home", echo_model("Indeed.")) as scene:
        page = await page_of(scene, CARD, PIP)
        page.table.select_row(str(CARD.guid))
        await until(lambda: page.detail.memory is not None and page.detail.memory.guid == CARD.guid)
        form = page.detail.form
        table = form.field_widget("metadata")
        assert isinstance(table, KeyValueField)
        assert table.values == CARD.metadata
        assert form.permission_box.isChecked()

        table.add_button.click()
        name, value = table.rows[-1]
        QTest.keyClicks(name, "origin")
        QTest.keyClicks(value, "a letter")
        await page.saver.save()
        memory = await scene.services.memory_lists.load_memory(CARD.guid)
        assert memory.metadata == {**CARD.metadata, "origin": "a letter"}
        assert memory.made_by == ""

        form.permission_box.click()
        await page.saver.save()
        assert not (await scene.services.memory_lists.load_memory(CARD.guid)).needs_permission
        assert "requires_user_permission" not in table.values

        remove = table.rows[0][0].parentWidget().findChild(QToolButton)
        remove.click()
        await page.saver.save()
        assert (await scene.services.memory_lists.load_memory(CARD.guid)).metadata == {"origin": "a letter"}

        while page.undo_stack.canUndo():
            page.undo_stack.undo()
        await page.saver.save()
        assert (await scene.services.memory_lists.load_memory(CARD.guid)).metadata == CARD.metadata
        assert table.values == CARD.metadata
        assert form.permission_box.isChecked()


async def test_memories_are_filtered_and_searched_by_their_metadata(tmp_path: Path, echo_model: Callable[..., Path]):
    async with opened(tmp_path / "home", echo_model("Indeed.")) as scene:
        page = await page_of(scene, CARD, PIP, ROPE)
        filed = page.filed_filter
        assert "source = inferred  1" in [filed.itemText(place) for place in range(filed.count())]

        filed.select_key("=source = inferred")
        assert shown(page) == {"Card"}
        filed.select_key("")
        page.search.setText("requires_user")
        await until(lambda: shown(page) == {"Card"})
