"""Personas as the user makes them: copies, pictures, what can be taken back, and drafts one can already talk with."""

from __future__ import annotations

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.persona import Persona


async def greeting(services: AppServices, session_id) -> str:
    (line,) = await services.sessions.page(session_id, 0, 10)
    return line.content


async def test_a_duplicate_has_everything_but_the_past(services: AppServices):
    mira = await services.library.persona("mira-test")

    copy = await services.library.duplicate_persona("mira-test", "Mira (copy)")

    assert copy.unique_name not in {"", "mira-test"}
    assert copy.model_copy(update={"unique_name": "mira-test", "name": "Mira"}) == mira
    assert await services.sessions.list(copy.unique_name) == []


async def test_a_deleted_persona_comes_back_with_what_was_said(services: AppServices):
    session = await services.sessions.new("mira-test")

    trashed = await services.library.delete_persona("mira-test")
    restored = await services.library.restore_persona(trashed)

    assert restored == "mira-test"
    assert [summary.guid for summary in await services.sessions.list(restored)] == [session.guid]


async def test_a_new_persona_does_not_inherit_from_a_deleted_one_of_the_same_name(services: AppServices):
    first = await services.library.save_persona(Persona(name="Ada"))
    await services.library.delete_persona(first.unique_name)

    second = await services.library.save_persona(Persona(name="Ada"))

    assert second.unique_name != first.unique_name


async def test_what_came_with_lethe_can_be_seen_under_what_the_user_made_of_it(services: AppServices):
    ours = await services.library.persona("mira")
    await services.library.save_persona(ours.model_copy(update={"bio": "Another."}))

    assert await services.library.shipped_persona("mira") == ours
    assert await services.library.shipped_persona("mira-test") is None
    assert (services.library.is_own("mira"), services.library.is_own("edmund")) == (True, False)


# drafts


async def test_a_draft_speaks_and_the_saved_persona_stays_unchanged(services: AppServices):
    saved = await services.library.persona("mira-test")
    draft = saved.model_copy(update={"first_messages": ["“A new hat, {{user}}!”"], "bio": "Wears hats."})

    session = await services.draft_chat.start_session(draft, "Draft")
    copy = await services.library.persona(session.persona_id)

    assert await greeting(services, session.guid) == "“A new hat, Tomas!”"
    assert (copy.name, copy.tagline, copy.bio) == ("Mira", "Draft · ship navigator", "Wears hats.")
    assert await services.library.persona("mira-test") == saved
    assert await services.sessions.list("mira-test") == []


async def test_the_next_draft_is_played_by_the_same_copy_and_greets_in_its_own_words(services: AppServices):
    saved = await services.library.persona("mira-test")
    first = await services.draft_chat.start_session(saved.model_copy(update={"first_messages": ["One."]}), "Draft")
    second = await services.draft_chat.start_session(saved.model_copy(update={"first_messages": ["Two."]}), "Draft")

    assert second.persona_id == first.persona_id
    assert await greeting(services, second.guid) == "Two."


async def test_a_draft_is_found_again_as_it_was_written(services: AppServices):
    saved = await services.library.persona("mira-test")
    draft = saved.model_copy(update={"bio": "Wears hats."})

    session = await services.draft_chat.start_session(draft, "Draft")
    rehearsal = await services.draft_chat.draft_of(session.persona_id)

    assert rehearsal.draft == draft
    assert await services.draft_chat.copy_of("mira-test") == session.persona_id
    assert await services.draft_chat.draft_of("mira-test") is None


async def test_a_copy_is_thrown_away_with_its_conversations_and_can_be_taken_back(services: AppServices):
    session = await services.draft_chat.start_session(Persona(name="Ada", bio="Counts.", first_messages=["Good day."]), "Draft")
    copy = session.persona_id

    dismissal = await services.draft_chat.delete_copy(copy)
    gone = (copy in {one.unique_name for one in await services.library.personas()}, await services.sessions.list(copy))
    await services.draft_chat.restore_copy(dismissal)

    rehearsal = await services.draft_chat.draft_of(copy)
    assert gone == (False, [])
    assert [summary.guid for summary in await services.sessions.list(copy)] == [session.guid]
    assert rehearsal.draft == Persona(name="Ada", bio="Counts.", first_messages=["Good day."])


async def test_a_copy_that_is_kept_is_a_persona_of_its_own(services: AppServices):
    session = await services.draft_chat.start_session(await services.library.persona("mira-test"), "Draft")

    await services.draft_chat.keep_copy(session.persona_id)

    assert await services.draft_chat.draft_of(session.persona_id) is None
    assert await services.draft_chat.copy_of("mira-test") == ""
    assert (await services.library.persona(session.persona_id)).name == "Mira"
