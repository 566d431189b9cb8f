"""The protocol of every page that lists records, on one with made-up records: select, edit, wait, undo, and all around it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QUndoStack
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QPushButton, QWidget

from lethe_app.errors import DiskFull, LetheError, RecordMissing
from lethe_app.services.events import Listeners
from lethe_app.ui.core.tasks import TaskRunner
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.dialogs.dialogs import ConfirmDialog
from lethe_app.ui.pages import field_saver
from lethe_app.ui.pages.context import PageContext
from lethe_app.ui.pages.field_saver import FieldSaver
from lethe_app.ui.pages.record_page.commands import Key, RecordCommand
from lethe_app.ui.pages.record_page.filters import Checked, Chip, ChipFilter, MenuFilter
from lethe_app.ui.pages.record_page.page import RecordPage, RecordSpec
from lethe_app.ui.shell.notifier import Notifier
from lethe_app.ui.shell.toast import Toast
from lethe_app.ui.widgets.detail_pane import DetailPane
from lethe_app.ui.widgets.table_model import Column
from tests.ui.window_scene import process_events, until

pytestmark = pytest.mark.usefixtures("styled_app")


@dataclass(frozen=True)
class Plant:
    name: str
    kind: str = "tree"
    place: str = ""
    is_dead: bool = False


class Garden:
    """Keeps plants by name, and fails when it is told to."""

    def __init__(self, *plants: Plant) -> None:
        self.plants = {plant.name: plant for plant in plants}
        self.changed: Listeners[str] = Listeners()
        self.error: Exception | None = None
        self.stored: list[dict[str, object]] = []
        self.details: dict[str, asyncio.Event] = {}
        """Plants whose details come only when the event is set."""

    async def edit(self, name: str, values: Mapping[str, object]) -> None:
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        if name not in self.plants:
            raise RecordMissing(f"There is no “{name}” any more.")
        self.stored.append(dict(values))
        self.plants[name] = replace(self.plants[name], **values)
        self.changed.notify("garden")

    async def remove(self, *names: str) -> list[Plant]:
        removed = [self.plants.pop(name) for name in names]
        self.changed.notify("garden")
        return removed

    async def add(self, *plants: Plant) -> None:
        self.plants.update({plant.name: plant for plant in plants})
        self.changed.notify("garden")


class PlantDetail(DetailPane):
    def __init__(self) -> None:
        super().__init__("Select a plant.", 200, 300)
        self.place, self.description = QLineEdit(), QLineEdit(readOnly=True)
        self._sheet.add_widget(self.place)
        self._sheet.add_widget(self.description)


class GardenPage(RecordPage[Plant]):
    def __init__(self, context: PageContext, garden: Garden, batch_size: int = 100) -> None:
        super().__init__(context, "Garden")
        self.garden, self.batch_size = garden, batch_size
        self.opened: list[str] = []
        self.views = ChipFilter(
            [
                Chip("alive", "Alive", lambda plant: not plant.is_dead),
                Chip("dead", "Dead", lambda plant: plant.is_dead, empty_text="Nothing has died."),
            ],
            Checked.ONE,
        )
        self.kinds = MenuFilter[Plant]("Kind", ["tree", "herb"], str.capitalize, attrgetter("kind"), self)
        self.detail = PlantDetail()
        self.kill = RecordCommand[Plant](
            lambda plants: "Bury" if plants[0].is_dead else "Fell",
            lambda plants: self._replace([replace(plant, is_dead=True) for plant in plants]),
            is_shown=lambda plants: not plants[0].is_dead,
            maximum=1,
        )
        self.detail._sheet.add_widget(self.build_command_buttons(self.kill))
        remove = RecordCommand[Plant]("Remove…", self._remove, (Key.DELETE,), in_head=True, confirm=self._confirm)
        self.build_list(
            RecordSpec(
                name="Plants",
                columns=[
                    Column("Name", attrgetter("name"), width=0, min_width=200),
                    Column("Kind", attrgetter("kind"), width=120, hides_at=2),
                    Column("Place", attrgetter("place"), width=120, hides_at=1, is_optional=True),
                ],
                key=attrgetter("name"),
                search_text=lambda plant: f"{plant.name} {plant.place}",
                search_hint="Search plants",
                empty_text="No plants yet.",
                filters=[self.views, self.kinds],
                commands=[
                    RecordCommand("Edit", lambda plants: self._open(plants[0]), (Key.RENAME, Key.OPEN), maximum=1),
                    self.kill,
                    RecordCommand("Graft", lambda plants: self.opened.append("graft"), minimum=2),
                    remove,
                    RecordCommand(
                        "Sow",
                        lambda _plants: self.garden.add(Plant("Dill", "herb")),
                        minimum=0,
                        in_head=True,
                        needs_records=False,
                    ),
                ],
                format_total=lambda count: f"{count} plants",
                sorted_by=0,
            ),
            detail=self.detail,
            empty_view=QPushButton("Sow something"),
        )
        self.follow(garden.changed)
        self.detail.place.textEdited.connect(self._on_edited)

    async def load_batches(self) -> AsyncIterator[Sequence[Plant]]:
        plants = list(self.garden.plants.values())
        for start in range(0, len(plants), self.batch_size):
            await asyncio.sleep(0)
            yield plants[start : start + self.batch_size]

    def show_record(self, record: Plant | None) -> None:
        self.detail.setCurrentIndex(0 if record is None else 1)
        self.detail.description.clear()
        if record is not None:
            self.detail.place.setText(str(self.saver.unsaved_values(record.name).get("place", record.place)))

    async def load_details(self, record: Plant) -> str:
        if record.name in self.garden.details:
            await self.garden.details[record.name].wait()
        return f"a {record.kind}"

    def show_details(self, _record: Plant, details: str) -> None:
        self.detail.description.setText(details)

    def focus_details(self) -> None:
        self.detail.place.setFocus()

    async def store_fields(self, key: Hashable, values: Mapping[str, object]) -> None:
        await self.garden.edit(str(key), values)

    def show_field(self, key: Hashable, name: str, value: object) -> None:
        if self.table.current_row is not None and self.table.current_row.name == key:
            self.detail.place.setText(str(value))

    def _on_edited(self, text: str) -> None:
        plant = self.table.current_row
        old = self.saver.unsaved_values(plant.name).get("place", plant.place)
        self.saver.change_field("moving a plant", plant.name, "place", old, text)

    def _open(self, plant: Plant) -> None:
        self.opened.append(plant.name)
        self.focus_details()

    async def _replace(self, plants: Sequence[Plant]) -> None:
        await self.garden.add(*plants)

    def _confirm(self, plants: Sequence[Plant]) -> ConfirmDialog:
        return ConfirmDialog(self, "Remove?", "They rot.", f"Remove {len(plants)}")

    def _remove(self, plants: Sequence[Plant]) -> None:
        names = [plant.name for plant in plants]
        self.run_undoable(
            "removing plants", lambda: self.garden.remove(*names), lambda: self.garden.add(*plants), "They were removed."
        )


OAK, FIR, MINT = Plant("Oak", place="gate"), Plant("Fir", is_dead=True), Plant("Mint", "herb")


@dataclass
class Scene:
    """The page in a window of its own."""

    context: PageContext
    window: QWidget
    errors: list[BaseException]
    page: GardenPage

    @property
    def names(self) -> list[str]:
        return [plant.name for plant in self.page.rows.visible_rows]

    @property
    def is_editing(self) -> bool:
        return self.window.focusWidget() is self.page.detail.place

    @property
    def toasts(self) -> list[Toast]:
        return [toast for toast in self.window.findChildren(Toast) if not toast.isHidden()]

    async def select(self, name: str) -> None:
        assert self.page.select_record(name)
        await until(self.page.detail.description.text)

    def type_place(self, text: str) -> None:
        self.page.detail.place.selectAll()
        QTest.keyClicks(self.page.detail.place, text)


@pytest.fixture
async def context(theme: Theme) -> AsyncIterator[tuple[PageContext, QWidget, list[BaseException]]]:
    window = QWidget()
    window.resize(1000, 600)
    window.show()
    errors: list[BaseException] = []
    tasks, nothing = TaskRunner(errors.append), lambda *_values: None
    notifier = Notifier(window, theme)
    made = PageContext(window, tasks, notifier, theme, *[nothing] * 4)  # type: ignore[arg-type]  # which this page never uses
    yield made, window, errors
    await tasks.close()
    window.close()
    window.deleteLater()
    process_events()


async def show(context: tuple[PageContext, QWidget, list[BaseException]], garden: Garden, batch_size: int = 100) -> Scene:
    made, window, errors = context
    page = GardenPage(made, garden, batch_size)
    page.setParent(window)
    page.resize(window.size())
    page.show()
    scene = Scene(made, window, errors, page)
    await until(lambda: page.loader.is_loaded)
    return scene


@pytest.fixture
def fast_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(field_saver, "RETRY_DELAY_S", 0.05)


@pytest.fixture
def no_autosave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(field_saver, "SAVE_DELAY_S", 10**6)


# The list


async def test_records_are_listed_sorted_counted_searched_and_filtered(context):
    scene = await show(context, Garden(OAK, FIR, MINT))
    page = scene.page
    assert scene.names == ["Mint", "Oak"]  # the first view
    assert page.subtitle.accessibleName() == "2 of 3 plants"

    QTest.keyClicks(page.search, "gate")
    assert scene.names == ["Oak"]
    page.search.clear()
    page.kinds.actions_by_value["herb"].trigger()
    assert scene.names == ["Mint"]
    page.filters.chips["dead"].click()
    assert scene.names == []
    assert page.table.no_match_text == "Nothing has died."
    page.kinds.actions_by_value["herb"].trigger()
    assert scene.names == ["Fir"]


async def test_an_empty_list_shows_its_view_and_no_filters(context):
    scene = await show(context, Garden())
    page = scene.page
    assert page.stack.currentIndex() == 1
    assert page.subtitle.accessibleName() == ""
    assert not page.filters.isVisible()
    assert not page.button("Remove…").isVisible()
    page.button("Sow").click()
    await until(lambda: scene.names == ["Dill"])
    assert page.stack.currentIndex() == 0
    assert page.filters.isVisible()
    assert page.button("Remove…").isVisible()


async def test_a_list_is_filled_batch_by_batch_and_keeps_its_selection_when_it_is_read_again(context):
    garden = Garden(*[Plant(f"Tree {number:03}") for number in range(250)])
    scene = await show(context, garden, batch_size=60)
    assert scene.page.rows.row_total == 250
    await scene.select("Tree 123")
    first = scene.page.rows.all_rows[0]

    await garden.add(Plant("Ash"))
    await until(lambda: "Ash" in scene.names)
    assert scene.page.table.current_row.name == "Tree 123"
    assert scene.page.rows.all_rows[0] is first  # unchanged records keep their objects


async def test_a_change_while_the_list_is_filled_is_read_afterwards(context):
    made, _window, errors = context
    garden = Garden(*[Plant(f"Tree {number:03}") for number in range(9)])
    page = GardenPage(made, garden, batch_size=1)
    await until(lambda: page.rows.row_total)
    garden.plants["Ash"] = Plant("Ash")
    page.reload()
    await until(lambda: page.rows.row_total == 10)
    page.close_page()
    assert errors == []


async def test_columns_give_way_in_a_narrow_table_the_first_to_hide_first(context):
    scene = await show(context, Garden(OAK, MINT))
    table, shown = scene.page.table, lambda: [not table.isColumnHidden(column) for column in range(3)]
    for width, visible in ((600, [True, True, True]), (350, [True, True, False]), (250, [True, False, False])):
        table.setParent(None)
        table.resize(width, 300)
        table.show()
        process_events()
        assert shown() == visible
    table.close()


async def test_an_optional_column_is_hidden_while_it_is_empty(context):
    scene = await show(context, Garden(MINT, FIR))
    assert scene.page.table.isColumnHidden(2)
    await scene.page.garden.add(OAK)
    await until(lambda: not scene.page.table.isColumnHidden(2))


# The selected record


async def test_a_record_is_selected_when_it_is_loaded_although_the_filters_hide_it(context):
    scene = await show(context, Garden(OAK, MINT))
    scene.page.search.setText("mint")
    scene.page.select_when_loaded("Fir")
    await scene.page.garden.add(FIR)
    await until(lambda: scene.page.table.current_row is not None and scene.page.table.current_row.name == "Fir")
    assert scene.page.views.selected == ["dead"]
    assert scene.page.search.text() == ""


async def test_a_record_is_not_selected_any_more_when_the_user_has_moved_on(context):
    scene = await show(context, Garden(OAK, MINT))
    scene.page.select_when_loaded("Ash")
    await scene.select("Mint")
    await scene.page.garden.add(Plant("Ash"))
    await until(lambda: "Ash" in scene.names)
    assert scene.page.table.current_row.name == "Mint"


async def test_the_details_of_a_record_that_was_left_meanwhile_are_not_shown(context):
    garden = Garden(OAK, MINT)
    garden.details["Oak"] = asyncio.Event()
    scene = await show(context, garden)
    scene.page.select_record("Oak")
    await until(lambda: scene.page.detail.currentIndex() == 1)
    await scene.select("Mint")
    garden.details["Oak"].set()
    await asyncio.sleep(0.02)
    assert scene.page.detail.description.text() == "a herb"


async def test_the_details_leave_with_their_record(context):
    scene = await show(context, Garden(OAK, MINT))
    await scene.select("Oak")
    await scene.page.garden.remove("Oak")
    await until(lambda: scene.page.detail.currentIndex() == 0)


async def test_a_route_leads_to_a_record_and_into_its_field(context):
    scene = await show(context, Garden(OAK, FIR))
    scene.page.go_to_record("", "Fir", takes_focus=True)
    await until(lambda: scene.is_editing)
    assert scene.page.table.current_row.name == "Fir"


async def test_a_narrow_window_shows_the_list_or_the_details(context):
    scene = await show(context, Garden(OAK, MINT))
    page = scene.page
    page.resize(500, 500)
    process_events()
    assert page.table.isVisible()
    assert not page.detail.isVisible()
    await scene.select("Oak")
    QTest.keyClick(page.table, Qt.Key.Key_Return)
    assert scene.is_editing
    assert not page.table.isVisible()
    assert not page.head.isVisible()
    QTest.keyClick(page.panes, Qt.Key.Key_Escape)
    assert page.table.isVisible()
    assert page.head.isVisible()
    place = page.table.visualRect(page.table.currentIndex()).center()
    QTest.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert page.detail.isVisible()
    assert not page.table.isVisible()
    process_events()
    QTest.mouseClick(page.panes.back_button, Qt.MouseButton.LeftButton)
    assert page.table.isVisible()
    assert page.table.hasFocus()
    page.resize(1200, 700)
    process_events()
    assert page.table.isVisible()
    assert page.detail.isVisible()
    assert not page.panes.back_button.isVisible()


# What is typed


async def test_what_is_typed_is_stored_after_a_pause_and_undone(context):
    scene = await show(context, Garden(OAK, MINT))
    page, garden = scene.page, scene.page.garden
    await scene.select("Oak")
    scene.type_place("pond")
    assert garden.plants["Oak"].place == "gate"
    await until(lambda: garden.plants["Oak"].place == "pond")
    assert garden.stored == [{"place": "pond"}]  # once for all keys

    page.undo_stack.undo()
    assert page.detail.place.text() == "gate"
    await until(lambda: garden.plants["Oak"].place == "gate")
    page.undo_stack.redo()
    await until(lambda: garden.plants["Oak"].place == "pond")


async def test_what_is_typed_is_stored_when_another_record_is_chosen(context, no_autosave):
    scene = await show(context, Garden(OAK, MINT))
    await scene.select("Oak")
    scene.type_place("pond")
    scene.page.select_record("Mint")
    await until(lambda: scene.page.garden.plants["Oak"].place == "pond")


async def test_what_is_typed_is_stored_when_the_page_is_left_closed_or_the_program_quits(context, no_autosave):
    scene = await show(context, Garden(OAK, MINT))
    page, garden = scene.page, scene.page.garden
    await scene.select("Oak")
    scene.type_place("pond")
    assert await page.confirm_leave()
    assert garden.plants["Oak"].place == "pond"
    scene.type_place("wall")
    page.close_page()
    await until(lambda: garden.plants["Oak"].place == "wall")

    scene = await show(context, Garden(OAK, MINT))
    await scene.select("Oak")
    scene.type_place("pond")
    scene.page.close_page()  # at once, without a turn of the loop
    await scene.context.tasks.close()
    assert scene.page.garden.plants["Oak"].place == "pond"


async def test_what_cannot_be_stored_is_reported_once_shown_again_and_tried_until_it_is(context, fast_retries):
    scene = await show(context, Garden(OAK, MINT))
    garden, place = scene.page.garden, scene.page.detail.place
    garden.error = DiskFull("The disk is full.")
    await scene.select("Oak")
    scene.type_place("pond")
    await until(lambda: scene.toasts)
    await scene.select("Mint")
    await scene.select("Oak")
    assert place.text() == "pond"
    await asyncio.sleep(0.2)
    assert [notice.text for notice in scene.context.notifier.history] == ["The disk is full."]
    scene.page.close_page()
    garden.error = None
    await until(lambda: garden.plants["Oak"].place == "pond")


async def test_what_is_typed_into_a_record_that_is_gone_is_dropped_with_a_notice(context):
    scene = await show(context, Garden(OAK, MINT))
    await scene.select("Oak")
    scene.type_place("pond")
    del scene.page.garden.plants["Oak"]
    await until(lambda: scene.toasts)
    assert scene.toasts[0].text == "There is no “Oak” any more."
    assert scene.page.saver.unsaved_values("Oak") == {}


# Saver on its own


@pytest.fixture
async def tasks() -> AsyncIterator[TaskRunner]:
    made = TaskRunner(lambda _error: None)
    yield made
    await made.close()


@pytest.fixture
def stack(styled_app: QApplication) -> QUndoStack:
    return QUndoStack()


async def test_a_value_that_is_refused_waits_for_the_next_change(tasks: TaskRunner, stack: QUndoStack, no_autosave):
    reported: list[str] = []

    async def store(_record: Hashable, values: Mapping[str, object]) -> None:
        if not values["name"]:
            raise LetheError("A plant needs a name.")

    one = FieldSaver(stack, tasks, lambda error: reported.append(error.message), store, lambda *_field: None)
    one.change_field("naming", "Oak", "name", "Oak", "")
    await one.save()
    await one.save()
    assert reported == ["A plant needs a name."]
    assert one.unsaved_values("Oak") == {"name": ""}
    one.change_field("naming", "Oak", "name", "", "Ash")
    await one.save()
    assert one.unsaved_values("Oak") == {}


async def test_what_is_typed_while_an_older_value_is_stored_stays(tasks: TaskRunner, stack: QUndoStack, no_autosave):
    stored: list[object] = []
    release = asyncio.Event()

    async def store(_record: Hashable, values: Mapping[str, object]) -> None:
        await release.wait()
        stored.append(values["name"])

    one = FieldSaver(stack, tasks, print, store, lambda *_field: None)
    one.change_field("naming", "Oak", "name", "Oak", "Ash")
    saving = asyncio.create_task(one.save())
    await asyncio.sleep(0)
    one.change_field("naming", "Oak", "name", "Ash", "Ashen")
    release.set()
    await saving
    assert (stored, one.unsaved_values("Oak")) == (["Ash"], {"name": "Ashen"})
    await one.save()
    assert (stored, one.unsaved_values("Oak")) == (["Ash", "Ashen"], {})


async def test_a_value_whose_storing_was_cancelled_is_stored_later(tasks: TaskRunner, stack: QUndoStack, monkeypatch):
    monkeypatch.setattr(field_saver, "SAVE_DELAY_S", 0.02)
    stored: list[object] = []

    async def store(_record: Hashable, values: Mapping[str, object]) -> None:
        await asyncio.sleep(0.01)
        stored.append(values["name"])

    one = FieldSaver(stack, tasks, print, store, lambda *_field: None)
    one.change_field("naming", "Oak", "name", "Oak", "Ash")
    tasks.start_task(one.save(), key="details")
    await asyncio.sleep(0)
    tasks.start_task(asyncio.sleep(0), key="details")
    await until(lambda: stored == ["Ash"])


# Commands


async def test_keys_run_their_commands(context):
    scene = await show(context, Garden(OAK, MINT))
    page = scene.page
    await scene.select("Oak")
    QTest.keyClick(page.table, Qt.Key.Key_F2)
    QTest.keyClick(page.table, Qt.Key.Key_Return)
    assert page.opened == ["Oak", "Oak"]
    assert scene.is_editing
    page.table.selectAll()
    QTest.keyClick(page.table, Qt.Key.Key_F2)
    assert page.opened == ["Oak", "Oak"]  # one only


async def test_the_menu_has_what_applies_with_its_keys(context):
    scene = await show(context, Garden(OAK, FIR, MINT))
    page = scene.page

    def entries() -> list[tuple[str, bool]]:
        page.table.menu_requested.emit(page.mapToGlobal(page.rect().center()))
        menu = page.findChildren(QMenu)[-1]
        found = [(action.text(), action.isEnabled()) for action in menu.actions()]
        menu.close()
        process_events()
        return found

    page.table.menu_requested.emit(page.mapToGlobal(page.rect().center()))
    assert not [menu for menu in page.findChildren(QMenu) if menu.isVisible()]  # nothing is selected
    await scene.select("Oak")
    assert entries() == [("Edit\tF2", True), ("Fell", True), ("Graft", False), ("Remove…\tDel", True)]
    page.table.selectAll()
    assert entries() == [("Edit\tF2", False), ("Fell", False), ("Graft", True), ("Remove…\tDel", True)]
    page.filters.chips["dead"].click()
    await scene.select("Fir")
    assert [text for text, _enabled in entries()] == ["Edit\tF2", "Graft", "Remove…\tDel"]


async def test_buttons_beside_the_record_follow_it(context):
    scene = await show(context, Garden(OAK, FIR, MINT))
    await scene.select("Oak")
    (button,) = [button for button in scene.page.detail.findChildren(QPushButton) if button.text() == "Fell"]
    assert button.isVisible()
    button.click()
    await until(lambda: scene.page.garden.plants["Oak"].is_dead)
    await until(lambda: scene.names == ["Mint"])
    scene.page.select_record("Oak")
    assert not button.isVisible()


async def test_a_command_asks_first_and_its_step_is_undone_from_the_notice(context):
    scene = await show(context, Garden(OAK, MINT))
    page = scene.page
    assert not page.button("Remove…").isEnabled()
    page.table.selectAll()
    QTest.keyClick(page.table, Qt.Key.Key_Delete)
    await until(lambda: page.findChildren(ConfirmDialog))
    (dialog,) = page.findChildren(ConfirmDialog)
    assert dialog.primary.text() == "Remove 2"
    dialog.accept()
    await until(lambda: not page.garden.plants)
    (toast,) = scene.toasts
    assert toast.text == "They were removed."
    page.undo_stack.undo()
    await until(lambda: set(page.garden.plants) == {"Oak", "Mint"})
    assert scene.toasts == []


async def test_what_was_confirmed_is_done_although_the_page_is_left_meanwhile(context):
    scene = await show(context, Garden(OAK, MINT))
    page, may_burn, burnt = scene.page, asyncio.Event(), []

    async def burn(plants: Sequence[Plant]) -> None:
        burnt.append("begun")
        await may_burn.wait()
        burnt.extend(plant.name for plant in plants)

    page.run_command(RecordCommand[Plant]("Burn…", burn, confirm=page._confirm), [OAK])
    await until(lambda: page.findChildren(ConfirmDialog))
    page.findChildren(ConfirmDialog)[0].accept()
    await until(lambda: burnt)
    page.close_page()
    may_burn.set()
    await asyncio.sleep(0.05)
    assert burnt == ["begun", "Oak"]


async def test_a_notice_undoes_its_step_after_the_page_was_closed(context):
    scene = await show(context, Garden(OAK, MINT))
    garden = scene.page.garden
    scene.page._remove([OAK])
    await until(lambda: "Oak" not in garden.plants)
    scene.page.close_page()
    scene.page.deleteLater()
    process_events()
    (button,) = scene.toasts[0].findChildren(QPushButton)
    button.click()
    await until(lambda: "Oak" in garden.plants)
    assert scene.errors == []


async def test_each_of_two_notices_in_quick_succession_undoes_its_own_step(context):
    scene = await show(context, Garden(OAK, MINT))
    garden = scene.page.garden
    for plant in (OAK, MINT):
        remove, add = partial(garden.remove, plant.name), partial(garden.add, plant)
        scene.page.run_undoable("removing a plant", remove, add, f"{plant.name} was removed.")
    await until(lambda: len(scene.toasts) == 2)
    (toast,) = [toast for toast in scene.toasts if toast.text == "Oak was removed."]
    (button,) = toast.findChildren(QPushButton)
    button.click()
    await until(lambda: garden.plants)
    assert set(garden.plants) == {"Oak"}


async def test_a_step_undone_before_it_is_done_has_no_notice(context):
    scene = await show(context, Garden(OAK, MINT))
    changes: list[str] = []
    scene.page.garden.changed.add(changes.append)
    scene.page._remove([OAK])
    scene.page.undo_stack.undo()
    await until(lambda: len(changes) == 2)
    assert set(scene.page.garden.plants) == {"Oak", "Mint"}
    assert scene.toasts == []


async def test_what_was_typed_is_stored_before_a_notice_undoes_its_step(context, no_autosave):
    scene = await show(context, Garden(OAK, MINT))
    garden = scene.page.garden
    scene.page._remove([OAK])
    await until(lambda: scene.toasts)
    await scene.select("Mint")
    scene.type_place("pond")
    (button,) = scene.toasts[0].findChildren(QPushButton)
    button.click()
    await until(lambda: "Oak" in garden.plants)
    assert garden.stored == [{"place": "pond"}]


async def test_a_step_waits_until_what_was_typed_is_stored(context, no_autosave):
    scene = await show(context, Garden(OAK, MINT))
    await scene.select("Oak")
    scene.type_place("pond")
    scene.page._remove([OAK])
    await until(lambda: "Oak" not in scene.page.garden.plants)
    assert scene.page.garden.stored == [{"place": "pond"}]


async def test_a_closed_page_follows_nothing(context):
    scene = await show(context, Garden(OAK))
    scene.page.close_page()
    await scene.page.garden.add(MINT)
    await asyncio.sleep(0.3)
    assert scene.page.rows.row_total == 0
    assert scene.errors == []


class BarePage(RecordPage[Plant]):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context, "Bare")
        columns = [Column("Name", attrgetter("name"), width=0)]
        self.build_list(RecordSpec(name="Plants", columns=columns, key=attrgetter("name"), search_text=attrgetter("name")))

    async def load_records(self) -> Sequence[Plant]:
        return [Plant("Oak", "tree")]


class ShownWindows(QObject):
    """Classes of the windows that the program showed, also for a moment."""

    def __init__(self, application: QApplication) -> None:
        super().__init__()
        self.names: list[str] = []
        application.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.names.append(type(watched).__name__)
        return False


@pytest.mark.parametrize("create", [BarePage, lambda context: GardenPage(context, Garden(Plant("Oak", "tree")))])
async def test_no_part_of_a_page_is_shown_as_a_window_of_its_own(context, styled_app: QApplication, create):
    windows = ShownWindows(styled_app)

    page = create(context[0])
    await until(lambda: page.rows.row_total)
    styled_app.removeEventFilter(windows)

    assert windows.names == []
    page.close_page()
