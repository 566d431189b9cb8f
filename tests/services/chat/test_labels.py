"""Each participant has one name for the model, and a reply holds only the words of the persona that speaks."""

from __future__ import annotations

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import ChatSession
from lethe_app.domain.model import StopReason
from lethe_app.domain.persona import Persona
from lethe_app.errors import LetheError, ModelError
from lethe_app.services.events import PromptBuilt, ReplyFinished, ReplyText
from tests.services.turns import MIRA, Talk, TurnOutcome, collect_turn

SETTINGS = {"add_names": True, "memory_enabled": False}
NICKNAME = {"name": "Captain Veronica Hale", "nickname": "Vee"}


def shown(outcome: TurnOutcome) -> str:
    return "".join(event.text for event in outcome.events if isinstance(event, ReplyText))


async def call_mira(services: AppServices, **names: str) -> None:
    persona = await services.library.persona(MIRA)
    await services.library.save_persona(persona.model_copy(update=names))


def usage(outcome: TurnOutcome) -> object:
    return next(event.usage for event in outcome.events if isinstance(event, ReplyFinished))


async def test_a_nickname_is_the_one_name_in_the_prompt(talk: Talk):
    await call_mira(talk.services, **NICKNAME)
    await talk.says("Aye.", "Vee: Good night.", "**Captain Veronica Hale:** Sleep.")
    await talk.say("Late again.")
    outcome, last = await talk.say("Bye."), await talk.say("So?")

    assert (outcome.reply.content, last.reply.content) == ("Good night.", "Sleep.")
    assert outcome.reply.speaker_name == "Captain Veronica Hale"  # as it is displayed
    text = await talk.prompt_of(outcome)
    assert text.endswith("\nVee:")
    assert "\nVee: Aye." in text
    assert "Captain" not in text


async def test_a_second_import_of_a_name_is_called_as_in_its_texts(talk: Talk):
    await call_mira(talk.services, name="Mira 2", nickname="Mira")
    await talk.says("Mira 2: Aye.", "Mira: Good night.")

    replies = [(await talk.say(text)).reply.content for text in ("Late again.", "Bye.")]

    assert replies == ["Aye.", "Good night."]


async def test_in_a_group_the_others_end_a_reply_by_all_their_names(services: AppServices, talk: Talk):
    guest = await services.library.save_persona(Persona(**NICKNAME, bio="{{char}} sails."))
    await services.sessions.set_guests(talk.session.guid, [guest.unique_name])
    await talk.says("Mira: Aye.\nVee: No.", "Hm.\n**Captain Veronica Hale:** No.", "Vee: I am here.\nMIRA: No.")

    outcomes = [await collect_turn(services.chat.send(talk.session.guid, "So?", name)) for name in (MIRA, MIRA)]
    outcomes.append(await collect_turn(services.chat.send(talk.session.guid, "So?", guest.unique_name)))

    assert [outcome.reply.content for outcome in outcomes] == ["Aye.", "Hm.", "I am here."]
    turn = await services.turn_loader.load(talk.session.guid, services.models.state.model, outcomes[2].reply, guest.unique_name)
    text = (await services.prompt_assembler.build(turn, services.models.state.model)).text
    assert "Vee speaks now, and nobody else." in text
    assert "Vee sails." in text
    assert text.endswith("\nVee:")
    assert "Captain" not in text


@pytest.mark.parametrize("label", ["Tomas:", "**Tomas:**", "Tomas：", "TOMAS :", "[Tomas]:"])
async def test_the_persona_does_not_speak_for_the_user(talk: Talk, label: str):
    await talk.says(
        f"Good night.\n\n{label} And you?\nMira: Me too.", f"<think>Tomas: sad?\nTomas: no.</think>Hm.\n{label} So?"
    )

    plain, thinking = await talk.say("Bye."), await talk.say("Bye!")

    assert (plain.reply.content, shown(plain)) == ("Good night.", "Good night.")
    assert (thinking.reply.content, thinking.reply.thinking) == ("Hm.", "Tomas: sad?\nTomas: no.")
    for outcome in (plain, thinking):
        assert outcome.reply.current.complete
        assert usage(outcome).reason is StopReason.END
        assert usage(outcome).prompt_tokens > 0  # the engine has reported what it cost


async def test_a_reply_that_begins_with_the_user_is_generated_again_behind_the_personas_name(talk: Talk):
    await talk.services.preferences.set(add_names=False)
    await talk.says("**Tomas:** I go.\nMira: Wait!", " Wait!")

    outcome = await talk.say("Bye.")

    assert (outcome.reply.content, shown(outcome)) == ("Wait!", "Wait!")
    assert sum(isinstance(event, PromptBuilt) for event in outcome.events) == 2
    assert [message.content for message in await talk.log()][-1] == "Wait!"


async def test_words_of_others_alone_are_no_reply(talk: Talk):
    await talk.says("Tomas: I go.", "Tomas: I go now.")

    with pytest.raises(ModelError, match="spoke only for others"):
        await talk.say("Bye.")

    assert [message.content for message in await talk.log()][-1] == "Bye."


@pytest.mark.parametrize("addition", ["", "\nTomas: And then?", "\n\n"])
async def test_continuing_a_finished_reply_says_that_it_is_finished(talk: Talk, addition: str):
    await talk.says("Once upon a time.", addition)
    reply = (await talk.say("A story.")).reply

    with pytest.raises(LetheError, match="This reply is finished"):
        await collect_turn(talk.services.chat.continue_reply(talk.session.guid, reply.id))

    again = await talk.services.sessions.message(reply.id)
    assert again.content == "Once upon a time."
    assert again.current.complete


async def test_labels_reach_the_order_of_a_group(services: AppServices, session: ChatSession):
    guest = await services.library.save_persona(Persona(**NICKNAME))
    participants = await services.participants.load_for_session(
        await services.sessions.set_guests(session.guid, [guest.unique_name])
    )

    context = participants.with_speaker(guest.unique_name).build_macro_context(session, session.added)

    assert (context.char, context.values["group"], context.values["mgroup"]) == ("Vee", "Vee and Mira", "Mira and Vee")
