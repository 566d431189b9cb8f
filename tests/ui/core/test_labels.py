"""Dates, attributes of facts and reasons of recall are put into words."""

from __future__ import annotations

import re
from datetime import date, timedelta

import pytest
from PySide6.QtCore import QCoreApplication, QTranslator

from lethe_app.domain.chat import PartState
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.prompt import CacheMiss, CutReason, PrefillCost, PromptCut
from lethe_app.domain.recall import BlockReason, Reason, ReasonKind
from lethe_app.language_tables import load_table
from lethe_app.retrieval.signals import SIGNALS
from lethe_app.services.memory import reason_words
from lethe_app.ui.core import reason_labels
from lethe_app.ui.core.labels.dates import format_day, format_time
from lethe_app.ui.core.labels.facts import format_attribute
from lethe_app.ui.core.labels.messages import format_missing_summary
from tests.ui.chat_scene import NOON


@pytest.mark.parametrize("kind", ReasonKind)
def test_every_reason_has_words_of_its_own(kind: ReasonKind):
    words = reason_words.reason_in_english(Reason(kind=kind, values={"signal": "said"}))

    assert words
    assert words == reason_labels.format_reason(Reason(kind=kind, values={"signal": "said"}))


@pytest.mark.parametrize("why", BlockReason)
def test_every_block_has_words_of_its_own(why: BlockReason):
    assert (
        reason_words.fill_template(reason_words.block_template(why, {}), {}) == reason_labels.format_block_reason(why, {}) != ""
    )


def test_every_ranking_signal_has_words_and_so_have_those_stored_by_earlier_versions():
    assert set(load_table("recall_reasons")["signals"]) == {*SIGNALS, "beginning", "lately"}


def test_every_template_is_among_those_that_translators_get():
    reasons = [Reason(kind=kind, values={"before": before, "count": before}) for kind in ReasonKind for before in range(4)]
    shown = {reason_words.reason_template(reason) for reason in reasons} - {"{signal}"}
    values: list[dict[str, str | int | float]] = [{}, {"more": 1}, {"begins": "x"}, {"round": 1}, {"condition": "not"}]
    blocks = {reason_words.block_template(why, one) for why in BlockReason for one in values}

    assert shown <= set(reason_words.templates_of("reasons", "signals"))
    assert blocks <= set(reason_words.templates_of("blocks"))


@pytest.mark.parametrize("before", range(4))
def test_a_key_is_told_with_its_place(before: int):
    words = reason_words.reason_in_english(Reason(kind=ReasonKind.KEY, values={"key": "lamp", "before": before}))

    assert "“lamp”" in words
    assert ("messages earlier" in words) == (before > 1)


@pytest.mark.parametrize("reason", CacheMiss)
def test_every_cache_miss_has_words(reason: CacheMiss):
    words = reason_labels.format_cache_miss(PrefillCost(1, 1, again=1, reason=reason, part="style"))

    assert words
    assert ("style" in words) == (reason is CacheMiss.PART)


@pytest.mark.parametrize("kind", CutReason)
def test_every_cut_has_words_with_its_numbers(kind: CutReason):
    words = reason_labels.format_cut(PromptCut(kind, 3, 9, 0.2, 1))

    assert re.search(r"\b3\b", words)
    assert not re.search(r"[{}]", words)


class Loud(QTranslator):
    def translate(self, context: str, source: str, _disambiguation: str | None = None, _n: int = -1) -> str:
        return source.replace("is in the message", "IST IN DER NACHRICHT") if context == "Reason" else ""


@pytest.mark.usefixtures("qapp")
def test_a_template_is_translated_around_its_values():
    loud = Loud()
    QCoreApplication.installTranslator(loud)
    try:
        reported = reason_labels.format_reason(Reason(kind=ReasonKind.KEY, values={"key": "the {lamp}", "before": 0}))
    finally:
        QCoreApplication.removeTranslator(loud)

    assert reported == "its key “the {lamp}” IST IN DER NACHRICHT"


@pytest.mark.parametrize(
    ("key", "fact", "words"),
    [
        ("job", "Tomas is a nurse.", "job"),
        ("ines job", "Tomas's sister Ines works as a vet.", "job of Ines"),
        ("sister job", "Tomas's sister works as a vet.", "job of the sister"),
        ("cat name", "Tomas's cat is called Biscuit.", "name of the cat"),
        ("mother in law age", "Tomas's mother-in-law is 70.", "age of the mother in law"),
        ("dream job", "Tomas's dream job is baker.", "dream job"),
        ("favourite colour", "Tomas's favourite colour is green.", "favourite colour"),
        ("plan dentist appointment", "Tomas has a dentist appointment on Friday.", "plan: dentist appointment"),
        ("plan lisbon", "Tomas will fly to Lisbon in May.", "plan: Lisbon"),
    ],
)
def test_an_attribute_reads_as_words(key: str, fact: str, words: str):
    assert format_attribute(ExtractedFact(fact=fact, key=key)) == words


TODAY = date(2026, 3, 5)


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (0, "Today"),
        (1, "Yesterday"),
        (2, "Tuesday"),
        (6, "Friday"),
        (7, "26 February"),
        (400, "29 January 2025"),
        (-1, "6 March"),
    ],
)
def test_recent_days_have_names(age, words):
    assert format_day(TODAY - timedelta(days=age), TODAY) == words


def test_a_time_has_no_seconds():
    assert format_time(NOON.replace(second=59)).count(":") == 1


def test_a_summary_that_is_still_being_written_is_not_called_needless():
    assert format_missing_summary(True, PartState.PENDING).startswith("Not summarised yet")
    assert format_missing_summary(True, PartState.DONE).startswith("Nothing to summarise")
