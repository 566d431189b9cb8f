"""The inspector shows the exact prompt of a reply, what each section took, what changed, and what it cost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from lethe_app.domain.prompt import (
    CacheMiss,
    CutReason,
    PartTokens,
    PrefillCost,
    PromptCut,
    PromptPart,
    PromptSpan,
    Receipt,
    join_spans,
)
from lethe_app.services.chat.prompt_inspector import PromptInspection
from lethe_app.ui.core.palette import DAY, NIGHT
from lethe_app.ui.core.theme import Theme
from lethe_app.ui.pages.inspector.colours import section_colours, section_tints
from lethe_app.ui.pages.inspector.diff import LineChange, common_prefix_length, compare_prompts, part_at
from lethe_app.ui.pages.inspector.page import CHANGES_TAB, InspectorPage
from lethe_app.ui.pages.inspector.summary import PromptSummary, format_cost, format_percent
from lethe_app.ui.pages.inspector.text import PromptText
from tests.ui.test_accessibility import ENOUGH, contrast
from tests.ui.window_scene import Scene, opened, until

pytestmark = pytest.mark.usefixtures("styled_app")

BEFORE = (
    PromptSpan(PromptPart.TEMPLATE, "<|im_start|>system\n"),
    PromptSpan(PromptPart.SYSTEM, "You are Mira.\nBe brief.\n"),
    PromptSpan(PromptPart.MEMORIES, "The lamp is lit."),
    PromptSpan(PromptPart.TEMPLATE, "<|im_end|>\n"),
    PromptSpan(PromptPart.MESSAGE, "Good evening."),
)
AFTER = (
    *BEFORE[:2],
    PromptSpan(PromptPart.MEMORIES, "The lamp went out."),
    PromptSpan(PromptPart.TEMPLATE, "<|im_end|>\n"),
    PromptSpan(PromptPart.MESSAGE, "Good evening."),
)


@pytest.fixture
async def scene(tmp_path: Path, echo_model: Callable[..., Path]) -> AsyncIterator[Scene]:
    async with opened(tmp_path / "home", echo_model(*[f"Reply {number}." for number in range(9)])) as opened_scene:
        opened_scene.window.resize(1280, 800)
        yield opened_scene


async def say(scene: Scene, text: str) -> None:
    rows = scene.controller.messages.rowCount()
    scene.controller.replies.send_message(text)
    await until(lambda: scene.controller.messages.rowCount() == rows + 2 and not scene.is_replying)


async def inspector(scene: Scene) -> InspectorPage:
    scene.window.window_actions["inspector"].trigger()
    page = scene.page
    assert isinstance(page, InspectorPage)
    await until(page.subtitle.accessibleName)
    return page


def words_in(page: InspectorPage) -> str:
    return "\n".join(label.text() for label in page.findChildren(QLabel) if label.isVisibleTo(page))


# the page


async def test_the_newest_prompt_is_there_word_for_word_with_its_sections(scene: Scene):
    await say(scene, "Is the pharos lit?")

    page = await inspector(scene)

    assert page.inspection is not None
    assert "Is the pharos lit?" in page.prompt_text.toPlainText()
    assert "Mira is the navigator of the Petrel" in page.prompt_text.toPlainText()
    shown = {share.part: share.tokens for share in page.summary.rows.visible_rows}
    assert sum(shown.values()) == page.inspection.receipt.prompt_tokens
    assert shown[PromptPart.PERSONA] > 50
    assert " processed" in words_in(page)
    assert not page.tabs.isTabVisible(CHANGES_TAB), "there is no earlier prompt to compare with"


async def test_the_section_under_the_cursor_is_found_in_the_words_and_copied(scene: Scene):
    await say(scene, "Is the pharos lit?")
    page = await inspector(scene)
    assert not page.copy_section_button.isEnabled()

    assert page.summary.table.select_row(PromptPart.MESSAGE)
    QTest.mouseClick(page.copy_section_button, Qt.MouseButton.LeftButton)

    assert QApplication.clipboard().text() == "Is the pharos lit?"
    assert page.prompt_text.textCursor().block().text().startswith("Is the pharos lit?")
    QTest.mouseClick(page.copy_prompt_button, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == page.prompt_text.toPlainText()


async def test_what_changed_is_told_with_the_place_of_the_first_difference(scene: Scene):
    await say(scene, "Good evening.")
    await say(scene, "Is the pharos lit?")
    page = await inspector(scene)

    assert page.tabs.isTabVisible(CHANGES_TAB)
    page.tabs.setCurrentIndex(CHANGES_TAB)
    await until(lambda: page.first_difference_label.isVisibleTo(page))

    lines = page.prompt_text.toPlainText().splitlines()
    assert any(line.startswith("+ Is the pharos lit?") for line in lines)
    assert any("unchanged lines" in line for line in lines)
    assert "The first difference is in “" in page.first_difference_label.text()


async def test_it_begins_with_the_reply_that_was_chosen_and_the_arrows_lead_to_others(scene: Scene):
    await say(scene, "Good evening.")
    await say(scene, "Is the pharos lit?")
    first_reply = scene.controller.messages.outline(2).id

    scene.controller.view.prompt_requested.emit(first_reply)
    await until(lambda: isinstance(scene.page, InspectorPage) and scene.page.inspection)
    page = scene.page
    assert isinstance(page, InspectorPage)
    assert page.reply_id == first_reply
    assert "Is the pharos lit?" not in page.prompt_text.toPlainText()

    QTest.mouseClick(page.next_reply_button, Qt.MouseButton.LeftButton)
    await until(lambda: not page.next_reply_button.isEnabled())
    assert "Is the pharos lit?" in page.prompt_text.toPlainText()


async def test_a_greeting_has_no_prompt_and_the_page_says_so(scene: Scene):
    page = await inspector(scene)

    await until(lambda: "No prompt recorded" in words_in(page))
    assert not page.copy_prompt_button.isEnabled()


async def test_a_prompt_that_is_not_kept_any_more_still_has_its_account(scene: Scene):
    await say(scene, "Is the pharos lit?")
    await scene.services.receipt_store.delete_prompts("mira")

    page = await inspector(scene)

    await until(lambda: "Prompt text no longer stored" in words_in(page))
    assert page.summary.rows.visible_rows
    assert not page.search.isEnabled()


async def test_words_are_found_and_counted(scene: Scene):
    await say(scene, "Pharos, pharos, PHAROS!")
    page = await inspector(scene)

    QTest.keyClicks(page.search, "pharos")
    assert page.match_count_label.text() == "1 of 3"
    QTest.keyClick(page.search, Qt.Key.Key_Return)
    assert page.match_count_label.text() == "2 of 3"
    page.search.setText("nowhere at all")

    assert page.match_count_label.text() == "no matches"


# the parts


def test_only_what_came_and_went_is_shown_with_a_little_around_it():
    many = (PromptSpan(PromptPart.SYSTEM, "".join(f"Rule {number}.\n" for number in range(40))),)

    lines = compare_prompts((*many, *BEFORE), (*many, *AFTER))

    reported = [(line.change, line.text) for line in lines]
    assert reported[0] == (LineChange.SKIPPED, "")
    assert lines[0].count == 41
    assert (LineChange.REMOVED, "The lamp is lit.<|im_end|>") in reported
    assert (LineChange.ADDED, "The lamp went out.<|im_end|>") in reported
    assert reported[-1] == (LineChange.UNCHANGED, "Good evening.")


def test_the_first_difference_is_told_by_character_and_part():
    before, after = join_spans(BEFORE), join_spans(AFTER)
    place = common_prefix_length(before, after)
    assert after[place:].startswith("went out.")
    assert part_at(AFTER, place) is PromptPart.MEMORIES
    assert part_at(AFTER, 0) is PromptPart.SYSTEM  # what the template says leads on to it
    assert part_at(AFTER, 10_000) is None
    assert common_prefix_length(after, after) == len(after)


def test_two_prompts_of_thousands_of_like_lines_are_compared():
    old = [PromptSpan(PromptPart.HISTORY, f"line {number}\n<|im_end|>\n") for number in range(1200)]
    new = [PromptSpan(PromptPart.HISTORY, f"other {number}\n<|im_end|>\n") for number in range(1200)]
    changes = [line.change for line in compare_prompts(old, new)]
    assert changes.count(LineChange.ADDED) >= 1200
    assert changes.count(LineChange.REMOVED) >= 1200


def test_sections_find_their_lines_whatever_signs_stand_before_them(theme: Theme):
    text = PromptText(theme)
    text.resize(600, 400)
    text.show_spans([PromptSpan(PromptPart.SYSTEM, "🌊🌊🌊 sea\n"), PromptSpan(PromptPart.MESSAGE, "Hello there.\n")])
    QApplication.processEvents()

    assert text.go_to_part(PromptPart.MESSAGE)
    assert text.textCursor().block().text() == "Hello there."
    text.search("there")
    assert text.extraSelections()[0].cursor.selectedText() == "there"


@pytest.mark.parametrize(("query", "count"), [("🌊", 2), ("🔥 sea", 1), ("𐐀", 1), ("🌙", 0)])
def test_signs_are_found_as_themselves(theme: Theme, query: str, count: int):
    text = PromptText(theme)
    text.show_spans([PromptSpan(PromptPart.SYSTEM, "🌊🔥 sea 𐐨 🌊")])
    text.search(query)

    assert [one.cursor.selectedText().lower() for one in text.extraSelections()] == [query.lower()] * count


@pytest.mark.parametrize("palette", [NIGHT, DAY], ids=lambda palette: palette.name)
def test_words_can_be_read_on_every_ground_and_only_memory_is_amber(palette):
    grounds = section_tints(palette)
    assert set(grounds) == set(section_colours(palette)) == set(PromptPart)
    assert min(contrast(palette.text, ground) for ground in grounds.values()) >= ENOUGH
    amber = QColor(palette.amber).hslHue()
    remembered = {PromptPart.MEMORIES, PromptPart.FACTS, PromptPart.SUMMARIES, PromptPart.EARLIER}
    near = {part for part, colour in section_colours(palette).items() if QColor(colour).hslSaturation() > 60}
    near = {part for part in near if abs(QColor(section_colours(palette)[part]).hslHue() - amber) < 20}
    assert near == remembered


def test_the_account_says_what_was_cut_and_what_was_read_again(theme: Theme):
    account = PromptSummary(theme)
    shares = (PartTokens(PromptPart.SYSTEM, 100), PartTokens(PromptPart.HISTORY, 300, 50, (PromptCut(CutReason.OLDEST, 2, 9),)))
    receipt = Receipt(shares, 400, 1024, 128, "recognised: ChatML")
    account.show_inspection(PromptInspection(receipt, PrefillCost(100, 300, again=20, reason=CacheMiss.FACTS), (), ()))

    words = "\n".join(label.text() for label in account.findChildren(QLabel))

    assert "50 tokens: the oldest 2 of 9 messages omitted" in words
    assert "20 tokens reprocessed because the core facts have changed." in words
    assert "300 of 400 tokens cached" in words
    assert format_cost(None) == ["Not known, because the reply was stopped before its end."]
    assert format_cost(PrefillCost(1140, 0)) == ["All 1140 tokens processed, because nothing of this prompt was in the cache."]


def test_shares_are_told_in_percent():
    assert (format_percent(0, 10), format_percent(1, 1000), format_percent(1, 3)) == ("0 %", "<1 %", "33 %")


async def test_while_the_reply_is_being_written_the_page_says_so_and_shows_the_prompt_when_it_is_finished(
    tmp_path: Path, echo_model: Callable[..., Path]
):
    async with opened(tmp_path / "home", echo_model("word " * 400, delay=0.02)) as scene:
        scene.controller.replies.send_message("Is the pharos lit?")
        await until(lambda: scene.is_replying and scene.controller.messages.growing_row is not None)
        scene.window.window_actions["inspector"].trigger()
        page = scene.page
        assert isinstance(page, InspectorPage)
        await until(lambda: "Reply in progress" in words_in(page))

        await until(lambda: scene.controller.messages.rowCount() == 3 and "word" in scene.words[2])
        scene.controller.replies.stop_reply()
        await until(lambda: page.inspection is not None)
        assert "Reply in progress" not in words_in(page)
        assert ": word" in page.subtitle.accessibleName()
