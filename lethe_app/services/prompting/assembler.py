"""Collects what a turn's prompt is made of: the speakers, presets and as much of the conversation as the context may hold."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from lethe_app.config.options import ModelChoices
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import SamplerPreset, SystemPreset
from lethe_app.domain.prompt import Note, Prompt, PromptTurn
from lethe_app.domain.recall import LOGGED, TurnMemory
from lethe_app.errors import PromptTooLong, StorageError
from lethe_app.prompt.budget import REREAD_TARGET
from lethe_app.prompt.builder import Request, build
from lethe_app.prompt.control_tokens import Disarmer
from lethe_app.prompt.format.instruct import RendererChoice, choose_renderer
from lethe_app.prompt.format.thinking import Markers, pair
from lethe_app.prompt.format.tool_calls import equipped
from lethe_app.prompt.macros import MacroContext, expand
from lethe_app.services.library import Library
from lethe_app.services.participants import Participants
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.macro_values import Fill, MacroPosition, unfilled
from lethe_app.services.prompting.stable_prefix import SHORTEST_TURN, StablePrefix, StablePrefixes
from lethe_app.services.prompting.tool_messages import newest_pairs, tool_turn
from lethe_app.services.token_counts import Counting
from lethe_app.storage.chats.sessions import Chats

Offered = Callable[[Persona], Sequence[dict[str, Any]]]
"""Tells the tools of a persona as chat templates want to know them."""
SMALL_MODEL = 1_000_000_000
"""Weights below which a model is asked for little."""
NEXT_WORDS = "\ue0ff"
"""Stands where the user's next message will; no text of anybody's."""
NEXT_SHARE = 12
"""Part of the context that the user's next words, and what they bring up, are expected to need: a history that leaves less room
is cut while nobody waits."""
AMPLE = 1_000_000
"""Context of a prompt that is only looked at."""
MOST_CUTS = 3
"""How often the history of one prompt may be cut: earlier conversations first, then the present one."""


@dataclass(frozen=True)
class Format:
    """How the loaded model wants to be spoken to."""

    model: LoadedModel
    instruct: str
    thinking: Markers | None
    """What encloses its thoughts, where the user said so."""
    choice: RendererChoice
    disarm: Disarmer


class Prompting:
    """Builds prompts for the model that is loaded."""

    def __init__(
        self, chats: Chats, frames: StablePrefixes, library: Library, preferences: Preferences, counting: Counting
    ) -> None:
        self._chats = chats
        self._frames = frames
        self._library = library
        self._preferences = preferences
        self._counting = counting
        self._format: Format | None = None
        self.offered: Offered = lambda _persona: []
        """The tools that a persona may use; set by `composition`."""
        self.fill: Fill = unfilled
        """Looks up the values of macros; put here in the same way."""

    @property
    def longest_reply(self) -> int:
        """Tokens."""
        return self._preferences.current.max_reply

    @property
    def cuts_the_cache(self) -> bool:
        """May what has left the prompt be cut out of what the model has read?"""
        return self._preferences.current.cache_surgery

    async def sampler(self, model: LoadedModel) -> SamplerPreset:
        """The preset chosen, or one that suits the model, with the temperature set over it."""
        settings = self._preferences.current
        preset = await self._library.sampler(settings.sampler or suited_sampler(small=is_small(model)))
        if settings.temperature_override >= 0:
            return preset.model_copy(update={"temperature": settings.temperature_override})
        return preset

    async def build(
        self,
        session: ChatSession,
        cast: Participants,
        model: LoadedModel,
        before: UUID | None,
        so_far: Alternative | None,
        memory: TurnMemory | None = None,
    ) -> Prompt:
        """The prompt for the next reply, or for the reply that comes after the history above `before`.

        With `so_far`, that wording is continued. `memory` is what the newest message brought up.
        Raises PromptTooLong, TemplateUnusable and FileError.
        """
        more = [PromptTurn("assistant", so_far.content, cast.speaker.name)] if so_far is not None else []
        prompt = await self._built(session, cast, model, before, more, memory or TurnMemory(), goes_on=so_far is not None)
        if self._preferences.current.first_paragraph_only:
            return replace(prompt, stop_strings=(*prompt.stop_strings, "\n\n"))
        return prompt

    async def beginning(self, session: ChatSession, cast: Participants, model: LoadedModel, lasting: TurnMemory) -> str:
        """The next prompt as far as it is known before the user has written: up to where their words will stand.

        `lasting` is what will be in the system prompt, whatever they write. A history that is about to outgrow its room is cut
        now, while nobody waits.
        """
        words = [PromptTurn("user", NEXT_WORDS, cast.user.name)]
        with suppress(PromptTooLong):  # the turn itself may still fit, and tells if it does not
            await self._built(session, cast, model, None, words, lasting, spare=model.context // NEXT_SHARE)
        prompt = await self._built(session, cast, model, None, words, lasting)
        return prompt.text.partition(NEXT_WORDS)[0]

    async def _built(
        self,
        session: ChatSession,
        cast: Participants,
        model: LoadedModel,
        before: UUID | None,
        more: Sequence[PromptTurn],
        memory: TurnMemory,
        *,
        goes_on: bool = False,
        spare: int = 0,
    ) -> Prompt:
        """The prompt of everything above `before` and of what comes after it; what has no room beside `spare` is summed up."""
        frame = await self._frames.prefix_of(session, cast, model)
        scene = await self._scene(session, cast, model, memory)
        memory = await self._present(session, cast, before, memory, scene)
        is_newest = before is None or before == session.leaf_id
        for _cut in range(MOST_CUTS):
            messages = await self._history(session, frame, before, model.context)
            if is_newest and (over := self._over_the_cap(messages, session)):
                frame = await self._frames.cut(session, cast, model, frame, messages, over)
                messages = await self._history(session, frame, before, model.context)
            if not is_newest and all(message.id != frame.first for message in messages):
                frame = frame.model_copy(update={"first": None, "rolling": ""})  # all of it is there word for word
            request = await self._request(session, cast, model, [*as_turns(messages), *more], frame, memory, scene)
            reserve = request.reply_reserve + spare
            prompt = await build(replace(request, continue_last=goes_on, reply_reserve=reserve), self._counting.count)
            dropped = prompt.receipt.dropped_messages
            if not is_newest or not 0 < dropped < len(messages):
                break
            frame = await self._frames.cut(session, cast, model, frame, messages, dropped)
        return prompt

    async def preview(self, cast: Participants, model: LoadedModel, history: Sequence[PromptTurn]) -> Prompt:
        """Build the prompt of a conversation that begins with `history`, before anything is remembered; stores nothing.

        What is too long for the context is shown whole. Raises TemplateUnusable and FileError.
        """
        frame = StablePrefix(context=model.context, tools=await self._frames.explained(cast.persona, model))
        session = ChatSession(persona_id=cast.persona.unique_name)
        scene = await self._scene(session, cast, model, TurnMemory())
        request = await self._request(session, cast, model, history, frame, TurnMemory(), scene)
        try:
            return await build(request, self._counting.count)
        except PromptTooLong:
            return await build(replace(request, context=AMPLE), self._counting.count)

    async def _scene(self, session: ChatSession, cast: Participants, model: LoadedModel, memory: TurnMemory) -> MacroContext:
        """What macros mean in the prompt of that conversation, as it began."""
        texts = [session.scenario, *(one.text for one in memory.recalled), *written(await self._system(model), cast)]
        return await self.fill(cast.scene(session, session.added), MacroPosition(session, cast, at_beginning=True), texts)

    async def _present(
        self, session: ChatSession, cast: Participants, before: UUID | None, memory: TurnMemory, scene: MacroContext
    ) -> TurnMemory:
        """What was brought up for the reply above `before`, with the silence before the message that it answers."""
        late = await self.fill(
            scene, MacroPosition(session, cast, before, is_answer=True), [one.text for one in memory.recalled]
        )
        if late.idle == scene.idle:
            return memory
        told = [
            one.model_copy(update={"text": expand(one.text, late)}) if one.position_index >= 0 else one
            for one in memory.recalled
        ]
        return memory.model_copy(update={"recalled": told})

    async def _system(self, model: LoadedModel) -> SystemPreset:
        """The system prompt chosen, or one that suits the model."""
        return await self._library.system_preset(
            self._preferences.current.system_preset or suited_system(small=is_small(model))
        )

    async def form(self, model: LoadedModel) -> RendererChoice:
        """How that model wants to be spoken to."""
        return (await self._form(model)).choice

    async def _request(
        self,
        session: ChatSession,
        cast: Participants,
        model: LoadedModel,
        history: Sequence[PromptTurn],
        frame: StablePrefix,
        memory: TurnMemory,
        scene: MacroContext,
    ) -> Request:
        settings = self._preferences.current
        form = await self._form(model)
        heads = [one.text for one in memory.recalled if one.position_index < 0]
        return Request(
            renderer=equipped(form.choice.renderer, self.offered(cast.persona)),
            template_source=form.choice.template_source,
            persona=cast.speaker,
            group=cast.group,
            user=cast.user,
            system=await self._system(model),
            scene=scene,
            history=history,
            context=model.context,
            reply_reserve=min(settings.max_reply, model.context // 2),
            extras=frame.extras(heads),
            volatile=notes(memory),
            layout=settings.layout,
            history_target=self._target(model),
            thinking=settings.thinking,
            add_names=settings.add_names,
            disarm=form.disarm,
            earlier=await self._earlier(frame),
        )

    def _target(self, model: LoadedModel) -> float:
        """How much of the history's room a cut leaves."""
        wanted = self._preferences.current.history_target
        return wanted if self.cuts_the_cache and model.can_shift else min(wanted, REREAD_TARGET)

    async def _earlier(self, frame: StablePrefix) -> int:
        """Messages said aloud that have left the history."""
        if frame.first is None:
            return 0
        first = await self._chats.message(frame.first)
        is_spoken = not first.hidden and first.role in {Role.USER, Role.ASSISTANT}
        return (await self._chats.standing(first.id)).spoken - is_spoken

    async def _form(self, model: LoadedModel) -> Format:
        """Worked out once per model and chosen format; a hostile template may take its two seconds elsewhere."""
        name = model.file.path.name
        instruct = self._preferences.current.for_model(name).instruct
        own = self._preferences.current.model_choices.get(name, ModelChoices())
        thinking = pair(own.thinking_start, own.thinking_end)
        form = self._format
        if form is None or form.model is not model or (form.instruct, form.thinking) != (instruct, thinking):
            presets = list((await self._library.instruct_presets()).values())
            choice = await asyncio.to_thread(choose_renderer, model, presets, instruct, now(), thinking)
            form = self._format = Format(model, instruct, thinking, choice, Disarmer(model.control_tokens))
        return form

    async def _history(self, session: ChatSession, frame: StablePrefix, before: UUID | None, context: int) -> list[Message]:
        """Earlier sessions of the frame, then this one from where its history begins; as much as can matter.

        A reply that was stopped in its thoughts says nothing and is left out.
        """
        most = max(context // SHORTEST_TURN, 1)
        messages = await self._chats.tail(session.guid, most, before)
        begins = next((place for place, message in enumerate(messages) if message.id == frame.first), 0)
        earlier: list[Message] = []
        for guid in frame.earlier:
            with suppress(StorageError):  # deleted meanwhile
                earlier += await self._chats.tail(guid, most)
        return newest_pairs([message for message in (*earlier, *messages[begins:]) if message.content.strip()])

    def _over_the_cap(self, messages: Sequence[Message], session: ChatSession) -> int:
        """Messages that leave because the user wants only so many turns word for word; then several at once."""
        settings = self._preferences.current
        asked = [
            place for place, message in enumerate(messages) if message.session_id == session.guid and message.role is Role.USER
        ]
        if not settings.turn_cap or len(asked) <= settings.turn_cap:
            return 0
        return asked[-max(1, int(settings.turn_cap * settings.history_target))]


def is_small(model: LoadedModel) -> bool:
    """Does it lose its thread in a long system prompt, and repeat itself? Unknown sizes count as large."""
    return 0 < model.file.parameters < SMALL_MODEL


def suited_sampler(*, small: bool) -> str:
    """The sampler taken where the user chose none."""
    return "small-models" if small else "default"


def suited_system(*, small: bool) -> str:
    """The system prompt taken where the user chose none."""
    return "tiny" if small else "default"


def written(system: SystemPreset, cast: Participants) -> list[str]:
    """Every text of presets and personas in which a macro may stand."""
    found = [
        getattr(system, name) for name in ("prompt", *(name for name in SystemPreset.model_fields if name.endswith("_title")))
    ]
    for one in (cast.persona, cast.user, *cast.guests):
        found += [one.bio, one.scenario, one.system_prompt, one.self_edit_field, *one.example_dialogs]
    return found


def as_turns(messages: Sequence[Message]) -> list[PromptTurn]:
    """What the model is shown of messages: never their thinking."""
    return [tool_turn(message) or PromptTurn(message.role.value, message.content, message.speaker_name) for message in messages]


def notes(memory: TurnMemory) -> list[Note]:
    """What was brought up for this turn alone, the most important first."""
    chosen = [one for one in memory.recalled if one.position_index >= 0 and one.way not in LOGGED]
    ranked = [
        Note(one.text, one.role.value, one.order, one.position_index) for one in sorted(chosen, key=lambda one: -one.priority)
    ]
    told = [Note(text, order=order) for text, order in ((memory.remark, 800), (memory.mood, 900), (memory.bench, 950)) if text]
    return [*ranked, *told, Note(memory.scratch, order=1000)] if memory.scratch else [*ranked, *told]
