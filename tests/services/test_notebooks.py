"""What conversations come to is written down once, where it belongs; what is written is told in place of single memories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lethe_app.brain.notebooks.document import Conclusion
from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.clock import now
from lethe_app.domain.facts import MadeBy
from lethe_app.domain.recall import Recollection
from lethe_app.errors import FileError, LetheError
from tests.services.past import NUTS, concluded, hold, trusted
from tests.services.stage import MIRA, Played, prompt_of, say

RICE = (
    "My paella always wants bomba rice.",
    "Noted, bomba rice.",
    "I cook my broth from scratch, I never buy cubes for the paella.",
    "Of course.",
    "I love saffron in my paella.",
    "Who does not?",
)


async def over(house: AppServices, *lines: str) -> ChatSession:
    """A conversation that was held and archived."""
    session = await hold(house, *lines)
    assert await house.archiving.archive_session(session.guid)
    await house.archiving.finish()
    return await house.sessions.open(session.guid)


def today() -> str:
    return now().date().isoformat()


async def titles(house: AppServices) -> list[str]:
    return [kept.notebook.title for kept in await house.mind.notebooks.notebooks_of(MIRA)]


async def lines_of(house: AppServices, name: str) -> list[str]:
    kept = {kept.name: kept.notebook for kept in await house.mind.notebooks.notebooks_of(MIRA)}
    return [line.text for line in kept[name].lines]


async def cooking(house: AppServices) -> str:
    """A notebook that is there already."""
    said = ["Tomas prefers bomba rice for paella.", "Broth is always homemade.", "Tomas is allergic to tree nuts."]
    day = now().date()
    return await house.mind.notebooks.create(MIRA, "Cooking", [Conclusion(text, day) for text in said], "rice and broth")


def noted(played: Played) -> list[Recollection]:
    return [one for one in played.memory.recalled if one.world == "notebook"]


async def test_three_conclusions_without_a_notebook_make_a_new_one(house: AppServices):
    await over(house, *NUTS)

    assert await house.mind.notekeeping.write_pending(MIRA) == 1

    (kept,) = await house.mind.notebooks.notebooks_of(MIRA)
    text = (house.paths.notebooks / MIRA / f"{kept.name}.md").read_text(encoding="utf-8")
    facts = [fact.fact for fact in await house.knowing.all(MIRA)]
    assert text.startswith(f"# {kept.notebook.title}\n\n- ")
    assert len(facts) >= 3
    assert sorted(line.text for line in kept.notebook.lines) == sorted(facts)
    assert all(f"({today()})" in row for row in text.splitlines()[2:])


async def test_a_conversation_is_read_once(house: AppServices):
    await over(house, *NUTS)
    await house.mind.notekeeping.write_pending(MIRA)
    before = {
        name: await lines_of(house, name) for name in [kept.name for kept in await house.mind.notebooks.notebooks_of(MIRA)]
    }

    assert await house.mind.notekeeping.write_pending(MIRA) == 0
    assert {name: await lines_of(house, name) for name in before} == before


async def test_fewer_than_three_are_kept_as_facts_and_make_no_notebook(house: AppServices):
    await over(house, "I am allergic to peanuts.", "Noted.", "Good night then.", "Good night.")

    await house.mind.notekeeping.write_pending(MIRA)

    assert await titles(house) == []
    assert len(await house.knowing.all(MIRA)) == 1


async def test_a_conversation_about_two_things_fills_two_notebooks(house: AppServices):
    name = await cooking(house)
    kin = ("My sister is called Ines.", "Nice.", "My brother Otto lives in Porto.", "Oh.", "My aunt is a nurse.", "I see.")
    await over(house, *RICE, *kin)

    await house.mind.notekeeping.write_pending(MIRA)

    assert sorted(await titles(house)) == ["Cooking", "Family"]
    assert not [line for line in await lines_of(house, name) if "Otto" in line or "aunt" in line]


async def test_what_belongs_to_a_notebook_is_added_to_it(house: AppServices):
    name = await cooking(house)
    await over(house, *RICE)

    await house.mind.notekeeping.write_pending(MIRA)

    assert await titles(house) == ["Cooking"]
    lines = await lines_of(house, name)
    assert lines[:3] == ["Tomas prefers bomba rice for paella.", "Broth is always homemade.", "Tomas is allergic to tree nuts."]
    assert any("saffron" in line for line in lines[3:])


async def test_nothing_is_written_where_the_user_wants_no_notebooks(house: AppServices):
    await house.preferences.set(notebooks=False)
    await over(house, *NUTS)

    await house.mind.notekeeping.catch_up()

    assert await titles(house) == []


async def test_a_trusted_model_says_what_a_conversation_came_to_and_only_what_was_agreed_counts(
    house: AppServices, tmp_path: Path
):
    session = await over(
        house,
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
    await trusted(house, tmp_path / "model.json", answers=[answer, {"is_said": True}])

    (name,) = await house.mind.notekeeping.digest(session.guid)

    assert await titles(house) == ["Baking bread"]
    assert await lines_of(house, name) == [found[place]["conclusion"] for place in (0, 2, 3)]
    kept = {fact.fact for fact in await house.knowing.all(MIRA) if fact.made_by is MadeBy.MODEL}
    assert {str(found[place]["conclusion"]) for place in (0, 2, 3)} <= kept


async def test_a_fact_that_was_forgotten_is_struck_out(house: AppServices):
    await over(house, *NUTS)
    await house.mind.notekeeping.write_pending(MIRA)
    fact = next(fact for fact in await house.knowing.all(MIRA) if "peanuts" in fact.fact)
    (kept,) = await house.mind.notebooks.notebooks_of(MIRA)

    await house.knowing.forget_fact(fact.guid)
    await house.mind.notekeeping.catch_up()

    assert fact.fact not in await lines_of(house, kept.name)
    assert "peanuts" not in (house.paths.notebooks / MIRA / f"{kept.name}.md").read_text(encoding="utf-8")


# The user's own hand


async def test_what_the_user_writes_into_a_file_is_read_and_never_written_over(house: AppServices):
    name = await cooking(house)
    path = house.paths.notebooks / MIRA / f"{name}.md"
    path.write_text(path.read_text(encoding="utf-8") + "\nMy own words, in no line.\n- By hand\n", encoding="utf-8")

    await house.mind.notebooks.add(MIRA, name, [Conclusion("And by itself.", now().date())])

    text = path.read_text(encoding="utf-8")
    assert "My own words, in no line.\n- By hand\n- And by itself. (" in text
    assert (await lines_of(house, name))[-2:] == ["By hand", "And by itself."]


async def test_what_came_while_the_user_was_typing_is_kept_beside_it(house: AppServices):
    name = await cooking(house)
    base = await house.mind.notebooks.text(MIRA, name)
    await house.mind.notebooks.add(MIRA, name, [Conclusion("Meanwhile.", now().date())])

    after = await house.mind.notebooks.write(MIRA, name, base.replace("bomba", "round"), base)

    assert "round rice" in after
    assert "- Meanwhile." in after


async def test_a_file_that_cannot_be_read_is_told_and_keeps_nobody_from_talking(
    house: AppServices, says: Callable[..., object]
):
    name = await cooking(house)
    path = house.paths.notebooks / MIRA / f"{name}.md"
    path.write_bytes(b"\xff\xfe")
    await says("Well.")

    played = await say(house, await hold(house), "I am cooking paella.")

    assert played.reply.content == "Well."
    assert [problem.path for problem in await house.mind.notebooks.problems(MIRA)] == [path]
    with pytest.raises(FileError, match=r"cooking\.md"):
        await house.mind.notebooks.add(MIRA, name, [Conclusion("Lost?", now().date())])
    assert path.read_bytes() == b"\xff\xfe"


async def test_a_notebook_is_renamed_merged_and_comes_back_from_the_trash(house: AppServices):
    notebooks = house.mind.notebooks
    name = await notebooks.rename(MIRA, await cooking(house), "In the kitchen")
    assert (name, await titles(house)) == ("in-the-kitchen", ["In the kitchen"])

    other = await notebooks.create(MIRA, "Rice", [Conclusion("Rice is round.", now().date())])
    merged = await notebooks.merge(MIRA, [name, other])
    assert await titles(house) == ["In the kitchen"]
    assert len(await lines_of(house, merged)) == 4

    trashed = await notebooks.delete(MIRA, merged)
    assert await titles(house) == []
    assert await notebooks.restore(trashed) == merged
    assert len(await lines_of(house, merged)) == 4
    with pytest.raises(LetheError, match="two"):
        await notebooks.merge(MIRA, [merged])


# Parting


async def long_one(house: AppServices, count: int) -> str:
    rice = [f"The paella number {number} wants rice." for number in range(count // 2)]
    bread = [f"The sourdough bread number {number} wants rye." for number in range(count // 2)]
    said = [Conclusion(text, now().date()) for pair in zip(rice, bread, strict=True) for text in pair]
    return await house.mind.notebooks.create(MIRA, "Cooking", said)


async def test_a_notebook_that_grew_too_long_is_parted_and_every_line_lands_once(house: AppServices):
    await house.preferences.set(notebook_lines=10)
    name = await long_one(house, 12)
    before = await lines_of(house, name)

    names = await house.mind.notekeeping.part_if_long(MIRA, name)

    assert len(names) == 2
    after = [await lines_of(house, each) for each in names]
    assert sorted(line for lines in after for line in lines) == sorted(before)
    assert {one.name for one in await house.mind.notebooks.recent(MIRA)} == set(names)
    assert not (house.paths.notebooks / MIRA / f"{name}.md").exists()


async def test_a_trusted_model_says_how_to_part_it(house: AppServices, tmp_path: Path):
    name = await long_one(house, 12)
    parts = [{"title": "Rice", "lines": [1, 3, 5, 7, 9, 11]}, {"title": "Bread", "lines": [2, 4, 6, 8, 10, 99]}]
    await trusted(house, tmp_path / "model.json", answers=[{"parts": parts}])

    await house.mind.notekeeping.part(MIRA, name)

    assert sorted(await titles(house)) == ["Bread", "Cooking, in general", "Rice"]
    assert await lines_of(house, "cooking-in-general") == ["The sourdough bread number 5 wants rye."]


async def test_what_changed_while_it_was_thought_about_is_not_parted(house: AppServices):
    name = await long_one(house, 12)
    (kept,) = await house.mind.notebooks.notebooks_of(MIRA)
    pieces = await house.mind.notekeeping._pieces(kept.notebook)
    await house.mind.notebooks.add(MIRA, name, [Conclusion("One more.", now().date())])

    with pytest.raises(LetheError, match="changed meanwhile"):
        await house.mind.notebooks.part(MIRA, kept.notebook, pieces)
    assert len(await lines_of(house, name)) == 13


# In the prompt


async def test_a_message_about_it_opens_the_notebook_in_the_place_of_single_facts(
    house: AppServices, says: Callable[..., object]
):
    await house.knowing.add(MIRA, "Tomas prefers bomba rice for paella.")
    await house.knowing.add(MIRA, "Tomas keeps bomba rice in the blue jar, far from the paella pan.")
    await cooking(house)
    await says("Good.")
    session = await hold(house)

    played = await say(house, session, "I am cooking paella with bomba rice tonight.")

    (one,) = noted(played)
    assert one.title == "Cooking"
    assert "Tomas is allergic to tree nuts." in one.text
    told = [other.text for other in played.memory.recalled if other is not one]
    assert not any(text.endswith("prefers bomba rice for paella.") for text in told)
    prompt = await prompt_of(house, session, played)
    assert "From Mira's notebook “Cooking”:" in prompt
    assert prompt.index("notebook “Cooking”") > prompt.index("What you two spoke of lately:")


async def test_small_talk_opens_none_and_the_open_one_stays(house: AppServices, says: Callable[..., object]):
    await cooking(house)
    await says(*["Good."] * 5)
    session = await hold(house)

    assert noted(await say(house, session, "Good morning! How are you?")) == []
    assert len(noted(await say(house, session, "I am cooking."))) == 1
    assert len(noted(await say(house, session, "Yes, why not."))) == 1
    assert noted(await say(house, await hold(house), "Yes, why not.")) == []


async def test_small_talk_is_not_told_the_open_notebook_and_closes_it_in_the_end(
    house: AppServices, says: Callable[..., object]
):
    await cooking(house)
    await says(*["Good."] * 9)
    session = await hold(house)

    assert len(noted(await say(house, session, "I am cooking."))) == 1
    assert noted(await say(house, session, "haha nice")) == []
    assert len(noted(await say(house, session, "And then?"))) == 1
    for small in ("ok cool", "brb someones at the door", "back", "hm"):
        assert noted(await say(house, session, small)) == []
    assert noted(await say(house, session, "And then?")) == []


async def test_a_new_conversation_is_told_what_was_spoken_of_lately(house: AppServices, says: Callable[..., object]):
    await cooking(house)
    await says("Good.")
    session = await hold(house)

    prompt = await prompt_of(house, session, await say(house, session, "Hello."))

    assert "What you two spoke of lately:\n- Cooking (today): rice and broth" in prompt


async def test_an_open_notebook_moves_into_the_frame_when_that_is_made_anew_and_not_before(
    house: AppServices, says: Callable[..., object]
):
    await cooking(house)
    await says(*["Good."] * 4)
    session = await hold(house)
    first = await say(house, session, "I am cooking paella.")
    second = await say(house, session, "And then?")
    frame = await house.chat._frames.kept(session.guid)
    assert frame is not None
    assert frame.notebook == ""
    assert (len(noted(first)), len(noted(second))) == (1, 1)

    await house.chat._frames.renew(MIRA)
    third = await say(house, session, "And now?")

    frame = await house.chat._frames.kept(session.guid)
    assert frame is not None
    assert "notebook “Cooking”" in frame.notebook
    assert noted(third) == []
    assert (await prompt_of(house, session, third)).count("notebook “Cooking”") == 1


async def test_what_the_user_strikes_out_is_gone_from_the_next_prompt(house: AppServices, says: Callable[..., object]):
    name = await cooking(house)
    await says(*["Good."] * 4)
    session = await hold(house)
    await say(house, session, "I am cooking paella.")
    await house.chat._frames.renew(MIRA)
    await say(house, session, "And now?")
    base = await house.mind.notebooks.text(MIRA, name)

    await house.mind.notebooks.write(MIRA, name, base.replace("allergic to tree nuts", "fond of rain"), base)
    played = await say(house, session, "And now again?")

    prompt = await prompt_of(house, session, played)
    assert "tree nuts" not in prompt
    assert "fond of rain" in prompt


async def test_a_long_notebook_takes_only_its_share_of_the_prompt(house: AppServices, says: Callable[..., object]):
    said = [f"Paella number {number} wanted rice, saffron, broth and a lot of patience." for number in range(200)]
    await house.mind.notebooks.create(MIRA, "Cooking", [Conclusion(text, now().date()) for text in said])
    await says("Good.")

    (one,) = noted(await say(house, await hold(house), "I am cooking."))

    assert "number 199" in one.text
    assert "number 1 " not in one.text
    assert len(one.text) < 8192 * 0.08 * 6
