"""Assembly of the prompt of a turn: participants, presets, recalled memories, and as much history as the context can hold."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from lethe_app.brain.text.utterance import is_visible_speech
from lethe_app.config.options import ModelChoices
from lethe_app.config.settings import Settings
from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.presets import SystemPreset
from lethe_app.domain.prompt import NotePlacement, Prompt, PromptNote, PromptPart, PromptTurn
from lethe_app.domain.recall import LOGGED, TurnMemory
from lethe_app.errors import FileError, PromptTooLong, StorageError
from lethe_app.prompt.budget import PROTECTED_MESSAGES, REREAD_TARGET
from lethe_app.prompt.builder import PromptRequest, build_prompt
from lethe_app.prompt.control_tokens import ControlTokenFilter
from lethe_app.prompt.format.instruct import RendererChoice, choose_renderer
from lethe_app.prompt.format.thinking import ThinkingMarkers
from lethe_app.prompt.format.tool_calls import with_tools
from lethe_app.prompt.macros import MacroContext, fill_idle_time
from lethe_app.services.library import Library
from lethe_app.services.participants import FillMacros, MacroPosition, Participants
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.prefixes import StablePrefixes
from lethe_app.services.prompting.tool_messages import limit_tool_pairs, to_tool_turn
from lethe_app.services.prompting.turn_context import (
    MIN_MESSAGE_TOKENS,
    MacroState,
    StablePrefix,
    TurnContext,
    default_system_name,
    is_small,
)
from lethe_app.services.speech.session_speech import SPEECH_KEY, read_mode
from lethe_app.services.token_counts import TokenCountService
from lethe_app.storage.chats.sessions import SessionStore


class InstructionFile:
    """Text of one file of instructions, with macros unexpanded."""

    def __init__(self, name: str, folders: Sequence[Path]) -> None:
        """Set up the reader. The file of the first folder that has one is used, so the user's own replaces the shipped one."""
        self._name, self._folders = name, folders
        self._text: str | None = None

    def read_text(self) -> str:
        """Return the text. Raise FileError."""
        if self._text is None:
            file = next((folder / self._name for folder in self._folders if (folder / self._name).is_file()), Path(self._name))
            try:
                self._text = file.read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise FileError(file, f"it cannot be read: {error}") from error
        return self._text


@dataclass(frozen=True)
class ChatFormat:
    """Chat format of a loaded model."""

    model: LoadedModel
    instruct: str
    thinking: ThinkingMarkers | None
    """Markers around its thinking; None if the user set none."""
    choice: RendererChoice
    control_filter: ControlTokenFilter


class ModelFormats:
    """Choose the format of the loaded model, once per model and choice of the user."""

    def __init__(self, library: Library, preferences: Preferences) -> None:
        self._library = library
        self._preferences = preferences
        self._format: ChatFormat | None = None

    async def renderer(self, model: LoadedModel) -> RendererChoice:
        """Return the renderer of a model's chat format."""
        return (await self.format_of(model)).choice

    async def format_of(self, model: LoadedModel) -> ChatFormat:
        """Return the chat format of a model. The first call may take two seconds, in a thread, for a hostile template."""
        name = model.file.path.name
        choices = self._preferences.current.model_choices.get(name, ModelChoices())
        instruct = self._preferences.current.instruct if choices.instruct is None else choices.instruct
        start, end = choices.thinking_start or "", choices.thinking_end or ""
        thinking = ThinkingMarkers(start, end) if start.strip() and end.strip() else None
        chat_format = self._format
        if (
            chat_format is None
            or chat_format.model is not model
            or (chat_format.instruct, chat_format.thinking) != (instruct, thinking)
        ):
            presets = list((await self._library.instruct_presets()).values())
            choice = await asyncio.to_thread(choose_renderer, model, presets, instruct, now(), thinking)
            chat_format = self._format = ChatFormat(model, instruct, thinking, choice, ControlTokenFilter(model.control_tokens))
        return chat_format


INSTRUCTION = (
    "This is a live spoken conversation, and the reply is read aloud. Speak in plain sentences, as one talks, and use fewer"
    " than 40 words. No Markdown, no lists, no headings, no emoji, no asterisks."
)
_NOTE = PromptNote(INSTRUCTION, placement=NotePlacement.LAST, part=PromptPart.STYLE)


def with_spoken_style(
    request: PromptRequest, states: Mapping[str, object], settings: Settings, *, small: bool = False
) -> PromptRequest:
    """Return the request of a session with these states; with the instruction and without thinking if the style is on.

    Small models recite the instruction instead of following it, so they do not get it; markup is not spoken in any case.
    """
    if not read_mode(states.get(SPEECH_KEY), settings).has_spoken_style:
        return request
    notes = request.volatile if small else [_NOTE, *request.volatile]
    return replace(request, volatile=notes, thinking=False)


NEXT_WORDS = "\ue0ff"
"""Placeholder for the user's next message in a prompt that is prefilled; a private-use character that no text contains."""
NEXT_SHARE = 12
"""Divisor of the context: tokens reserved for the user's next message and what it recalls. A history that leaves less room
is cut during prefill, while nobody waits.
"""
DISPLAY_CONTEXT = 1_000_000
"""Context size in tokens of a prompt that is only displayed."""
MEMORY_NOTE = "memory_note.md"
MIN_NOTE_CONTEXT = 2048
"""Context size in tokens below which memory is not explained."""
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
        prompt_folders: Sequence[Path],
    ) -> None:
        """`fill` looks up the values of macros; `prompt_folders` have the file that explains memory to the model."""
        self._session_store = session_store
        self._stable_prefixes = stable_prefixes
        self._formats = formats
        self._library = library
        self._preferences = preferences
        self._token_counts = token_counts
        self._fill = fill
        self._memory_note = InstructionFile(MEMORY_NOTE, prompt_folders)

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
        added_turns = [PromptTurn("assistant", so_far.content, turn.participants.speaker.name)] if so_far is not None else []
        prefix = await self._stable_prefixes.prefix_of(turn, model)
        prompt = await self._build(
            turn, model, prefix, added_turns, memory or TurnMemory(), tools, is_continued=so_far is not None, is_turn=True
        )
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
            await self._build(turn, model, prefix, words, lasting, tools, spare=model.context // NEXT_SHARE)
        prefix = await self._stable_prefixes.load(turn.session.guid) or prefix  # it may have been cut
        prompt = await self._build(turn, model, prefix, words, lasting, tools)
        return prompt.text.partition(NEXT_WORDS)[0]

    async def _build(
        self,
        turn: TurnContext,
        model: LoadedModel,
        prefix: StablePrefix,
        added_turns: Sequence[PromptTurn],
        memory: TurnMemory,
        tools: ToolPrompt,
        *,
        is_continued: bool = False,
        is_turn: bool = False,
        spare: int = 0,
    ) -> Prompt:
        """Build the prompt of the turn's history and `added_turns`; messages that do not fit beside `spare` tokens are cut and
        summarised. With `is_turn`, the variables that its macros set are stored.
        """
        state = MacroState(turn)
        macro_context = await self._load_macro_values(turn.session, turn.participants, turn.files.system, memory)
        if memory.recalled:
            memory = await self._with_idle_time(turn, memory, macro_context)
        macro_context = replace(macro_context, values=macro_context.values | state.values)
        is_newest = turn.before is None or turn.before == turn.session.leaf_id
        for _cut in range(MAX_CUTS):
            messages = await self._history(turn, prefix, model.context)
            turn_cap = self._preferences.current.turn_cap
            if is_newest and turn_cap and (excess := self._count_beyond_turn_cap(messages, turn.session.guid, turn_cap)):
                prefix = await self._stable_prefixes.cut(turn, model, prefix, messages, excess)
                messages = await self._history(turn, prefix, model.context)
            if not is_newest and all(message.id != prefix.first for message in messages):
                prefix = prefix.model_copy(update={"first": None, "rolling": ""})  # all of it is there word for word
            turns = [*to_prompt_turns(messages, turn.session.guid), *added_turns]
            values = replace(macro_context, variables=deepcopy(state.variables))  # every attempt begins anew
            request = await self._request(turn.participants, turn.files.system, model, prefix, turns, memory, values, tools)
            request = replace(
                with_spoken_style(request, turn.rows.states, self._preferences.current, small=is_small(model)),
                continue_last=is_continued,
                reply_reserve=request.reply_reserve + spare,
                left_messages=await self._count_left_messages(turn, prefix.first) if prefix.first is not None else 0,
                is_summarised=bool(prefix.rolling),
            )
            prompt = await build_prompt(request, self._token_counts.count)
            dropped = prompt.receipt.dropped_messages
            if not is_newest or not 0 < dropped < len(messages):
                break
            prefix = await self._stable_prefixes.cut(turn, model, prefix, messages, dropped)
        if is_turn and (state.is_due or values.variables != state.variables):
            await self._session_store.save_variables(turn.session.guid, state.changes(values.variables))
        return prompt

    async def preview(
        self, participants: Participants, model: LoadedModel, history: Sequence[PromptTurn], tools: ToolPrompt = ToolPrompt()
    ) -> Prompt:
        """Build the prompt of a session that begins with `history`, before anything is recalled. Nothing is stored.

        A prompt that exceeds the context is returned in full. Raise TemplateUnusable and FileError.
        """
        session = ChatSession(persona_id=participants.persona.unique_name)
        chosen = self._preferences.current.system_preset or default_system_name(small=is_small(model))
        system = await self._library.system_preset(chosen)
        macro_context = await self._load_macro_values(session, participants, system, TurnMemory())
        prefix = StablePrefix(context=model.context, explains_memory=True)
        request = await self._request(participants, system, model, prefix, history, TurnMemory(), macro_context, tools)
        try:
            return await build_prompt(request, self._token_counts.count)
        except PromptTooLong:
            return await build_prompt(replace(request, context=DISPLAY_CONTEXT), self._token_counts.count)

    async def _load_macro_values(
        self, session: ChatSession, participants: Participants, system: SystemPreset, memory: TurnMemory
    ) -> MacroContext:
        """Return the macro values for the prompt of a session, as of its beginning."""
        texts = [session.scenario, *(recollection.text for recollection in memory.recalled), system.prompt]
        texts += [getattr(system, name) for name in SystemPreset.model_fields if name.endswith("_title")]
        for persona in (participants.persona, participants.user, *participants.guests):
            texts += [persona.description, persona.scenario, persona.system_prompt, persona.self_edit_field]
            texts += [persona.depth_prompt, persona.post_history_instructions, *persona.example_dialogs]
        position = MacroPosition(session, participants, at_beginning=True)
        return await self._fill(participants.build_macro_context(session, session.added), position, texts)

    async def _with_idle_time(self, turn: TurnContext, memory: TurnMemory, macro_context: MacroContext) -> TurnMemory:
        """Return the recalled memories with the idle time before the message that is answered, in those that are not in the
        system prompt.
        """
        position = MacroPosition(turn.session, turn.participants, turn.before, is_answer=True)
        current_values = await self._fill(macro_context, position, [recollection.text for recollection in memory.recalled])
        if current_values.idle == macro_context.idle:
            return memory
        recalled = [
            recollection.model_copy(update={"text": fill_idle_time(recollection.text, current_values.idle)})
            if recollection.position_index >= 0
            else recollection
            for recollection in memory.recalled
        ]
        return memory.model_copy(update={"recalled": recalled})

    async def _request(
        self,
        participants: Participants,
        system: SystemPreset,
        model: LoadedModel,
        prefix: StablePrefix,
        history: Sequence[PromptTurn],
        memory: TurnMemory,
        macro_context: MacroContext,
        tools: ToolPrompt,
    ) -> PromptRequest:
        settings, speaker = self._preferences.current, participants.speaker
        chat_format = await self._formats.format_of(model)
        instructions = [tools.note]
        is_explained = settings.memory_enabled and settings.memory_explained and prefix.explains_memory
        # A small model does not follow the explanation, and in a small context its tokens are needed for the conversation.
        if is_explained and not is_small(model) and model.context >= MIN_NOTE_CONTEXT:
            instructions.insert(0, self._memory_note.read_text())
        reply = min(settings.max_reply, model.context // 2)
        limits = {"maxcontext": f"{model.context}", "maxresponse": f"{reply}", "maxprompt": f"{model.context - reply}"}
        limits["model"] = model.file.name
        placed = sorted(memory.recalled, key=lambda recollection: recollection.order)
        names = dict.fromkeys(recollection.outlet for recollection in placed if recollection.outlet)
        outlets = {name: "\n".join(one.text for one in placed if one.outlet == name) for name in names}
        constant = [one for one in memory.recalled if one.position_index < 0 and not one.outlet]
        extras = prefix.extras([one.text for one in constant], instructions)
        uncapped = frozenset(one.text for one in constant if one.ignores_budget)
        renderer = chat_format.choice.renderer
        return PromptRequest(
            renderer=with_tools(renderer, tools.declared) if tools.declared else renderer,
            template_source=chat_format.choice.template_source,
            persona=speaker,
            group=participants.group,
            user=participants.user,
            system=system,
            macro_context=replace(macro_context, values=macro_context.values | limits, outlets=outlets),
            history=history,
            context=model.context,
            reply_reserve=reply,
            extras=replace(extras, uncapped=uncapped),
            volatile=[
                PromptNote(speaker.post_history_instructions, placement=NotePlacement.LAST, is_speakers=True),
                PromptNote(
                    speaker.depth_prompt,
                    speaker.depth_prompt_role.value,
                    depth=speaker.depth_prompt_depth,
                    keeps_depth=True,
                    placement=NotePlacement.ALONE,
                    is_speakers=True,
                ),
                *turn_notes(memory),
            ],
            layout=settings.layout,
            history_target=share_after_cut(settings, model),
            thinking=settings.thinking,
            add_names=settings.add_names,
            control_filter=chat_format.control_filter,
        )

    async def _count_left_messages(self, turn: TurnContext, first: UUID) -> int:
        """Return the number of spoken messages that have left the history, which begins with the message `first`."""
        ids = [message.id for message in turn.messages]
        known = turn.rows.scope.first_message
        if turn.rows.messages_before is None or first not in ids or (known is not None and known not in ids):
            message = await self._session_store.message(first)
            return (await self._session_store.turn_position_of(first)).messages - is_visible_speech(message)
        begin = ids.index(known) if known is not None else 0
        return turn.rows.messages_before + sum(map(is_visible_speech, turn.messages[begin : ids.index(first)]))

    async def _history(self, turn: TurnContext, prefix: StablePrefix, context: int) -> list[Message]:
        """Return the messages of the prefix's earlier sessions, then those of this one from the start of its history,
        limited to what a context can hold.

        A reply that was stopped while thinking has no text and is left out.
        """
        max_messages = max(context // MIN_MESSAGE_TOKENS, 1)
        messages = turn.messages
        if prefix.first != turn.rows.scope.first_message and all(message.id != prefix.first for message in messages):
            messages = await self._session_store.newest_messages(turn.session.guid, max_messages, turn.before)
        start = next((index for index, message in enumerate(messages) if message.id == prefix.first), 0)
        earlier: list[Message] = []
        for guid in prefix.earlier:
            if guid in turn.rows.past_messages:
                earlier += turn.rows.past_messages[guid]
                continue
            with suppress(StorageError):  # deleted meanwhile
                earlier += await self._session_store.newest_messages(guid, max_messages)
        history = [message for message in (*earlier, *messages[start:]) if message.content.strip()]
        return limit_tool_pairs(history) if any(message.hidden for message in history) else history

    def _count_beyond_turn_cap(self, messages: Sequence[Message], session_id: UUID, turn_cap: int) -> int:
        """Return the number of messages to cut because of the user's limit on turns; several at once, so that a cut is not
        needed every turn.
        """
        user_indexes = [
            index for index, message in enumerate(messages) if message.session_id == session_id and message.role is Role.USER
        ]
        if len(user_indexes) <= turn_cap or len(messages) < PROTECTED_MESSAGES:
            return 0
        kept_turns = max(1, int(turn_cap * self._preferences.current.history_target))
        return min(user_indexes[-kept_turns], len(messages) - PROTECTED_MESSAGES)


def share_after_cut(settings: Settings, model: LoadedModel) -> float:
    """Return the share of the history's budget that is left after a cut: less if all of it has to be evaluated again."""
    wanted = settings.history_target
    return wanted if settings.cache_surgery and model.can_shift else min(wanted, REREAD_TARGET)


def to_prompt_turns(messages: Sequence[Message], session_id: UUID) -> list[PromptTurn]:
    """Return messages as the model gets them, without thinking; those of other sessions than `session_id` with their id."""
    turns = []
    for message in messages:
        turn = to_tool_turn(message) if message.hidden else None
        turn = turn or PromptTurn(message.role.value, message.content, message.speaker_name)
        turns.append(turn if message.session_id == session_id else replace(turn, session=str(message.session_id)))
    return turns


def turn_notes(memory: TurnMemory) -> list[PromptNote]:
    """Return the notes for this turn only, the most important first."""
    notes = [one for one in memory.recalled if one.position_index >= 0 and one.way not in LOGGED and not one.outlet]
    ranked = [
        PromptNote(
            recollection.text,
            recollection.role.value,
            recollection.order,
            recollection.position_index,
            keeps_depth=bool(recollection.world) and not recollection.is_notebook,
            ignores_cap=recollection.ignores_budget,
        )
        for recollection in sorted(notes, key=lambda recollection: -recollection.priority)
    ]
    # A higher order is placed later: remark, mood, working memory and session notes follow entries of the default order,
    # 100.
    state_texts = ((memory.remark, 800), (memory.mood, 900), (memory.working_memory, 950), (memory.session_notes, 1000))
    state_notes = [PromptNote(text, order=order) for text, order in state_texts if text]
    return [*ranked, *state_notes]
