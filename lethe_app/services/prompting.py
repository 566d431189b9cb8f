"""Collects what a turn's prompt is made of: the speakers, presets and as much of the conversation as the context may hold."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from lethe_app.domain.chat import Alternative, ChatSession, Message
from lethe_app.domain.clock import now
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.presets import SamplerPreset
from lethe_app.domain.prompt import Prompt, Turn
from lethe_app.prompt.builder import Request, build
from lethe_app.prompt.disarm import Disarmer
from lethe_app.prompt.instruct import Choice, choose_renderer
from lethe_app.services.casting import Cast
from lethe_app.services.counting import Counting
from lethe_app.services.library import Library
from lethe_app.services.preferences import Preferences
from lethe_app.storage.chats import Chats
from lethe_app.storage.state import SessionState

SHORTEST_TURN = 8
"""Tokens: no use in reading more messages than a context of such short ones could hold."""
SMALL_MODEL = 1_000_000_000
"""Weights below which a model is asked for little."""
NEXT_WORDS = "\ue0ff"
"""Stands where the user's next message will; no text of anybody's."""
CUT = "cut"
"""Key of a session's state: where its history begins in the prompt, which stays put from turn to turn."""


@dataclass(frozen=True)
class Format:
    """How the loaded model wants to be spoken to."""

    model: LoadedModel
    instruct: str
    choice: Choice
    disarm: Disarmer


class Prompting:
    """Builds prompts for the model that is loaded."""

    def __init__(
        self, chats: Chats, state: SessionState, library: Library, preferences: Preferences, counting: Counting
    ) -> None:
        self._chats = chats
        self._state = state
        self._library = library
        self._preferences = preferences
        self._counting = counting
        self._format: Format | None = None

    @property
    def longest_reply(self) -> int:
        """Tokens."""
        return self._preferences.current.max_reply

    async def sampler(self, model: LoadedModel) -> SamplerPreset:
        """The preset chosen, or one that suits the model, with the temperature set over it."""
        settings = self._preferences.current
        preset = await self._library.sampler(settings.sampler or suited_sampler(small=is_small(model)))
        if settings.temperature_override >= 0:
            return preset.model_copy(update={"temperature": settings.temperature_override})
        return preset

    async def build(
        self, session: ChatSession, cast: Cast, model: LoadedModel, before: UUID | None, so_far: Alternative | None
    ) -> Prompt:
        """The prompt for the next reply, or for the reply that comes after the history above `before`.

        With `so_far`, that wording is continued. Raises PromptTooLong, TemplateUnusable and FileError.
        """
        settings = self._preferences.current
        messages = await self._history(session, before, model.context)
        history = as_turns(messages)
        if so_far is not None:
            history.append(Turn("assistant", so_far.content, cast.persona.name))
        request = await self._request(session, cast, model, history)
        prompt = await build(replace(request, continue_last=so_far is not None), self._counting.count)
        if before is None or before == session.leaf_id:
            await self._remember_cut(session, messages, prompt.receipt.dropped_messages, model.context)
        if settings.first_paragraph_only:
            return replace(prompt, stop_strings=(*prompt.stop_strings, "\n\n"))
        return prompt

    async def beginning(self, session: ChatSession, cast: Cast, model: LoadedModel) -> str:
        """The next prompt as far as it is known before the user has written: up to where their words will stand."""
        messages = await self._history(session, None, model.context)
        history = [*as_turns(messages), Turn("user", NEXT_WORDS, cast.user.name)]
        prompt = await build(await self._request(session, cast, model, history), self._counting.count)
        return prompt.text.partition(NEXT_WORDS)[0]

    async def _request(self, session: ChatSession, cast: Cast, model: LoadedModel, history: Sequence[Turn]) -> Request:
        settings = self._preferences.current
        form = await self._form(model)
        return Request(
            renderer=form.choice.renderer,
            template_source=form.choice.template_source,
            persona=cast.persona,
            user=cast.user,
            system=await self._library.system_preset(settings.system_preset or suited_system(small=is_small(model))),
            scene=cast.scene(session, session.added),
            history=history,
            context=model.context,
            reply_reserve=min(settings.max_reply, model.context // 2),
            thinking=settings.thinking,
            add_names=settings.add_names,
            disarm=form.disarm,
        )

    async def _form(self, model: LoadedModel) -> Format:
        """Worked out once per model and chosen format; a hostile template may take its two seconds elsewhere."""
        instruct = self._preferences.current.instruct
        form = self._format
        if form is None or form.model is not model or form.instruct != instruct:
            presets = list((await self._library.instruct_presets()).values())
            choice = await asyncio.to_thread(choose_renderer, model, presets, instruct, now())
            form = self._format = Format(model, instruct, choice, Disarmer(model.control_tokens))
        return form

    async def _history(self, session: ChatSession, before: UUID | None, context: int) -> list[Message]:
        """From the message at which the last prompt began; in a session without one, as much as can matter."""
        most = max(context // SHORTEST_TURN, 1)
        messages = await self._chats.tail(session.guid, most, before)
        cut = await self._state.get(session.guid, CUT)
        if isinstance(cut, dict) and cut.get("context") == context:
            for place, message in enumerate(messages):
                if str(message.id) == cut.get("first"):
                    return messages[place:]
        return messages

    async def _remember_cut(self, session: ChatSession, messages: Sequence[Message], dropped: int, context: int) -> None:
        if not messages or dropped >= len(messages):
            return
        cut = {"first": str(messages[dropped].id), "context": context}
        if dropped or len(messages) >= context // SHORTEST_TURN:
            await self._state.set(session.guid, CUT, cut)


def is_small(model: LoadedModel) -> bool:
    """Does it lose its thread in a long system prompt, and repeat itself? Unknown sizes count as large."""
    return 0 < model.file.parameters < SMALL_MODEL


def suited_sampler(*, small: bool) -> str:
    """The sampler taken where the user chose none."""
    return "small-models" if small else "default"


def suited_system(*, small: bool) -> str:
    """The system prompt taken where the user chose none."""
    return "tiny" if small else "default"


def as_turns(messages: Sequence[Message]) -> list[Turn]:
    """What the model is shown of messages: never their thinking, and nothing of a reply that was stopped in its thoughts."""
    return [Turn(message.role.value, message.content, message.speaker_name) for message in messages if message.content.strip()]
