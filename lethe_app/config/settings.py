"""All settings with type, default, bounds, title, help text and section; read by forms, validation and the manual."""

from __future__ import annotations

from functools import partial

from lethe_app.config.background_settings import BackgroundSettings
from lethe_app.config.form_field import SettingSection, declare_section
from lethe_app.config.model_settings import ModelSettings
from lethe_app.config.options import GroupTurns, HistoryOverflow, ProseFont, SessionHandling, ThemeOption
from lethe_app.config.speech_settings import SpeechSettings

# Functions that declare a setting of the section, and one among its advanced settings.
general, advanced_general = declare_section(SettingSection.GENERAL)
chat, advanced_chat = declare_section(SettingSection.CHAT)
sessions, advanced_sessions = declare_section(SettingSection.SESSIONS)
memory, advanced_memory = declare_section(SettingSection.MEMORY)
privacy, _ = declare_section(SettingSection.PRIVACY)
proactive, advanced_proactive = declare_section(SettingSection.PROACTIVE)
distance = partial(advanced_memory, 0.0, minimum_label="calibrated", step=0.005, decimals=3, ge=0.0, le=1.0)
"""Declare a cosine distance; 0 means calibrated for the embedding model."""

SECRET_SETTINGS = frozenset({"web_brave_key"})
"""Settings whose value is masked on screen, and never leaves the data folder in a backup."""


class Settings(BackgroundSettings, ModelSettings, SpeechSettings, extra="forbid", validate_assignment=True):
    """All settings with their values; stored as one JSON file by `storage/files/json_files`."""

    # User
    welcomed: bool = general(False, "Welcomed", "Record of a completed first start.", is_hidden=True)
    awaited_download: str = general("", "Awaited download", "File to load when its download is complete.", is_hidden=True)
    has_seen_starter_notice: bool = general(
        False, "Starter notice", "Record that the starter model was explained.", is_hidden=True
    )
    user_persona: str = general("", "User persona", "Persona you use in new conversations.")
    last_persona: str = general("", "Last persona", "Persona to open at the next start.", is_hidden=True)
    advanced_pages: list[str] = general(
        [], "Advanced pages", "Pages that show their advanced fields.", max_length=20, is_hidden=True
    )
    recent_commands: list[str] = general(
        [], "Recent commands", "Commands used last in the palette.", max_length=20, is_hidden=True
    )
    last_session: str = general("", "Last conversation", "Conversation to open at the next start.", is_hidden=True)

    # Appearance
    theme: ThemeOption = general(ThemeOption.SYSTEM, "Theme", "Colour theme of the window: light, dark or the system default.")
    font_size: int = general(
        15, "Text size", "Size of message text in pixels; the rest of the window grows with it.", ge=12, le=24, unit="px"
    )
    prose_font: ProseFont = general(ProseFont.SANS, "Message font", "Typeface of messages: sans or serif.")
    background: str = general("", "Background image", "Image shown faintly behind the chat.")
    notify: bool = general(
        True, "Notify when done", "Show a desktop notification when a reply is finished while you are in another window."
    )
    notify_with_words: bool = advanced_general(
        False, "Reply text in notifications", "Show the beginning of the reply in the notification, where others might read it."
    )
    reduced_motion: bool = general(False, "Reduced motion", "Turn off animations.")

    # Chat
    show_hidden: bool = advanced_chat(False, "Show hidden messages", "Show hidden notes and memory lines in the chat.")
    add_names: bool = advanced_chat(False, "Names in prompt", "Add the speaker's name before every message in the prompt.")
    first_paragraph_only: bool = chat(False, "Single-paragraph replies", "Stop every reply after its first paragraph.")
    group_turns: GroupTurns = chat(
        GroupTurns.NAMED,
        "Group reply order",
        "Order of speakers in a group: those you name or else the next in turn, everyone once, only the next in turn,"
        " whoever the model chooses with a short extra request before every reply, or those you name and others by their"
        " talkativeness.",
    )
    group_replies: int = advanced_chat(
        2, "Max consecutive group replies", "Maximum number of replies in a group before it is your turn again.", ge=1, le=12
    )

    # Conversations
    session_handling: SessionHandling = sessions(
        SessionHandling.FIT_ALL,
        "Earlier conversations in prompt",
        "Begin new conversations with as many whole earlier ones in mind as fit, or only with the current one.",
    )
    session_memory_system: bool = sessions(
        True,
        "Summaries of earlier conversations",
        "Add summaries of earlier conversations that are not in the prompt word for word.",
    )
    session_reserved_tokens: int = advanced_sessions(
        2048,
        "Token budget for summaries",
        "Maximum tokens for summaries of earlier conversations, never more than a seventh of the context.",
        ge=0,
        le=65_536,
        unit="tokens",
    )
    rotation_minutes: int = sessions(
        60,
        "End conversations after",
        "Minutes without a message or key press after which a conversation ends and is archived; 0 = never.",
        ge=0,
        le=525_600,
        unit="min",
        minimum_label="never",
    )
    old_session_minutes: int = advanced_sessions(
        60,
        "Daily time for older conversations",
        "Minutes per persona and day in which the model summarises conversations that ended more than a day ago, such as"
        " imported ones; 0 = no limit.",
        ge=0,
        le=1440,
        unit="min",
        minimum_label="no limit",
    )
    trash_days: int = sessions(
        30, "Empty Trash after", "Days until deleted items are removed for good; 0 = never.", ge=0, le=3650, unit="days"
    )
    history_overflow: HistoryOverflow = advanced_sessions(
        HistoryOverflow.SUMMARISE,
        "Messages that no longer fit",
        "Replace the oldest messages by a summary when a conversation outgrows the context, or leave them out.",
    )
    summary_instructions: str = advanced_sessions(
        "",
        "Summary instructions",
        "Instructions to the model for the summary of messages that no longer fit; leave empty for the built-in ones.",
        max_length=4000,
    )
    turn_cap: int = advanced_sessions(
        0,
        "Max turns in prompt",
        "Maximum number of turns of the conversation that are in the prompt word for word; 0 = no limit.",
        ge=0,
        le=10_000,
        minimum_label="no limit",
    )
    history_target: float = advanced_sessions(
        0.65,
        "History kept after trimming",
        "Share of its token budget that a conversation keeps when it outgrows it, with the last three messages unless these are"
        " half of it; at most 0.4 where everything kept has to be reprocessed.",
        ge=0.1,
        le=0.95,
    )
    session_notes: bool = advanced_sessions(
        True, "Conversation notes", "Note the facts of the current conversation as it goes on."
    )

    # Memory
    rag_enabled: bool = memory(True, "Recall by meaning", "Recall memories that are close in meaning to your message.")
    rag_entries: int = advanced_memory(
        3, "Max memories per message", "Maximum number of memories recalled for a message.", ge=0, le=50
    )
    document_entries: int = advanced_memory(
        3,
        "Max passages from documents",
        "Maximum number of passages from documents recalled for a message; 0 = none.",
        ge=0,
        le=50,
    )
    keyword_retrieval: bool = memory(True, "Recall by keyword", "Recall memories whose keywords occur in the conversation.")
    keyword_max_entries: int = advanced_memory(
        3, "Max memories by keyword", "Maximum number of memories recalled by keyword for a message.", ge=0, le=50
    )
    silent_types: list[str] = advanced_memory(
        ["image", "file"], "Keyword-only memory types", "Memory types recalled by keyword only, never by meaning."
    )
    recall_without_match: int = advanced_memory(
        3, "Memories at conversation start", "Number of important memories recalled when a conversation begins.", ge=0, le=50
    )
    accumulated_memories: int = advanced_memory(
        3,
        "Recalled memories kept",
        "Number of recalled memories that stay in the prompt for the rest of the conversation, or until a notebook about its"
        " subject replaces them; 0 = none.",
        ge=0,
        le=20,
    )
    memory_explained: bool = advanced_memory(
        True,
        "Explain memory",
        "Add a short note to the prompt that tells models of a billion parameters and more what is remembered.",
    )
    fact_retrieval: bool = memory(True, "Learn facts", "Learn facts from conversations and recall memories by them.")
    core_facts_tokens: int = advanced_memory(
        512,
        "Token budget for facts",
        "Maximum tokens of core facts, which are always in the prompt.",
        ge=0,
        le=16_384,
        unit="tokens",
    )
    facts_during_roleplay: bool = advanced_memory(
        True,
        "Facts from roleplay",
        "Learn what you say in character, as facts of that conversation's story; what you say as yourself is always learnt.",
    )
    key_moments: bool = advanced_memory(
        True,
        "Key moments",
        "Keep what mattered in a day, once it is over, as a memory without a time limit, and show it on the overview.",
    )
    persona_facts: bool = memory(
        False, "Facts about the persona", "Learn what a persona says about itself as well as what you say."
    )
    rag_distance: float = distance(
        "Recall distance",
        "Maximum cosine distance at which a message recalls a memory by meaning; 0 = calibrated for the embedding model.",
    )
    fact_retrieval_distance: float = distance(
        "Fact recall distance",
        "Maximum cosine distance at which a fact recalls the conversation it comes from; 0 = calibrated for the embedding"
        " model.",
    )
    fact_duplicate_distance: float = distance(
        "Duplicate fact distance",
        "Maximum cosine distance at which two differently worded facts count as the same; 0 = calibrated for the embedding"
        " model.",
    )
    fact_update_distance: float = distance(
        "Fact update distance",
        "Maximum cosine distance at which a newer fact may replace an older one; 0 = calibrated for the embedding model.",
    )
    global_worlds: list[str] = memory(
        [], "Global worlds (lorebooks)", "Worlds that are active in every conversation.", max_length=100
    )
    world_tokens: int = advanced_memory(
        0,
        "Token budget for worlds",
        "Maximum tokens of world entries per turn; 0 = a fifth of the context.",
        ge=0,
        le=65_536,
        minimum_label="a fifth of the context",
    )
    world_rounds: int = advanced_memory(
        3,
        "Max recursion steps",
        "Maximum number of steps per turn in which the text of world entries can activate further entries.",
        ge=0,
        le=10,
    )

    # Privacy
    memory_enabled: bool = privacy(
        True,
        "Remember and recall",
        "Learn from conversations, and recall what was learnt. Off, nothing is recalled and nothing new is learnt; what is "
        "stored remains.",
    )
    cross_session_recall: bool = privacy(
        True,
        "Recall from other conversations",
        "Recall memories, facts and summaries of other conversations. Worlds and documents are used in any case.",
    )
    redact_identifiers: bool = privacy(
        False,
        "Redact identifying data",
        "Replace e-mail addresses, phone, card and account numbers in your messages before they are stored; the model does not"
        " see them either.",
    )
    keep_retrieved_context: bool = privacy(
        True,
        "Keep retrieved context",
        "Store with each reply the texts that were recalled for it, and its prompt. Off, only the ids and kinds of what was "
        "recalled are stored, and no saved model states.",
    )
    keep_voice_transcripts: bool = privacy(
        True,
        "Keep voice transcripts",
        "Keep the text of dictated messages. Off, it is deleted permanently when its conversation has ended, with what is known"
        " from it alone. Sound is never stored.",
    )
    retention_days: int = privacy(
        0,
        "Delete conversations after",
        "Days without a message after which a conversation is deleted permanently, with the facts that are known from it alone;"
        " 0 = never. Pinned conversations are kept.",
        ge=0,
        le=36_500,
        minimum_label="never",
        unit="days",
    )

    # Proactive messages
    proactive_messages: bool = proactive(
        True, "Proactive messages", "Let personas bring up reminders and memories unasked; otherwise they only answer."
    )
    min_insert_delay: int = advanced_proactive(
        30, "Proactive message interval", "Minimum number of minutes between proactive messages.", ge=0, le=10_080, unit="min"
    )
    min_message_delay: int = advanced_proactive(
        4, "Messages between proactive messages", "Minimum number of messages between proactive messages.", ge=0, le=1000
    )
    eureka_cut_off_days: int = advanced_proactive(
        15,
        "Proactive messages expire after",
        "Days after which a waiting proactive message is no longer brought up.",
        ge=1,
        le=3650,
        unit="days",
    )
    hours_before_afk: float = proactive(
        4.0,
        "Greet after absence",
        "Hours of silence after which the persona greets you as returning.",
        ge=0.1,
        le=8760.0,
        unit="h",
        decimals=1,
        step=0.5,
    )
    min_no_recall_days: int = advanced_proactive(
        10,
        "Memory decay time",
        "Days until an unused memory of a decaying type is forgotten, multiplied by its priority.",
        ge=1,
        le=3650,
        unit="days",
    )
    decaying_types: list[str] = advanced_proactive(
        ["web_search", "goal", "reminder"],
        "Decaying memory types",
        "Memory types that are forgotten when nothing recalls them for a long time.",
    )
    mood_handling: bool = proactive(True, "Moods", "Allow moods; each persona has a switch of its own on its Mind page.")
    static_mood: bool = advanced_proactive(False, "Fixed mood", "Show the mood, but let nothing change it.")
    tagged_events: bool = advanced_proactive(
        True,
        "Proactive messages as events",
        "Mark proactive messages as events in the prompt, so that models invent less around them.",
    )
    guidance_latest_only: bool = advanced_proactive(
        True, "Newest conversation only", "Insert hidden notes and proactive memories only into the newest conversation."
    )

    @property
    def recalls_memories(self) -> bool:
        """True if memories of other conversations are recalled."""
        return self.memory_enabled and self.cross_session_recall

    @classmethod
    def visible_names(cls) -> list[str]:
        """Return the settings that the settings page shows, in the order of their declaration."""
        return [name for name in cls.model_fields if not cls.option(name, "is_hidden")]

    @classmethod
    def option(cls, name: str, option: str) -> object:
        """Return an option of `config/form_field` with which a setting was declared; None if it was not given."""
        extra = cls.model_fields[name].json_schema_extra
        return extra.get(option) if isinstance(extra, dict) else None

    def for_model(self, file_name: str) -> Settings:
        """Return the settings with the overrides for a model file; `file_name` is the name of the GGUF file."""
        chosen = self.model_choices.get(file_name)
        if chosen is None:
            return self
        return self.model_copy(update=chosen.model_dump(exclude_none=True, include=set(Settings.model_fields)))
