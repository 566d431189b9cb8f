"""Lines of notebooks follow the facts they state: from a fact in a conversation to the prompt."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from lethe_app.brain.facts.merge import build_tombstone
from lethe_app.brain.notebooks.document import Conclusion
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.clock import now
from lethe_app.domain.facts import ExtractedFact, MadeBy
from tests.bench._setup import PERSONAS
from tests.homes import write_personas
from tests.services.past_sessions import archive, hold, opened
from tests.services.turns import MIRA, prompt_of, say

JOB = (
    "I work as a baker in Porto.",
    "Fresh bread every morning, then.",
    "My boss at work is called Rui.",
    "Rui it is.",
    "I have a new apprentice at work.",
    "A good sign.",
)
NEW_JOB = ("I work as a nurse in Braga now.", "A new beginning.")


async def over(services: AppServices, *lines: str, days_ago: float = 0) -> None:
    session = await hold(services, *lines, at=now() - timedelta(days=days_ago))
    await archive(services, session)
    await services.notebook_writer.write_all_pending()


@pytest.fixture
async def work(services: AppServices) -> str:
    """The notebook that came of a conversation about the job."""
    await over(services, *JOB, days_ago=3)
    (kept,) = await services.notebooks.notebooks_of(MIRA)
    assert any("baker" in line.text for line in kept.notebook.lines)
    return kept.name


async def texts(services: AppServices) -> list[str]:
    kept = await services.notebooks.notebooks_of(MIRA)
    return [line.text for item in kept for line in item.notebook.lines]


async def current(services: AppServices, word: str) -> ExtractedFact:
    facts = [fact for fact in await services.facts.facts_of(MIRA) if word in fact.fact and not fact.superseded]
    assert len(facts) == 1, [fact.fact for fact in await services.facts.facts_of(MIRA)]
    return facts[0]


async def write(services: AppServices) -> list[str]:
    await services.notebook_writer.write_all_pending()
    return await texts(services)


async def test_the_line_of_a_superseded_fact_gives_way_to_the_one_that_holds_now(
    services: AppServices, work: str, says: Callable[..., object]
):
    await over(services, *NEW_JOB)

    nurse = await current(services, "nurse")
    lines = await texts(services)
    assert lines.count(nurse.fact) == 1
    assert not [line for line in lines if "baker" in line]
    # Facts that are in every prompt are left out of the notebook, so a line of the user's own opens it.
    path = services.paths.notebooks / MIRA / f"{work}.md"
    path.write_text(path.read_text(encoding="utf-8") + "- The pay at work is never enough, says Rui\n", encoding="utf-8")
    await says(*["Good."] * 2)
    session = await hold(services)
    outcome = await say(services, session, "My boss Rui shouted at the apprentice at work.")
    (noted,) = [one.text for one in outcome.memory.recalled if one.world == "notebook"]
    assert "The pay at work is never enough, says Rui" in noted
    assert "baker" not in noted
    prompt = await prompt_of(services, session, outcome)
    assert "works as a nurse in Braga" in prompt
    assert "works as a baker" not in prompt


async def test_lines_of_facts_superseded_by_an_earlier_version_are_revised_at_the_start(services: AppServices):
    day = now().date() - timedelta(days=3)
    baker, nurse = (
        ExtractedFact(fact=f"Tomas works as a {job}.", key="job", subject="Tomas", last_seen=now() - timedelta(days=age))
        for job, age in (("baker in Porto", 3), ("nurse", 1))
    )
    superseded = baker.model_copy(update={"superseded": True, "superseded_by": nurse.guid})
    await services.fact_store.save_facts(MIRA, superseded, nurse)
    said = [Conclusion("Tomas works as a baker.", day), Conclusion("Tomas owns a copper mixer.", day)]
    await services.notebooks.create(MIRA, "Work", said, "Tomas works as a baker.")

    assert await write(services) == ["Tomas works as a nurse.", "Tomas owns a copper mixer."]
    (entry,) = await services.notebooks.notebooks_of(MIRA)
    assert entry.summary == "", "a summary that repeats a line goes with it"


async def test_the_line_of_a_reworded_fact_is_reworded_and_follows_undo_and_another_change(services: AppServices, work: str):
    old = await current(services, "baker")

    await services.facts.edit(old.guid, "Tomas bakes rye bread in Porto.")
    assert (lines := await write(services)).count("Tomas bakes rye bread in Porto.") == 1
    assert old.fact not in lines

    await services.facts.restore_facts([old])
    assert (lines := await write(services)).count(old.fact) == 1
    assert "Tomas bakes rye bread in Porto." not in lines

    await services.facts.edit(old.guid, "Tomas bakes rye bread in Porto.")
    await write(services)
    await over(services, *NEW_JOB)
    assert (await current(services, "nurse")).fact in (lines := await write(services))
    assert "Tomas bakes rye bread in Porto." not in lines


async def test_the_line_of_a_fact_reworded_before_the_last_start_is_reworded(services: AppServices, work: str):
    old = await current(services, "baker")
    message = old.source_messages[0]
    reworded = old.model_copy(update={"fact": "Tomas is a baker of rye bread.", "made_by": MadeBy.USER})
    other = ExtractedFact(fact="Tomas is from Faro.", made_by=MadeBy.USER, source_messages=[message])
    await services.fact_store.forget_facts(MIRA, [], [build_tombstone(old)])
    await services.fact_store.save_facts(MIRA, reworded, other)
    await services.conclusion_writer.revise_lines(MIRA)

    assert "Tomas is a baker of rye bread." in (lines := await texts(services))
    assert not {old.fact, other.fact} & set(lines)


async def test_lines_that_the_user_wrote_or_edited_stay(services: AppServices, work: str):
    path = services.paths.notebooks / MIRA / f"{work}.md"
    rows = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    place = next(place for place, row in enumerate(rows) if "baker" in row)
    (written,) = [row for row in rows if "baker" in row]
    by_hand = written.rsplit(" (", 1)[0]
    edited = written.replace("baker", "baker, as his father did,")
    rows[place + 1 : place + 1] = ["and my own note below it", edited, by_hand]
    path.write_text("\n".join([*rows, ""]), encoding="utf-8")

    await over(services, *NEW_JOB)

    text = path.read_text(encoding="utf-8").split("\n")
    nurse = await current(services, "nurse")
    assert text[place].startswith(f"- {nurse.fact}")
    assert text[place + 1 : place + 4] == ["and my own note below it", edited, by_hand]


async def test_a_successor_that_stands_in_another_notebook_is_not_written_twice(services: AppServices, work: str):
    day = now().date()
    await services.notebooks.create(MIRA, "Braga", [Conclusion("Tomas works as a nurse in Braga.", day)])
    await over(services, *NEW_JOB)

    assert len([line for line in await texts(services) if "nurse" in line]) == 1
    assert not [line for line in await texts(services) if "baker" in line]


async def test_a_notebook_written_automatically_goes_with_its_last_line(services: AppServices, work: str):
    for fact in await services.facts.facts_of(MIRA):
        await services.facts.forget_fact(fact.guid)
    await write(services)

    assert await services.notebooks.notebooks_of(MIRA) == []
    assert not list((services.paths.notebooks / MIRA).glob("*.md"))
    assert all(work not in path.read_text(encoding="utf-8") for path in (services.paths.notebooks / MIRA).glob("*.txt"))


async def test_undoing_that_a_fact_was_forgotten_brings_its_line_back_once(services: AppServices, work: str):
    before = await texts(services)
    baker = await current(services, "baker")
    await services.facts.forget_fact(baker.guid)
    assert baker.fact not in await write(services)

    await services.facts.restore_facts([baker])
    assert await write(services) == before

    path = services.paths.notebooks / MIRA / f"{work}.md"
    rows = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(row for row in rows if "baker" not in row), encoding="utf-8")
    assert baker.fact not in await write(services), "what the user takes out stays out"


async def test_undoing_that_all_facts_were_forgotten_brings_the_notebook_back(services: AppServices, work: str):
    before = await texts(services)
    facts = await services.facts.facts_of(MIRA)
    for fact in facts:
        await services.facts.forget_fact(fact.guid)
    assert await write(services) == []

    await services.facts.restore_facts(facts)
    assert sorted(await write(services)) == sorted(before)
    (restored,) = await services.notebooks.notebooks_of(MIRA)
    assert restored.name == work
    for fact in facts:
        await services.facts.forget_fact(fact.guid)
    assert await write(services) == []
    assert await services.notebooks.notebooks_of(MIRA) == []


@pytest.mark.parametrize("change", ["rename", "delete"])
async def test_undoing_that_a_fact_was_forgotten_creates_no_notebook_that_the_user_has_put_away(
    services: AppServices, work: str, change: str
):
    baker = await current(services, "baker")
    await services.facts.forget_fact(baker.guid)
    await write(services)
    if change == "rename":
        await services.notebooks.rename(MIRA, work, "My days")
    else:
        await services.notebooks.delete(MIRA, work)

    await services.facts.restore_facts([baker])
    await write(services)

    titles = [item.notebook.title for item in await services.notebooks.notebooks_of(MIRA)]
    assert titles == (["My days"] if change == "rename" else [])


async def test_a_notebook_goes_with_the_only_day_it_was_about(services: AppServices, work: str):
    await services.days.erase((now() - timedelta(days=3)).astimezone().date(), MIRA)

    assert await services.notebooks.notebooks_of(MIRA) == []


@pytest.mark.parametrize("change", ["head", "rename", "edit", "create"])
async def test_an_emptied_notebook_that_the_user_made_or_wrote_in_stays(services: AppServices, work: str, change: str):
    notebooks = services.notebooks
    text = await notebooks.load_text(MIRA, work)
    match change:
        case "head":
            path = services.paths.notebooks / MIRA / f"{work}.md"
            path.write_text(text.replace("\n\n", "\n\nWhat I want to keep:\n\n", 1), encoding="utf-8")
        case "rename":
            await notebooks.rename(MIRA, work, "My days")
        case "edit":
            await notebooks.save_edit(MIRA, work, text.replace("# ", "# My ", 1), text)
        case "create":
            await notebooks.delete(MIRA, work)
            await notebooks.create(
                MIRA, "Work", [Conclusion(line, now().date()) for line in ["Tomas works as a baker in Porto."]]
            )
    for fact in await services.facts.facts_of(MIRA):
        await services.facts.forget_fact(fact.guid)
    await write(services)

    (kept,) = await notebooks.notebooks_of(MIRA)
    assert kept.notebook.lines == ()


async def test_a_second_conversation_of_many_subjects_creates_no_second_notebook_of_the_same_title(services: AppServices):
    await over(
        services, "I am a baker in Porto.", "Aha.", "My cat is called Plum.", "Nice.", "My sister Ana is a teacher.", "I see."
    )
    await over(services, "I am allergic to nuts.", "Oh.", "I live in Braga.", "Yes?", "I play the violin.", "Fine.")

    kept = await services.notebooks.notebooks_of(MIRA)
    assert [item.notebook.title for item in kept].count("About Tomas") == 1
    assert len(kept) == len({item.notebook.title for item in kept})


async def test_a_line_leaves_with_the_conversation_that_states_it_and_comes_back_with_it(services: AppServices, work: str):
    await over(services, *NEW_JOB)
    assert any("nurse" in text for text in await texts(services))
    newest = (await services.sessions.list(MIRA))[0]

    await services.sessions.delete(newest.guid)
    assert any("baker" in text for text in await write(services))
    assert not any("nurse" in text for text in await texts(services))

    await services.sessions.restore(newest.guid)
    assert any("nurse" in text for text in await write(services))
    assert not any("baker" in text for text in await texts(services))


async def test_an_automatic_title_about_withdrawn_lines_is_replaced(services: AppServices):
    session = await hold(services, *JOB, at=now() - timedelta(days=3))
    await archive(services, session)
    facts = await services.facts.facts_of(MIRA)
    baker = next(fact for fact in facts if "baker" in fact.fact)
    conclusions = [Conclusion(baker.fact, now().date()), Conclusion("Tomas likes rain.", now().date())]
    await services.notebooks.create(MIRA, "The baker", conclusions, "A baker", is_automatic=True)

    await services.facts.forget_fact(baker.guid)
    await services.notebook_writer.write_all_pending()

    (item,) = [item for item in await services.notebooks.notebooks_of(MIRA) if "rain" in str(item.notebook.lines)]
    assert "baker" not in f"{item.name} {item.notebook.title} {item.summary} {item.notebook.lines}".casefold()


async def test_a_line_worded_by_the_user_stays_when_its_conversation_is_deleted(services: AppServices, work: str):
    (item,) = await services.notebooks.notebooks_of(MIRA)
    text = await services.notebooks.load_text(MIRA, item.name)
    await services.notebooks.save_edit(MIRA, item.name, f"{text}- Tomas works as a baker in Porto.\n", text)

    for summary in await services.sessions.list(MIRA):
        await services.sessions.delete(summary.guid)

    assert await write(services) == ["Tomas works as a baker in Porto."]


async def test_lines_come_back_with_their_conversation_after_a_restart(tmp_path: Path):
    home = write_personas(tmp_path / "home", PERSONAS).home
    async with opened(home) as services:
        await over(services, *JOB, days_ago=3)
        (session,) = await services.sessions.list(MIRA)
        await services.sessions.delete(session.guid)
        assert await write(services) == []

    async with opened(home) as services:
        await services.sessions.restore(session.guid)
        assert any("baker" in text for text in await write(services))
