"""Assembly of the prompt of a turn: participants, presets, recalled memories, and as much history as the context can hold."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from lethe_app.brain.text.scan_window import is_visible_speech
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.presets import SystemPreset
from lethe_app.domain.prompt import Prompt, PromptNote, PromptTurn
from lethe_app.domain.recall import LOGGED, TurnMemory
from lethe_app.errors import PromptTooLong, StorageError
from lethe_app.prompt.budget import REREAD_TARGET
from lethe_app.prompt.builder import PromptRequest, build_prompt
from lethe_app.prompt.format.tool_calls import with_tools
from lethe_app.prompt.macros import MacroContext, expand
from lethe_app.services.library import Library
from lethe_app.services.participants import Participants
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.macro_values import FillMacros, MacroPosition
from lethe_app.services.prompting.model_format import ModelFormats
from lethe_app.services.prompting.prefixes import StablePrefixes
from lethe_app.services.prompting.stable_prefix import MIN_MESSAGE_TOKENS, StablePrefix
from lethe_app.services.prompting.tool_messages import newest_pairs, tool_turn
from lethe_app.services.prompting.turn_context import TurnContext, is_small, suited_system
from lethe_app.services.token_counts import TokenCountService
from lethe_app.storage.chats.sessions import SessionStore

NEXT_WORDS = "\ue0ff"
"""Placeholder for the user's next message in a prompt that is prefilled; a private-use character that no text contains."""
NEXT_SHARE = 12
"""Divisor of the context: tokens reserved for the user's next message and what it recalls. A history that leaves less room
is cut during prefill, while nobody waits.
"""
DISPLAY_CONTEXT = 1_000_000
"""Context size in tokens of a prompt that is only displayed."""
MAX_CUTS = 3
"""Maximum number of cuts of one prompt's history: earlier sessions are cut first, then the current one."""


@dataclass(frozen=True)
class ToolPrompt:
    """Tool part of a prompt."""

    note: str = ""
    """Instructions on how to call tools."""
    declared: Sequence[dict[str, Any]] = ()
    """Tool declarations in the form that chat templates expect."""


class PromptAssembler:
    """Build prompts for the loaded model."""

    def __init__(
        self,
        session_store: SessionStore,
        stable_prefixes: StablePrefixes,
        formats: ModelFormats,
        library: Library,
        preferences: Preferences,
        token_counts: TokenCountService,
        fill: FillMacros,
    ) -> None:
        """`fill` looks up the values of macros."""
        self._session_store = session_store
        self._stable_prefixes = stable_prefixes
        self._formats = formats
        self._library = library
        self._preferences = preferences
        self._token_counts = token_counts
        self._fill = fill

    @property
    def max_reply_tokens(self) -> int:
        """Maximum number of tokens of a reply."""
        return self._preferences.current.max_reply

    @property
    def uses_cache_surgery(self) -> bool:
        """True if text that has left the prompt may be cut out of the KV cache."""
        return self._preferences.current.cache_surgery

    async def build(
        self,
        turn: TurnContext,
        model: LoadedModel,
        memory: TurnMemory | None = None,
        so_far: Alternative | None = None,
        tools: ToolPrompt = ToolPrompt(),
    ) -> Prompt:
        """Build the prompt for the next reply, or for the reply above which the turn's history ends.

        With `so_far`, that alternative is continued. `memory` is what the newest message recalled. Raise PromptTooLong,
        TemplateUnusable and FileError.
        """
        more = [PromptTurn("assistant", so_far.content, turn.participants.speaker.name)] if so_far is not None else []
        prefix = await self._stable_prefixes.refreshed_prefix(turn, model)
        prompt = await self._built(turn, model, prefix, more, memory or TurnMemory(), tools, goes_on=so_far is not None)
        if self._preferences.current.first_paragraph_only:
            return replace(prompt, stop_strings=(*prompt.stop_strings, "\n\n"))
        return prompt

    async def build_prefill(
        self, turn: TurnContext, model: LoadedModel, lasting: TurnMemory, tools: ToolPrompt = ToolPrompt()
    ) -> str:
        """Return the part of the next prompt before the user's next message, for prefill.

        `lasting` are the memories that will be in the system prompt regardless of that message. A history that is about to
        exceed its budget is cut now, while nobody waits.
        """
        words = [PromptTurn("user", NEXT_WORDS, turn.participants.user.name)]
        prefix = await self._stable_prefixes.prefix_of(turn, model)
        with suppress(PromptTooLong):  # the turn itself may still fit, and reports it if it does not
            await self._built(turn, model, prefix, words, lasting, tools, spare=model.context // NEXT_SHARE)
        prefix = await self._stable_prefixes.load(turn.session.guid) or prefix  # it may have been cut
        prompt = await self._built(turn, model, prefix, words, lasting, tools)
        return prompt.text.partition(NEXT_WORDS)[0]

    async def _built(
        self,
        turn: TurnContext,
        model: LoadedModel,
        prefix: StablePrefix,
        more: Sequence[PromptTurn],
        memory: TurnMemory,
        tools: ToolPrompt,
        *,
        goes_on: bool = False,
        spare: int = 0,
    ) -> Prompt:
        """Build the prompt of the turn's history and `more`; messages that do not fit beside `spare` tokens are cut and
        summarised.
        """
        scene = await self._scene(turn.session, turn.participants, turn.files.system, memory)
        memory = await self._with_idle_time(turn, memory, scene)
        is_newest = turn.before is None or turn.before == turn.session.leaf_id
        for _cut in range(MAX_CUTS):
            messages = await self._history(turn, prefix, model.context)
            if is_newest and (over := self._count_beyond_turn_cap(messages, turn.session)):
                prefix = await self._stable_prefixes.cut(turn, model, prefix, messages, over)
                messages = await self._history(turn, prefix, model.context)
            if not is_newest and all(message.id != prefix.first for message in messages):
                prefix = prefix.model_copy(update={"first": None, "rolling": ""})  # all of it is there word for word
            turns = [*to_prompt_turns(messages), *more]
            request = await self._request(turn.participants, turn.files.system, model, prefix, turns, memory, scene, tools)
            request = replace(
                request,
                continue_last=goes_on,
                reply_reserve=request.reply_reserve + spare,
                summarised_messages=await self._count_left_messages(turn, prefix),
            )
            prompt = await build_prompt(request, self._token_counts.count)
            dropped = prompt.receipt.dropped_messages
            if not is_newest or not 0 < dropped < len(messages):
                break
            prefix = await self._stable_prefixes.cut(turn, model, prefix, messages, dropped)
        return prompt

    async def preview(
        self, participants: Participants, model: LoadedModel, history: Sequence[PromptTurn], tools: ToolPrompt = ToolPrompt()
    ) -> Prompt:
        """Build the prompt of a session that begins with `history`, before anything is recalled. Nothing is stored.

        A prompt that exceeds the context is returned in full. Raise TemplateUnusable and FileError.
        """
        session = ChatSession(persona_id=participants.persona.unique_name)
        chosen = self._preferences.current.system_preset or suited_system(small=is_small(model))
        system = await self._library.system_preset(chosen)
        scene = await self._scene(session, participants, system, TurnMemory())
        prefix = StablePrefix(context=model.context)
        request = await self._request(participants, system, model, prefix, history, TurnMemory(), scene, tools)
        try:
            return await build_prompt(request, self._token_counts.count)
        except PromptTooLong:
            return await build_prompt(replace(request, context=DISPLAY_CONTEXT), self._token_counts.count)

    async def _scene(
        self, session: ChatSession, participants: Participants, system: SystemPreset, memory: TurnMemory
    ) -> MacroContext:
        """Return the macro values for the prompt of a session, as of its beginning."""
        texts = [session.scenario, *(one.text for one in memory.recalled), *macro_texts(system, participants)]
        position = MacroPosition(session, participants, at_beginning=True)
        return await self._fill(participants.build_macro_context(session, session.added), position, texts)

    async def _with_idle_time(self, turn: TurnContext, memory: TurnMemory, scene: MacroContext) -> TurnMemory:
        """Return the recalled memories with the idle time before the message that is answered, in those that are not in the
        system prompt.
        """
        position = MacroPosition(turn.session, turn.participants, turn.before, is_answer=True)
        late = await self._fill(scene, position, [one.text for one in memory.recalled])
        if late.idle == scene.idle:
            return memory
        filled = [
            one.model_copy(update={"text": expand(one.text, late)}) if one.position_index >= 0 else one
            for one in memory.recalled
        ]
        return memory.model_copy(update={"recalled": filled})

    async def _request(
        self,
        participants: Participants,
        system: SystemPreset,
        model: LoadedModel,
        prefix: StablePrefix,
        history: Sequence[PromptTurn],
        memory: TurnMemory,
        scene: MacroContext,
        tools: ToolPrompt,
    ) -> PromptRequest:
        settings = self._preferences.current
        form = await self._formats.format_of(model)
        heads = [one.text for one in memory.recalled if one.position_index < 0]
        return PromptRequest(
            renderer=with_tools(form.choice.renderer, tools.declared),
            template_source=form.choice.template_source,
            persona=participants.speaker,
            group=participants.group,
            user=participants.user,
            system=system,
            macro_context=scene,
            history=history,
            context=model.context,
            reply_reserve=min(settings.max_reply, model.context // 2),
            extras=prefix.extras(heads, tools.note),
            volatile=turn_notes(memory),
            layout=settings.layout,
            history_target=self._history_target(model),
            thinking=settings.thinking,
            add_names=settings.add_names,
            control_filter=form.control_filter,
        )

    def _history_target(self, model: LoadedModel) -> float:
        """Return the share of the history's budget that is left after a cut."""
        wanted = self._preferences.current.history_target
        return wanted if self.uses_cache_surgery and model.can_shift else min(wanted, REREAD_TARGET)

    async def _count_left_messages(self, turn: TurnContext, prefix: StablePrefix) -> int:
        """Return the number of spoken messages that have left the history."""
        if prefix.first is None:
            return 0
        ids = [message.id for message in turn.messages]
        known = turn.rows.scope.first_message
        if turn.rows.messages_before is None or prefix.first not in ids or (known is not None and known not in ids):
            first = await self._session_store.message(prefix.first)
            return (await self._session_store.turn_position_of(first.id)).messages - is_visible_speech(first)
        begin = ids.index(known) if known is not None else 0
        return turn.rows.messages_before + sum(map(is_visible_speech, turn.messages[begin : ids.index(prefix.first)]))

    async def _history(self, turn: TurnContext, prefix: StablePrefix, context: int) -> list[Message]:
        """Return the messages of the prefix's earlier sessions, then those of this one from the start of its history,
        limited to what a context can hold.

        A reply that was stopped while thinking has no text and is left out.
        """
        most = max(context // MIN_MESSAGE_TOKENS, 1)
        messages = turn.messages
        if prefix.first != turn.rows.scope.first_message and all(message.id != prefix.first for message in messages):
            messages = await self._session_store.newest_messages(turn.session.guid, most, turn.before)
        begins = next((place for place, message in enumerate(messages) if message.id == prefix.first), 0)
        earlier: list[Message] = []
        for guid in prefix.earlier:
            if guid in turn.rows.past_messages:
                earlier += turn.rows.past_messages[guid]
                continue
            with suppress(StorageError):  # deleted meanwhile
                earlier += await self._session_store.newest_messages(guid, most)
        return newest_pairs([message for message in (*earlier, *messages[begins:]) if message.content.strip()])

    def _count_beyond_turn_cap(self, messages: Sequence[Message], session: ChatSession) -> int:
        """Return the number of messages to cut because of the user's limit on turns; several at once, so that a cut is not
        needed every turn.
        """
        settings = self._preferences.current
        asked = [
            place for place, message in enumerate(messages) if message.session_id == session.guid and message.role is Role.USER
        ]
        if not settings.turn_cap or len(asked) <= settings.turn_cap:
            return 0
        return asked[-max(1, int(settings.turn_cap * settings.history_target))]


def macro_texts(system: SystemPreset, participants: Participants) -> list[str]:
    """Return all texts of presets and personas that may contain macros."""
    found = [
        getattr(system, name) for name in ("prompt", *(name for name in SystemPreset.model_fields if name.endswith("_title")))
    ]
    for one in (participants.persona, participants.user, *participants.guests):
        found += [one.bio, one.scenario, one.system_prompt, one.self_edit_field, *one.example_dialogs]
    return found


def to_prompt_turns(messages: Sequence[Message]) -> list[PromptTurn]:
    """Return messages as the model gets them, without thinking."""
    return [tool_turn(message) or PromptTurn(message.role.value, message.content, message.speaker_name) for message in messages]


def turn_notes(memory: TurnMemory) -> list[PromptNote]:
    """Return the notes for this turn only, the most important first."""
    chosen = [one for one in memory.recalled if one.position_index >= 0 and one.way not in LOGGED]
    ranked = [
        PromptNote(one.text, one.role.value, one.order, one.position_index)
        for one in sorted(chosen, key=lambda one: -one.priority)
    ]
    # A higher order is placed later: remark, mood, working memory and session notes follow entries of the default order,
    # 100.
    told = [
        PromptNote(text, order=order) for text, order in ((memory.remark, 800), (memory.mood, 900), (memory.bench, 950)) if text
    ]
    return [*ranked, *told, PromptNote(memory.scratch, order=1000)] if memory.scratch else [*ranked, *told]
