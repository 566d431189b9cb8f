"""Inspection of prompts: the stored prompt of a reply, and previews of an edited persona, an instruct format or a system
prompt.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.domain.clock import now
from lethe_app.domain.model import LoadedModel
from lethe_app.domain.persona import Persona
from lethe_app.domain.presets import InstructPreset, SystemPreset
from lethe_app.domain.prompt import PrefillCost, PromptNote, PromptSpan, PromptTurn, Receipt, ReceiptEntry
from lethe_app.errors import FileError, StorageError, TemplateUnusable
from lethe_app.prompt.builder import PromptRequest, build_prompt
from lethe_app.prompt.format.instruct import InstructRenderer
from lethe_app.prompt.macros import MacroContext, expand, expand_greetings, unknown_macros
from lethe_app.prompt.sections import StableAdditions, compile_system
from lethe_app.services.library import Library
from lethe_app.services.participants import DEFAULT_USER, Participants
from lethe_app.services.preferences import Preferences
from lethe_app.services.prompting.assembler import DISPLAY_CONTEXT, PromptAssembler, ToolPrompt
from lethe_app.services.prompting.turn_context import default_system_name
from lethe_app.services.token_counts import TokenCountService
from lethe_app.storage.chats.receipts import Receipts
from lethe_app.storage.chats.sessions import SessionStore

LOOK_BACK = 24
"""Messages above a reply among which the reply before it is looked for."""
USER_MESSAGE_PLACEHOLDER = "…"
"""Placeholder of the user's first message in a preview."""
PLAIN = InstructPreset(name="plain", system_end="\n")
TEXT_FIELDS = (
    "name",
    "bio",
    "personality",
    "nickname",
    "mini_bio",
    "scenario",
    "first_messages",
    "example_dialogs",
    "system_prompt",
    "post_history_instructions",
    "depth_prompt",
    "self_edit_field",
    "agent_tasks",
    "schedule_prefix",
    "schedule",
)
"""Fields of a persona whose texts can be part of a prompt."""


class MissingText(StrEnum):
    """Why the text of a prompt is not stored."""

    SETTING_OFF = "setting off"
    SETTING_WAS_OFF = "setting was off"
    INCOGNITO = "incognito"
    OLD = "old"
    """There are as many newer prompts as are stored."""
    OUTDATED = "outdated"
    """Something that may be in it was edited or deleted."""


@dataclass(frozen=True)
class PromptInspection:
    """Prompt of one reply, and what reading it cost."""

    receipt: Receipt
    cost: PrefillCost | None
    """None if the reply was stopped before the model reported its usage."""
    spans: tuple[PromptSpan, ...]
    """Text of the prompt; empty if it is no longer stored."""
    previous: tuple[PromptSpan, ...]
    """Prompt of the reply before, for comparison; empty if there is none or it is no longer stored."""
    reply: Alternative = field(default_factory=Alternative)
    """The reply on display."""
    missing_text: MissingText | None = None
    """Why `spans` is empty; None if it is not."""
    session_titles: Mapping[str, str] = field(default_factory=dict)
    """Titles of the earlier sessions in the prompt, by id; deleted ones are missing."""


@dataclass(frozen=True)
class EditedField:
    """Token counts of one field of a persona that is being edited."""

    tokens: int
    """Sum of all pieces, with macros expanded."""
    pieces: tuple[int, ...]
    """Tokens of each greeting, line or task; one number for a plain text."""
    unknown: tuple[str, ...]
    """Macros that would not be expanded, without braces."""


@dataclass(frozen=True)
class Preview:
    """Preview of a prompt, with its token counts."""

    spans: tuple[PromptSpan, ...]
    tokens: int
    fields: Mapping[str, EditedField] = field(default_factory=dict)
    """Fields that are not empty, by name."""
    model: str = ""
    """Name of the model whose chat format is used; empty for plain text without a format."""
    template: str = ""
    """Source of the chat format, as in a receipt."""

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)


SAMPLE_PERSONA = Persona(
    name="Ada",
    bio="{{char}} keeps the lighthouse of Velm.",
    scenario="A storm is coming up.",
    example_dialogs=["Dry and brief.", "Never without her lamp."],
    self_edit_field="I should trust {{user}} more.",
)
SAMPLE_USER = Persona(is_user=True, name="Ben", bio="{{user}} sails the ferry.")
SAMPLE_TURNS = (
    PromptTurn("user", "Is the lamp lit?", "Ben"),
    PromptTurn("assistant", "Since four. Come in.", "Ada"),
    PromptTurn("user", "You saw it first, then.", "Ben"),
)
SAMPLE_ADDITIONS = StableAdditions(
    world=("Velm is an island of forty houses.",),
    summaries=("Ben brought the oil, and they spoke of his brother.",),
    facts=("Ben is afraid of heights.",),
)
SAMPLE_NOTE = PromptNote("Ben once rowed out here in a fog.")
"""Personas, messages and memories on which a format is tried."""


@dataclass(frozen=True)
class PromptInspector:
    """Read stored prompts and build previews. Nothing is changed."""

    session_store: SessionStore
    receipts: Receipts
    library: Library
    preferences: Preferences
    token_counts: TokenCountService
    prompt_assembler: PromptAssembler
    get_model: Callable[[], LoadedModel | None]
    """Returns the model that would reply now."""
    get_tool_prompt: Callable[[Persona, LoadedModel], Awaitable[ToolPrompt]]
    """Returns the tool part of its prompts."""

    async def prompt_of(self, message_id: UUID) -> PromptInspection | None:
        """Return the prompt of the displayed alternative; None if no receipt is stored, as for greetings and the user's
        messages.
        """
        try:
            message = await self.session_store.message(message_id)
        except StorageError:
            return None
        entry = await self.receipts.get(message.id, message.shown)
        if entry is None:
            return None
        spans = await self.receipts.spans(message.id, message.shown)
        previous = await self._load_previous_spans(message)
        missing = None if spans else await self._find_missing_reason(message, entry)
        titles = await self._load_titles(entry.receipt)
        return PromptInspection(entry.receipt, entry.cost, spans, previous, message.current, missing, titles)

    async def _find_missing_reason(self, message: Message, entry: ReceiptEntry) -> MissingText:
        if not self.preferences.current.keep_retrieved_context:
            return MissingText.SETTING_OFF
        if (await self.session_store.session(message.session_id)).is_incognito:
            return MissingText.INCOGNITO
        if not entry.is_text_stored:
            return MissingText.SETTING_WAS_OFF
        return MissingText.OLD if await self.receipts.is_full() else MissingText.OUTDATED

    async def _load_titles(self, receipt: Receipt) -> dict[str, str]:
        titles: dict[str, str] = {}
        for session in (share.session for share in receipt.shares if share.session):
            with suppress(StorageError):  # deleted since
                found = await self.session_store.session(UUID(session))
                titles[session] = await self.session_store.title_of(found.guid)
        return titles

    async def preview(self, draft: Persona) -> Preview:
        """Return the prompt of a new session with a draft, the tokens of each field, and its unknown macros.

        It is in the format of the loaded model, with its system prompt and the first greeting; without a model it is only
        the system prompt as plain text. Raise FileError if the chosen system prompt cannot be read.
        """
        participants = (
            Participants(await self._load_other_participant(draft), draft)
            if draft.is_user
            else Participants(draft, await self._load_other_participant(draft))
        )
        macro_context = participants.build_macro_context(ChatSession(persona_id=draft.unique_name), now())
        fields = await self._count_fields(draft, macro_context)
        model = self.get_model()
        if model is not None:
            with suppress(TemplateUnusable):  # the turn itself tells
                return await self._preview_in_format(participants, model, macro_context, fields)
        return await self._preview_as_text(participants, macro_context, fields)

    async def _preview_in_format(
        self, participants: Participants, model: LoadedModel, macro_context: MacroContext, fields: Mapping[str, EditedField]
    ) -> Preview:
        greeting = next((text for text in participants.persona.first_messages if text.strip()), "")
        text = next((text for text, _ in expand_greetings([greeting], macro_context)), "")
        turns = [PromptTurn("assistant", text, participants.persona.name)] if text else []
        prompt = await self.prompt_assembler.preview(
            participants,
            model,
            [*turns, PromptTurn("user", USER_MESSAGE_PLACEHOLDER, participants.user.name)],
            await self.get_tool_prompt(participants.persona, model),
        )
        receipt = prompt.receipt
        return Preview(prompt.spans, receipt.prompt_tokens, fields, model.file.name, receipt.template_source)

    async def _preview_as_text(
        self, participants: Participants, macro_context: MacroContext, fields: Mapping[str, EditedField]
    ) -> Preview:
        chosen = self.preferences.current.system_preset or default_system_name(small=False)
        compiled = compile_system(
            await self.library.system_preset(chosen), participants.persona, participants.user, macro_context, StableAdditions()
        )
        spans = tuple(compiled.spans({section.part: range(len(section.items)) for section in compiled.titled}))
        (tokens,) = await self.token_counts.count(["".join(span.text for span in spans)])
        return Preview(spans, tokens, fields)

    async def render(self, preset: InstructPreset | SystemPreset) -> Preview:
        """Return a complete prompt in an instruct format, or the sections of a system preset as plain text."""
        system = (
            await self.library.system_preset(default_system_name(small=False)) if isinstance(preset, InstructPreset) else preset
        )
        request = PromptRequest(
            renderer=InstructRenderer(preset if isinstance(preset, InstructPreset) else PLAIN),
            template_source=preset.name,
            persona=SAMPLE_PERSONA,
            user=SAMPLE_USER,
            system=system,
            macro_context=Participants(SAMPLE_PERSONA, SAMPLE_USER).build_macro_context(ChatSession(persona_id=""), now()),
            history=SAMPLE_TURNS if isinstance(preset, InstructPreset) else (),
            context=DISPLAY_CONTEXT,
            reply_reserve=0,
            extras=SAMPLE_ADDITIONS,
            volatile=(SAMPLE_NOTE,),
        )
        prompt = await build_prompt(request, self.token_counts.count)
        return Preview(prompt.spans, prompt.receipt.prompt_tokens)

    async def _count_fields(self, draft: Persona, macro_context: MacroContext) -> dict[str, EditedField]:
        texts_by_field = {name: [text for text in texts_of(draft, name) if text.strip()] for name in TEXT_FIELDS}
        counts = iter(
            await self.token_counts.count([expand(text, macro_context) for texts in texts_by_field.values() for text in texts])
        )
        fields: dict[str, EditedField] = {}
        for name, texts in texts_by_field.items():
            pieces = tuple(next(counts) for _text in texts)
            unknown = dict.fromkeys(macro for text in texts for macro in unknown_macros(text))
            if pieces:
                fields[name] = EditedField(sum(pieces), pieces, tuple(unknown))
        return fields

    async def _load_previous_spans(self, message: Message) -> tuple[PromptSpan, ...]:
        for earlier in reversed(await self.session_store.newest_messages(message.session_id, LOOK_BACK, message.id)):
            if earlier.role is Role.ASSISTANT and not earlier.hidden:
                return await self.receipts.spans(earlier.id, earlier.shown)
        return ()

    async def _load_other_participant(self, draft: Persona) -> Persona:
        """Return the other side of the session for a draft: the last or default persona, or a placeholder if the user chose
        none.
        """
        settings = self.preferences.current
        persona_id = settings.last_persona if draft.is_user else settings.user_persona
        with suppress(FileError):  # deleted or broken, which the library tells by itself
            if persona_id and (other := await self.library.persona(persona_id)).is_user is not draft.is_user:
                return other
        return SAMPLE_PERSONA if draft.is_user else DEFAULT_USER


def texts_of(persona: Persona, name: str) -> list[str]:
    """Return the texts of one field of a persona."""
    value = getattr(persona, name)
    if isinstance(value, str):
        return [value]
    return list(value.values()) if isinstance(value, dict) else list(value)
