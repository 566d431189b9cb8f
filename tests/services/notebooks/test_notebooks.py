"""What conversations come to is written down once, where it belongs; what is written is told in place of single memories."""

from __future__ import annotations

import errno
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from lethe_app.brain.notebooks.document import Conclusion
from lethe_app.brain.notebooks.splitting import split_without_model
from lethe_app.brain.notebooks.subjects import SubjectStems
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now, system_clock, use_clock
from lethe_app.domain.facts import MadeBy
from lethe_app.domain.recall import RecalledMemory
from lethe_app.errors import FileError, LetheError, StorageError
from lethe_app.storage.key_value import NOTEBOOK_PROGRESS, AppState
from tests.services.past_sessions import NUTS, archive, concluded, hold, trusted
from tests.services.turns import MIRA, TurnOutcome, add_memory, prompt_of, say
from tests.storage.scenes import purge_trash

RICE = (
    "My paella always wants bomba rice.",
    "Noted, bomba rice.",
    "I cook my broth from scratch, I never buy cubes for the paella.",
    "Of course.",
    "I love saffron in my paella.",
    "Who does not?",
)


async def over(services: AppServices, *lines: str) -> ChatSession:
    """A conversation that was held and archived."""
    session = await hold(services, *lines)
    await archive(services, session)
    return await services.sessions.open(session.guid)


def today() -> str:
    return now().date().isoformat()


async def titles(services: AppServices) -> list[str]:
    return [kept.notebook.title for kept in await services.notebooks.notebooks_of(MIRA)]


async def lines_of(services: AppServices, name: str) -> list[str]:
    kept = {kept.name: kept.notebook for kept in await services.notebooks.notebooks_of(MIRA)}
    return [line.text for line in kept[name].lines]


async def cooking(services: AppServices) -> str:
    """A notebook that is there already."""
    said = ["Tomas prefers bomba rice for paella.", "Broth is always homemade.", "Tomas is allergic to tree nuts."]
    day = now().date()
    return await services.notebooks.create(MIRA, "Cooking", [Conclusion(text, day) for text in said], "rice and broth")


def noted(outcome: TurnOutcome) -> list[RecalledMemory]:
    return [one for one in outcome.memory.recalled if one.world == "notebook"]


async def test_three_conclusions_without_a_notebook_make_a_new_one(services: AppServices):
    await over(services, *NUTS)

    assert await services.notebook_writer.write_pending(MIRA) == 1

    (kept,) = await services.notebooks.notebooks_of(MIRA)
    text = (services.paths.notebooks / MIRA / f"{kept.name}.md").read_text(encoding="utf-8")
    facts = [fact.fact for fact in await services.facts.facts_of(MIRA)]
    assert text.startswith(f"# {kept.notebook.title}\n\n- ")
    assert len(facts) >= 3
    assert sorted(line.text for line in kept.notebook.lines) == sorted(facts)
    assert all(f"({today()})" in row for row in text.splitlines()[2:])


async def test_a_conversation_is_read_once(services: AppServices):
    await over(services, *NUTS)
    await services.notebook_writer.write_pending(MIRA)
    before = {
        name: await lines_of(services, name) for name in [kept.name for kept in await services.notebooks.notebooks_of(MIRA)]
    }

    assert await services.notebook_writer.write_pending(MIRA) == 0
    assert {name: await lines_of(services, name) for name in before} == before


async def test_a_conversation_in_the_trash_is_still_known_as_read_and_an_erased_one_no_more(services: AppServices):
    trashed, erased = await over(services, *NUTS), await over(services, *NUTS)
    await services.notebook_writer.write_pending(MIRA)
    for session in (erased, trashed):
        await services.session_store.delete_session(session.guid)
        if session is erased:
            await purge_trash(services.database, 0, now() + timedelta(seconds=1))

    last = await over(services, *RICE)
    await services.notebook_writer.write_pending(MIRA)

    stored = await AppState(services.database).get(NOTEBOOK_PROGRESS, MIRA)
    assert isinstance(stored, dict)
    assert set(stored) == {str(trashed.guid), str(last.guid)}


async def test_fewer_than_three_are_kept_as_facts_and_make_no_notebook(services: AppServices):
    await over(services, "I am allergic to peanuts.", "Noted.", "Good night then.", "Good night.")

    await services.notebook_writer.write_pending(MIRA)

    assert await titles(services) == []
    assert len(await services.facts.facts_of(MIRA)) == 1


async def test_a_conversation_about_two_things_fills_two_notebooks(services: AppServices):
    name = await cooking(services)
    kin = ("My sister is called Ines.", "Nice.", "My brother Otto lives in Porto.", "Oh.", "My aunt is a nurse.", "I see.")
    await over(services, *RICE, *kin)

    await services.notebook_writer.write_pending(MIRA)

    assert sorted(await titles(services)) == ["Cooking", "Family"]
    assert not [line for line in await lines_of(services, name) if "Otto" in line or "aunt" in line]


async def test_what_belongs_to_a_notebook_is_added_to_it(services: AppServices):
    name = await cooking(services)
    await over(services, *RICE)

    await services.notebook_writer.write_pending(MIRA)

    assert await titles(services) == ["Cooking"]
    lines = await lines_of(services, name)
    assert lines[:3] == ["Tomas prefers bomba rice for paella.", "Broth is always homemade.", "Tomas is allergic to tree nuts."]
    added = lines[3:]
    assert any("saffron" in line for line in added)
    assert set(added) <= {fact.fact for fact in await services.facts.facts_of(MIRA)}, "each is in general memory as well"


async def test_nothing_is_written_where_the_user_wants_no_notebooks(services: AppServices):
    await services.preferences.set(notebooks=False)
    await over(services, *NUTS)

    await services.notebook_writer.write_all_pending()

    assert await titles(services) == []


async def test_a_trusted_model_says_what_a_conversation_came_to_and_only_what_was_agreed_counts(
    services: AppServices, tmp_path: Path
):
    session = await over(
        services,
        "The dough wants a night in the cellar.",
        "Rye dough likes honey.",
        "Who knows. I will sell loaves at the market from May.",
        "You bake best on Sundays.",
        "Yes, I bake best on Sundays.",
        "So it is.",
    )
    found = [
        concluded(1, "The dough wants a night in the cellar", "Tomas's dough wants a night in the cellar."),
        concluded(2, "Rye dough likes honey", "Rye dough likes honey."),
        concluded(3, "I will sell loaves at the market", "Tomas will sell loaves at the market."),
        concluded(4, "You bake best on Sundays", "Tomas bakes best on Sundays."),
        concluded(6, "So it is", "Tomas owns seven bakeries in Lisbon."),
    ]
    answer = {"conclusions": found, "subject": "Baking bread"}
    await trusted(services, tmp_path / "model.json", answers=[answer, {"is_said": True}])

    (name,) = await services.conclusion_writer.write_session(session.guid)

    assert await titles(services) == ["Baking bread"]
    assert await lines_of(services, name) == [found[place]["conclusion"] for place in (0, 2, 3)]
    kept = {fact.fact for fact in await services.facts.facts_of(MIRA) if fact.made_by is MadeBy.MODEL}
    assert {str(found[place]["conclusion"]) for place in (0, 2, 3)} <= kept


async def test_a_fact_that_was_forgotten_is_struck_out(services: AppServices):
    await over(services, *NUTS)
    await services.notebook_writer.write_pending(MIRA)
    fact = next(fact for fact in await services.facts.facts_of(MIRA) if "peanuts" in fact.fact)
    (kept,) = await services.notebooks.notebooks_of(MIRA)

    await services.facts.forget_fact(fact.guid)
    await services.notebook_writer.write_all_pending()

    assert fact.fact not in await lines_of(services, kept.name)
    assert "peanuts" not in (services.paths.notebooks / MIRA / f"{kept.name}.md").read_text(encoding="utf-8")


# The user's own hand


async def test_what_the_user_writes_into_a_file_is_read_and_never_written_over(services: AppServices):
    name = await cooking(services)
    path = services.paths.notebooks / MIRA / f"{name}.md"
    path.write_text(path.read_text(encoding="utf-8") + "\nMy own words, in no line.\n- By hand\n", encoding="utf-8")

    await services.notebooks.add_conclusions(MIRA, name, [Conclusion("And by itself.", now().date())])

    text = path.read_text(encoding="utf-8")
    assert "My own words, in no line.\n- By hand\n- And by itself. (" in text
    assert (await lines_of(services, name))[-2:] == ["By hand", "And by itself."]


async def test_a_file_that_cannot_be_read_is_told_and_keeps_nobody_from_talking(
    services: AppServices, says: Callable[..., object]
):
    name = await cooking(services)
    path = services.paths.notebooks / MIRA / f"{name}.md"
    path.write_bytes(b"\xff\xfe")
    await says("Well.")

    outcome = await say(services, await hold(services), "I am cooking paella.")

    assert outcome.reply.content == "Well."
    assert [problem.path for problem in await services.notebooks.list_errors(MIRA)] == [path]
    with pytest.raises(FileError, match=r"cooking\.md"):
        await services.notebooks.add_conclusions(MIRA, name, [Conclusion("Lost?", now().date())])
    assert path.read_bytes() == b"\xff\xfe"


async def test_a_file_that_the_system_refuses_is_told_in_a_sentence(services: AppServices, monkeypatch: pytest.MonkeyPatch):
    name = await services.notebooks.create(MIRA, "Fog")
    before = await services.notebooks.load_text(MIRA, name)

    def refuse(path: Path) -> bytes:
        raise PermissionError(errno.EACCES, "denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(StorageError):
        await services.notebooks.save_edit(MIRA, name, f"{before}\nMine.\n", before)


# Parting


async def long_one(services: AppServices, count: int) -> str:
    rice = [f"The paella number {number} wants rice." for number in range(count // 2)]
    bread = [f"The sourdough bread number {number} wants rye." for number in range(count // 2)]
    said = [Conclusion(text, now().date()) for pair in zip(rice, bread, strict=True) for text in pair]
    return await services.notebooks.create(MIRA, "Cooking", said)


async def test_a_notebook_that_grew_too_long_is_parted_and_every_line_lands_once(services: AppServices):
    await services.preferences.set(notebook_lines=10)
    name = await long_one(services, 12)
    before = await lines_of(services, name)

    names = await services.notebook_filer.split_if_long(MIRA, name)

    assert len(names) == 2
    after = [await lines_of(services, each) for each in names]
    assert sorted(line for lines in after for line in lines) == sorted(before)
    assert {one.name for one in await services.notebooks.notebooks_of(MIRA)} == set(names)
    assert not (services.paths.notebooks / MIRA / f"{name}.md").exists()


async def test_a_trusted_model_says_how_to_part_it(services: AppServices, tmp_path: Path):
    name = await long_one(services, 12)
    parts = [{"title": "Rice", "lines": [1, 3, 5, 7, 9, 11]}, {"title": "Bread", "lines": [2, 4, 6, 8, 10, 99]}]
    await trusted(services, tmp_path / "model.json", answers=[{"parts": parts}])

    await services.notebook_filer.split(MIRA, name)

    assert sorted(await titles(services)) == ["Bread", "Cooking, in general", "Rice"]
    assert await lines_of(services, "cooking-in-general") == ["The sourdough bread number 5 wants rye."]


async def test_what_changed_while_it_was_thought_about_is_not_parted(services: AppServices):
    name = await long_one(services, 12)
    (kept,) = await services.notebooks.notebooks_of(MIRA)
    pieces = split_without_model(kept.notebook, services.preferences.current.notebook_lines, SubjectStems())
    await services.notebooks.add_conclusions(MIRA, name, [Conclusion("One more.", now().date())])

    with pytest.raises(LetheError, match="changed in the meantime"):
        await services.notebooks.split(MIRA, kept.notebook, pieces)
    assert len(await lines_of(services, name)) == 13


# In the prompt


async def test_a_message_about_it_opens_the_notebook_in_the_place_of_single_facts(
    services: AppServices, says: Callable[..., object]
):
    await services.facts.add(MIRA, "Tomas prefers bomba rice for paella.")
    await services.facts.add(MIRA, "Tomas keeps bomba rice in the blue jar, far from the paella pan.")
    await cooking(services)
    await says("Good.")
    session = await hold(services)

    outcome = await say(services, session, "I am cooking paella with bomba rice tonight.")

    (one,) = noted(outcome)
    assert one.title == "Cooking"
    assert "Tomas is allergic to tree nuts." in one.text
    reported = [other.text for other in outcome.memory.recalled if other is not one]
    assert not any(text.endswith("prefers bomba rice for paella.") for text in reported)
    prompt = await prompt_of(services, session, outcome)
    assert "From Mira's notebook “Cooking”:" in prompt
    assert prompt.index("notebook “Cooking”") > prompt.index("What you two spoke of lately:")


async def test_small_talk_opens_none_and_the_open_one_stays(services: AppServices, says: Callable[..., object]):
    await cooking(services)
    await says(*["Good."] * 5)
    session = await hold(services)

    assert noted(await say(services, session, "Good morning! How are you?")) == []
    assert len(noted(await say(services, session, "I am cooking."))) == 1
    assert len(noted(await say(services, session, "Yes, why not."))) == 1
    assert noted(await say(services, await hold(services), "Yes, why not.")) == []


async def test_small_talk_is_not_told_the_open_notebook_and_closes_it_in_the_end(
    services: AppServices, says: Callable[..., object]
):
    await cooking(services)
    await says(*["Good."] * 9)
    session = await hold(services)

    assert len(noted(await say(services, session, "I am cooking."))) == 1
    assert noted(await say(services, session, "haha nice")) == []
    assert len(noted(await say(services, session, "And then?"))) == 1
    for small in ("ok cool", "brb someones at the door", "back", "hm"):
        assert noted(await say(services, session, small)) == []
    assert noted(await say(services, session, "And then?")) == []


async def test_a_new_conversation_is_told_what_was_spoken_of_lately(services: AppServices, says: Callable[..., object]):
    await cooking(services)
    await says("Good.")
    session = await hold(services)

    prompt = await prompt_of(services, session, await say(services, session, "Hello."))

    assert "What you two spoke of lately:\n- Cooking (today): rice and broth" in prompt


async def test_an_open_notebook_moves_into_the_frame_when_that_is_made_anew_and_not_before(
    services: AppServices, says: Callable[..., object]
):
    await cooking(services)
    await says(*["Good."] * 4)
    session = await hold(services)
    first = await say(services, session, "I am cooking paella.")
    second = await say(services, session, "And then?")
    frame = await services.stable_prefixes.load(session.guid)
    assert frame.notebook == ""
    assert (len(noted(first)), len(noted(second))) == (1, 1)

    services.prompts_outdated.notify(MIRA)
    third = await say(services, session, "And now?")

    frame = await services.stable_prefixes.load(session.guid)
    assert "notebook “Cooking”" in frame.notebook
    assert noted(third) == []
    assert (await prompt_of(services, session, third)).count("notebook “Cooking”") == 1


async def test_what_the_user_strikes_out_is_gone_from_the_next_prompt(services: AppServices, says: Callable[..., object]):
    name = await cooking(services)
    await says(*["Good."] * 4)
    session = await hold(services)
    await say(services, session, "I am cooking paella.")
    services.prompts_outdated.notify(MIRA)
    await say(services, session, "And now?")
    base = await services.notebooks.load_text(MIRA, name)

    await services.notebooks.save_edit(MIRA, name, base.replace("allergic to tree nuts", "fond of rain"), base)
    outcome = await say(services, session, "And now again?")

    prompt = await prompt_of(services, session, outcome)
    assert "tree nuts" not in prompt
    assert "fond of rain" in prompt


async def test_a_long_notebook_takes_only_its_share_of_the_prompt(services: AppServices, says: Callable[..., object]):
    said = [f"Paella number {number} wanted rice, saffron, broth and a lot of patience." for number in range(200)]
    await services.notebooks.create(MIRA, "Cooking", [Conclusion(text, now().date()) for text in said])
    await says("Good.")

    (one,) = noted(await say(services, await hold(services), "I am cooking."))

    assert "number 199" in one.text
    assert "number 1 " not in one.text
    assert len(one.text) < 8192 * 0.08 * 6


async def test_an_open_notebook_replaces_the_memories_that_have_accumulated(services: AppServices, says: Callable[..., object]):
    await cooking(services)
    lantern = await add_memory(services, "The lantern is in the attic.", name="", keywords_main=["lantern"])
    await says(*["Good."] * 9)
    session = await hold(services)

    async def stays(message: str) -> tuple[bool, bool]:
        outcome = await say(services, session, message)
        return lantern.guid in {one.memory for one in outcome.memory.recalled}, bool(noted(outcome))

    assert await stays("Where is the lantern?") == (True, False)
    assert await stays("Thanks.") == (True, False)
    assert await stays("I am cooking paella with bomba rice tonight.") == (False, True)
    assert await stays("The lantern beside the paella?") == (True, True), "what a message asks for is still recalled"
    assert (await stays("The broth for the paella is ready."))[0] is False
    for small in ("ok cool", "brb someones at the door", "back", "hm", "hm"):
        assert await stays(small) == (False, False)


async def test_twenty_recent_subjects_are_listed_with_their_age_as_far_as_the_context_allows(
    services: AppServices, says: Callable[..., object]
):
    clock = system_clock()
    for number in range(24):
        with use_clock(lambda day=number: clock - timedelta(days=24 - day)):
            title = f"Matter {chr(97 + number)}{chr(97 + number)}"
            conclusions = [Conclusion(f"Tomas knows about {title} {place}.", clock.date()) for place in range(3)]
            await services.notebooks.create(MIRA, title, conclusions, "much was said")

    listed = {}
    for context in (1024, 16_384):
        await services.preferences.set(context=context, max_reply=64)
        await says("Good.", context=context)
        session = await hold(services)
        prompt = await prompt_of(services, session, await say(services, session, "Hello."))
        listed[context] = [line for line in prompt.splitlines() if line.startswith("- Matter")]

    assert len(listed[16_384]) == 20
    assert listed[16_384][0] == "- Matter xx (yesterday): much was said"
    assert listed[16_384][-1].startswith("- Matter ee (3 weeks ago): much was said")
    assert 3 <= len(listed[1024]) < 7


async def test_an_observation_that_the_user_confirmed_is_remembered_and_written_down(services: AppServices):
    name = await cooking(services)
    await over(
        services,
        "I made paella with bomba rice again.",
        "You always cook paella without any salt.",
        "Yes, exactly.",
        "It suits the rice.",
        "I am learning to make broth from crabs.",
        "How brave.",
    )

    await services.notebook_writer.write_pending(MIRA)

    observed = "Tomas always cooks paella without any salt."
    assert observed in {fact.fact for fact in await services.facts.facts_of(MIRA)}
    assert observed in await lines_of(services, name)
