"""Enrichment of what a tool saved, in the background: as a run that is shown and can be undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.agent_runs import ProducedKind, RunOutcome
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.tools import ToolContext
from lethe_app.services.tools.builtin_memory import MemorySaveArguments
from tests.services.past_sessions import trusted
from tests.services.tasks import newest
from tests.services.turns import MIRA, until

SAID = "Tomas's sister Ines moved to Porto in May and Tomas cannot stand coriander."
ENTRIES = {
    "entries": [
        {
            "text": "Tomas's sister Ines moved to Porto in May.",
            "category": "family/sister",
            "tags": ["ines", "porto"],
            "keywords": ["Ines", "Porto"],
        },
        {"text": "Tomas cannot stand coriander.", "category": "preferences/food", "tags": ["coriander"], "keywords": []},
    ]
}


async def save(services: AppServices, content: str = SAID) -> MemoryUnit:
    """As a model does that calls the tool."""
    session = await services.sessions.new(MIRA)
    tools = {tool.name: tool for one in services.tool_registry.sets if one.name == "memory" for tool in one.tools}
    context = ToolContext(MIRA, "Mira", "Tomas", session.guid, "a turn", 0)
    await tools["memory_save"].run(context, MemorySaveArguments(content=content))
    return next(one for one in await services.memory.memories(MIRA) if one.content == content)


async def contents(services: AppServices) -> dict[str, MemoryUnit]:
    return {one.content: one for one in await services.memory.memories(MIRA)}


async def test_without_a_qualified_model_labels_come_by_rules_and_undo_takes_them_back(services: AppServices):
    saved = await save(services, "Tomas's sister Ines sails a boat called the Heron.")

    await services.enrichment.enrich_all()
    run, (filed,) = await newest(services), await services.memory.memories(MIRA)
    await services.background_runner.undo(run.id)
    await services.enrichment.enrich_all()
    (after,) = await services.memory.memories(MIRA)

    assert (run.task, run.outcome, run.tokens) == ("enrichment", RunOutcome.MADE, 0)
    assert run.summary == "Filed one memory."
    assert (filed.guid, filed.filed_under, filed.made_by, filed.metadata) == (saved.guid, "boats", "tool", {})
    assert "Heron" in filed.keywords_main
    assert (after.content, after.filed_under, after.tags) == (saved.content, "", [])
    assert (await newest(services)).id == run.id, "what was undone is not done again"


async def test_a_qualified_model_expands_what_was_saved_into_focused_entries(services: AppServices, tmp_path: Path):
    await trusted(services, tmp_path / "model.json", answers=[ENTRIES])
    saved = await save(services)

    await services.enrichment.enrich_all()
    run, found = await newest(services), await contents(services)
    await services.background_runner.undo(run.id)
    after = await contents(services)

    first, second = (found[one["text"]] for one in ENTRIES["entries"])
    assert len(found) == 2
    assert (first.guid, first.filed_under, first.tags) == (saved.guid, "family/sister", ["ines", "porto"])
    assert (second.filed_under, second.sources, second.made_by) == ("preferences/food", saved.sources, "tool")
    assert run.tokens > 0
    assert run.summary == "Filed one memory, with one more entry."
    assert {made.kind for made in run.made} == {ProducedKind.MEMORY}
    assert list(after) == [SAID]
    assert [one.title for one in await services.trash.list_items()] == ["Tomas cannot stand coriander."]


async def test_an_unusable_answer_leaves_the_words_and_the_rules_file_them(services: AppServices, tmp_path: Path):
    await trusted(services, tmp_path / "model.json", answers=["nonsense"] * 4)
    await save(services, "Tomas's sister Ines sails a boat called the Heron.")

    await services.enrichment.enrich_all()

    (filed,) = await services.memory.memories(MIRA)
    assert filed.filed_under == "boats"


@pytest.mark.parametrize("change", ["edited", "forgotten", "memory off"])
async def test_what_the_user_edited_or_deleted_is_left_alone(services: AppServices, change: str):
    saved = await save(services)
    if change == "edited":
        await services.memory.edit(saved.model_copy(update={"content": "Tomas's sister lives in Porto."}))
    elif change == "forgotten":
        await services.memory.forget_memory(saved.guid)
    else:
        await services.preferences.set(memory_enabled=False)

    await services.enrichment.enrich_all()

    assert not await services.activity_log.list_runs()
    assert all(not one.filed_under for one in await services.memory.memories(MIRA))


async def test_the_background_enriches_without_being_asked(services: AppServices):
    services.enrichment.background.start()
    await save(services, "Tomas's sister Ines sails a boat called the Heron.")

    async def is_filed() -> bool:
        return any(one.filed_under == "boats" for one in await services.memory.memories(MIRA))

    await until(is_filed)
