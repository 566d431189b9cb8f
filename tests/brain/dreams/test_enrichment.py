"""What becomes of a memory that a tool saved: labels by rules, or the entries of a model as far as they are faithful."""

from __future__ import annotations

from pathlib import Path

import pytest

from lethe_app.brain.dreams.enrichment import (
    ENRICHMENT_KEY,
    PENDING,
    MemoryEntry,
    enrich_by_answer,
    enrich_by_rules,
    is_pending,
)
from lethe_app.brain.notebooks.subjects import load_subjects
from lethe_app.domain.memory import MemoryUnit

SUBJECTS = load_subjects([Path(__file__).parents[3] / "resources" / "subjects"])
NAMES = ("Mira", "Tomas")


def saved(content: str, **fields: object) -> MemoryUnit:
    return MemoryUnit.model_validate({"content": content, "made_by": "tool", **fields})


def entry(text: str, category: str = "", tags: tuple[str, ...] = (), keywords: tuple[str, ...] = ()) -> MemoryEntry:
    return MemoryEntry(text, category, tags, keywords)


def by_rules(memory: MemoryUnit, *topics: str) -> MemoryUnit:
    return enrich_by_rules(memory, topics, SUBJECTS.subjects_in, NAMES)


def test_rules_file_a_memory_by_the_subject_of_its_nouns_with_names_as_keywords():
    memory = saved("Tomas's sister Ines sails a boat called the Heron.")

    one = by_rules(memory, "Tomas's sister Ines", "boat", "Heron")

    assert one.filed_under == "boats"
    assert one.tags == ["ines", "boat", "heron"]
    assert one.keywords_main == ["Ines", "Heron"], "every boat would recall it"
    assert one.content == memory.content


def test_rules_leave_a_memory_without_a_category_that_they_do_not_know():
    one = by_rules(saved("Tomas hates fennel."), "Tomas", "fennel")

    assert (one.filed_under, one.tags, one.keywords_main) == ("", ["fennel"], [])


def test_labels_that_the_call_named_stay():
    one = by_rules(saved("Ines sails the Heron.", filed_under="family", tags=["sea"]), "Heron", "boat")

    assert one.filed_under == "family"
    assert one.tags[0] == "sea"


def test_entries_that_together_say_the_same_become_memories_of_their_own():
    memory = saved("Tomas's sister Ines moved to Porto in May and Tomas cannot stand coriander.", sources=["message:1"])
    answer = [
        entry("Tomas's sister Ines moved to Porto in May.", "Family/Sister", ("Ines", "ines", "Porto!"), ("Ines", "Lisbon")),
        entry("Tomas cannot stand coriander.", "preferences/food", ("coriander",), ("coriander", "Tomas")),
    ]

    first, second = enrich_by_answer(memory, answer, NAMES)

    assert (first.guid, second.guid != memory.guid) == (memory.guid, True)
    assert (first.content, first.filed_under, first.tags) == (answer[0].text, "family/sister", ["ines", "porto"])
    assert (second.content, second.filed_under, second.keywords_main) == (answer[1].text, "preferences/food", ["coriander"])
    assert first.keywords_main == ["Ines"], "Lisbon is not in it"
    assert first.sources == second.sources == ["message:1"]


@pytest.mark.parametrize(
    "texts",
    [
        ["Tomas's sister Ines moved to Porto."],
        ["Tomas's sister Ines moved to Porto in May and works as a doctor there.", "Tomas cannot stand coriander."],
        ["Tomas's sister Ines did not move to Porto in May.", "Tomas cannot stand coriander."],
        ["Tomas's sister Ines moved to Lisbon in May.", "Tomas cannot stand coriander."],
    ],
    ids=["leaves out", "invents", "denies", "changes a name"],
)
def test_entries_that_are_not_faithful_change_the_labels_only(texts: list[str]):
    memory = saved("Tomas's sister Ines moved to Porto in May and Tomas cannot stand coriander.")

    (one,) = enrich_by_answer(memory, [entry(text, "family", ("move",)) for text in texts], NAMES)

    assert one.content == memory.content
    assert (one.filed_under, one.tags) == ("family", ["move"])


def test_a_category_reserved_for_dreams_is_not_taken_from_a_model():
    (one,) = enrich_by_answer(saved("Tomas likes tea."), [entry("Tomas likes tea.", "user-preferences/inferred")], NAMES)

    assert one.filed_under == ""


def test_what_the_user_made_their_own_or_protects_is_not_pending():
    marked = saved("Tomas likes tea.", metadata={ENRICHMENT_KEY: PENDING})

    assert is_pending(marked)
    assert not is_pending(marked.model_copy(update={"made_by": ""}))
    assert not is_pending(marked.model_copy(update={"protected": True}))
    assert not is_pending(saved("Tomas likes tea."))
