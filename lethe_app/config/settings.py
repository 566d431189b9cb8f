"""All settings with type, default, bounds, title, help text and section; read by forms, validation and the manual."""

from __future__ import annotations

from pydantic import ConfigDict

from lethe_app.config.background_settings import BackgroundSettings
from lethe_app.config.form_field import SettingSection, expert_setting, setting
from lethe_app.config.options import GroupTurns, ModelChoices, PromptLayout, ProseFont, SessionHandling, ThemeOption


class Settings(BackgroundSettings):
    """All settings with their values; stored as one JSON file by `storage/files/json_files`."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    # User
    welcomed: bool = setting(SettingSection.YOU, False, "Welcomed", "Record of a completed first start.")
    user_persona: str = setting(SettingSection.YOU, "", "User persona", "Persona you use in new conversations.")
    last_persona: str = setting(SettingSection.YOU, "", "Last persona", "Persona to open at the next start.")
    last_session: str = setting(SettingSection.YOU, "", "Last conversation", "Conversation to open at the next start.")

    # Appearance
    theme: ThemeOption = setting(
        SettingSection.LOOK, ThemeOption.SYSTEM, "Theme", "Colour theme of the window: light, dark or the system default."
    )
    font_size: int = setting(SettingSection.LOOK, 15, "Text size", "Size of message text in pixels.", ge=12, le=24, unit="px")
    prose_font: ProseFont = setting(SettingSection.LOOK, ProseFont.SANS, "Message font", "Typeface of messages: sans or serif.")
    background: str = setting(SettingSection.LOOK, "", "Background image", "Image shown faintly behind the chat.")
    notify: bool = setting(
        SettingSection.LOOK,
        True,
        "Notify when done",
        "Show a desktop notification when a reply is finished while you are in another window.",
    )
    notify_with_words: bool = setting(
        SettingSection.LOOK,
        False,
        "Reply text in notifications",
        "Show the beginning of the reply in the notification, where others might read it.",
    )
    reduced_motion: bool = setting(SettingSection.LOOK, False, "Reduced motion", "Turn off animations.")

    # Chat
    show_hidden: bool = setting(
        SettingSection.CHAT, False, "Show hidden messages", "Show hidden notes and memory lines in the chat."
    )
    add_names: bool = setting(
        SettingSection.CHAT, False, "Names in prompt", "Add the speaker's name before every message in the prompt."
    )
    first_paragraph_only: bool = setting(
        SettingSection.CHAT, False, "Single-paragraph replies", "Stop every reply after its first paragraph."
    )
    group_turns: GroupTurns = setting(
        SettingSection.CHAT,
        GroupTurns.NAMED,
        "Group reply order",
        "Order of speakers in a group: those you name or else the next in turn, everyone once, only the next in turn, or"
        " whoever the model chooses with a short extra request before every reply.",
    )
    group_replies: int = setting(
        SettingSection.CHAT,
        2,
        "Max consecutive group replies",
        "Maximum number of replies in a group before it is your turn again.",
        ge=1,
        le=12,
    )

    # Model
    model_path: str = setting(
        SettingSection.MODEL, "", "Model", "GGUF file that writes the replies; leave empty to use the first one found."
    )
    model_folders: list[str] = setting(
        SettingSection.MODEL, [], "Model folders", "Additional folders to search for GGUF files.", max_length=50
    )
    hub_mirror: str = setting(
        SettingSection.MODEL,
        "",
        "Download mirror",
        "Address of a Hugging Face mirror for model downloads; leave empty to use Hugging Face itself.",
        pattern=r"^(https?://\S+)?$",
    )
    proxy: str = setting(
        SettingSection.MODEL,
        "",
        "Proxy",
        "Proxy for downloads, searches and web pages, for example http://localhost:8080; leave empty for none.",
        pattern=r"^(https?://\S+)?$",
    )
    embedder_path: str = setting(
        SettingSection.MODEL,
        "",
        "Embedding model",
        "GGUF file that creates the embeddings for memory search; leave empty to use the bundled one.",
    )
    context: int = setting(
        SettingSection.MODEL,
        0,
        "Context size",
        "Tokens the model can see at once (0 = the model's own limit, up to 8192); at least a quarter is reserved for the"
        " conversation, and when space runs out, memories are dropped first, then past summaries, examples, facts, worlds"
        " and finally the oldest messages, which are summarised, but never the persona or your new message.",
        ge=0,
        le=1_048_576,
        minimum_label="model's limit",
    )
    max_reply: int = setting(
        SettingSection.MODEL, 512, "Max response tokens", "Maximum length of a reply in tokens.", ge=16, le=16_384
    )
    gpu_layers: int = setting(
        SettingSection.MODEL,
        0,
        "GPU layers",
        "Layers to offload to the GPU; 0 = CPU only, -1 = all layers.",
        ge=-1,
        le=999,
        minimum_label="all layers",
    )
    threads: int = setting(
        SettingSection.MODEL,
        0,
        "CPU threads",
        "CPU threads used by the engine; 0 = all physical cores.",
        ge=0,
        le=256,
        minimum_label="all physical cores",
    )
    batch: int = setting(SettingSection.MODEL, 512, "Batch size", "Prompt tokens processed per batch.", ge=32, le=8192)
    flash_attention: bool = setting(
        SettingSection.MODEL, False, "Flash attention", "Speed up attention on many GPUs; required for a quantised KV cache."
    )
    kv_type: str = setting(
        SettingSection.MODEL,
        "f16",
        "KV cache type",
        "Precision of the KV cache: f16, q8_0 or q4_0, where smaller types use less memory.",
        pattern="^(f16|q8_0|q4_0)$",
    )
    mmap: bool = setting(
        SettingSection.MODEL,
        True,
        "Memory-map (mmap)",
        "Map the model file into memory, so that weights are loaded as they are needed.",
    )
    mlock: bool = setting(
        SettingSection.MODEL,
        False,
        "Lock in memory (mlock)",
        "Keep the weights in RAM, so that the system cannot swap them out.",
    )
    read_ahead: bool = setting(
        SettingSection.MODEL, True, "Prefill while typing", "Process the prompt while you type, so that replies start sooner."
    )
    kept_states: int = setting(
        SettingSection.MODEL,
        1024,
        "Prompt cache on disk",
        "Megabytes of disk space for the prompt caches of your conversations, so that a reopened one need not be processed"
        " again; 0 = off, the least recently opened are deleted first, and they are as private as the conversations"
        " themselves.",
        ge=0,
        le=1_048_576,
    )
    cache_surgery: bool = setting(
        SettingSection.MODEL,
        True,
        "Context shift",
        "Cut messages that leave the prompt out of the KV cache instead of reprocessing the rest at once; with “Prefill"
        " while typing” the rest is reprocessed while you type.",
    )
    model_choices: dict[str, ModelChoices] = setting(
        SettingSection.MODEL, {}, "Per-model settings", "Settings for single models by file name, edited on the Models page."
    )

    # Prompt
    sampler: str = setting(
        SettingSection.PROMPT,
        "",
        "Sampler preset",
        "Preset with the sampling parameters; by default one that suits the model.",
    )
    system_preset: str = setting(
        SettingSection.PROMPT,
        "",
        "System prompt",
        "Preset that introduces the persona to the model; by default one that suits the model.",
    )
    instruct: str = setting(
        SettingSection.PROMPT,
        "",
        "Instruct format",
        "Preset that replaces the model's own chat template.",
        max_length=100,
    )
    layout: PromptLayout = setting(
        SettingSection.PROMPT,
        PromptLayout.LATE,
        "Position of memories",
        "Position of memories in the prompt: just above your newest message (no reprocessing), in the system prompt (the"
        " whole conversation is reprocessed every turn) or among the messages (the messages below are reprocessed); world"
        " entries set to the system prompt stay there, and the whole conversation is reprocessed whenever one comes or goes.",
    )
    temperature_override: float = setting(
        SettingSection.PROMPT,
        -1.0,
        "Temperature override",
        "Temperature that replaces the one of the sampler preset.",
        ge=-1.0,
        le=5.0,
        minimum_label="from preset",
    )
    thinking: bool = setting(
        SettingSection.PROMPT, True, "Thinking", "Let models that support thinking think before they reply."
    )

    # Conversations
    session_handling: SessionHandling = setting(
        SettingSection.SESSIONS,
        SessionHandling.FIT_ALL,
        "Earlier conversations in prompt",
        "Put as many whole earlier conversations into the prompt as fit, or only the current one.",
    )
    session_memory_system: bool = setting(
        SettingSection.SESSIONS,
        True,
        "Summaries of earlier conversations",
        "Add summaries of earlier conversations that are not in the prompt word for word.",
    )
    session_reserved_tokens: int = setting(
        SettingSection.SESSIONS,
        2048,
        "Token budget for summaries",
        "Maximum tokens for summaries of earlier conversations, never more than a seventh of the context.",
        ge=0,
        le=65_536,
    )
    rotation_minutes: int = setting(
        SettingSection.SESSIONS,
        60,
        "End conversations after",
        "Minutes without a message or key press after which a conversation ends and is archived; 0 = never.",
        ge=0,
        le=525_600,
        unit="min",
        minimum_label="never",
    )
    trash_days: int = setting(
        SettingSection.SESSIONS,
        30,
        "Empty Trash after",
        "Days until deleted items are removed for good; 0 = never.",
        ge=0,
        le=3650,
    )
    turn_cap: int = setting(
        SettingSection.SESSIONS,
        0,
        "Max turns in prompt",
        "Maximum number of turns of the conversation that are in the prompt word for word; 0 = no limit.",
        ge=0,
        le=10_000,
        minimum_label="no limit",
    )
    history_target: float = setting(
        SettingSection.SESSIONS,
        0.65,
        "History kept after trimming",
        "Share of its token budget that a conversation keeps when it outgrows it and the rest is summarised; at most 0.4"
        " where everything kept has to be reprocessed.",
        ge=0.1,
        le=0.95,
    )
    scratch: bool = setting(
        SettingSection.SESSIONS, True, "Conversation notes", "Note the facts of the current conversation as it goes on."
    )

    # Memory
    rag_enabled: bool = setting(
        SettingSection.MEMORY, True, "Recall by meaning", "Recall memories that are close in meaning to your message."
    )
    rag_entries: int = setting(
        SettingSection.MEMORY, 3, "Max memories per message", "Maximum number of memories recalled for a message.", ge=0, le=50
    )
    keyword_retrieval: bool = setting(
        SettingSection.MEMORY, True, "Recall by keyword", "Recall memories whose keywords occur in the conversation."
    )
    keyword_max_entries: int = setting(
        SettingSection.MEMORY,
        3,
        "Max memories by keyword",
        "Maximum number of memories recalled by keyword for a message.",
        ge=0,
        le=50,
    )
    silent_types: list[str] = setting(
        SettingSection.MEMORY,
        ["image", "file"],
        "Keyword-only memory types",
        "Memory types recalled by keyword only, never by meaning.",
    )
    recall_without_match: int = setting(
        SettingSection.MEMORY,
        3,
        "Memories at conversation start",
        "Number of important memories recalled when a conversation begins.",
        ge=0,
        le=50,
    )
    fact_retrieval: bool = setting(
        SettingSection.MEMORY, True, "Learn facts", "Learn facts from conversations and recall memories by them."
    )
    core_facts_tokens: int = setting(
        SettingSection.MEMORY,
        512,
        "Token budget for facts",
        "Maximum tokens of core facts, which are always in the prompt.",
        ge=0,
        le=16_384,
    )
    facts_during_roleplay: bool = setting(
        SettingSection.MEMORY,
        True,
        "Facts from roleplay",
        "Learn what you say in character, as facts of that conversation's story; what you say as yourself is always learnt.",
    )
    persona_facts: bool = setting(
        SettingSection.MEMORY,
        False,
        "Facts about the persona",
        "Learn what a persona says about itself as well as what you say.",
    )
    rag_distance: float = expert_setting(
        SettingSection.MEMORY,
        "Recall distance",
        "Maximum cosine distance at which a message recalls a memory by meaning; 0 = calibrated for the embedding model.",
    )
    fact_retrieval_distance: float = expert_setting(
        SettingSection.MEMORY,
        "Fact recall distance",
        "Maximum cosine distance at which a fact recalls the conversation it comes from; 0 = calibrated for the embedding"
        " model.",
    )
    fact_duplicate_distance: float = expert_setting(
        SettingSection.MEMORY,
        "Duplicate fact distance",
        "Maximum cosine distance at which two differently worded facts count as the same; 0 = calibrated for the embedding"
        " model.",
    )
    fact_update_distance: float = expert_setting(
        SettingSection.MEMORY,
        "Fact update distance",
        "Maximum cosine distance at which a newer fact may replace an older one; 0 = calibrated for the embedding model.",
    )
    global_worlds: list[str] = setting(
        SettingSection.MEMORY, [], "Global worlds (lorebooks)", "Worlds that are active in every conversation.", max_length=100
    )
    world_tokens: int = setting(
        SettingSection.MEMORY,
        0,
        "Token budget for worlds",
        "Maximum tokens of world entries per turn; 0 = a fifth of the context.",
        ge=0,
        le=65_536,
        minimum_label="a fifth of the context",
    )
    world_rounds: int = setting(
        SettingSection.MEMORY,
        3,
        "Max recursion steps",
        "Maximum number of steps per turn in which the text of world entries can activate further entries.",
        ge=0,
        le=10,
    )

    # Proactive messages
    disable_eurekas: bool = setting(
        SettingSection.PROACTIVE, False, "Disable proactive messages", "Stop personas from bringing anything up unasked."
    )
    min_insert_delay: int = setting(
        SettingSection.PROACTIVE,
        30,
        "Proactive message interval",
        "Minimum number of minutes between proactive messages.",
        ge=0,
        le=10_080,
        unit="min",
    )
    min_message_delay: int = setting(
        SettingSection.PROACTIVE,
        4,
        "Messages between proactive messages",
        "Minimum number of messages between proactive messages.",
        ge=0,
        le=1000,
    )
    eureka_cut_off_days: int = setting(
        SettingSection.PROACTIVE,
        15,
        "Proactive messages expire after",
        "Days after which a waiting proactive message is no longer brought up.",
        ge=1,
        le=3650,
        unit="days",
    )
    hours_before_afk: float = setting(
        SettingSection.PROACTIVE,
        4.0,
        "Greet after absence",
        "Hours of silence after which the persona greets you as returning.",
        ge=0.1,
        le=8760.0,
        unit="h",
    )
    min_no_recall_days: int = setting(
        SettingSection.PROACTIVE,
        10,
        "Memory decay time",
        "Days until an unused memory of a decaying type is forgotten, multiplied by its priority.",
        ge=1,
        le=3650,
        unit="days",
    )
    decaying_types: list[str] = setting(
        SettingSection.PROACTIVE,
        ["web_search", "goal", "reminder"],
        "Decaying memory types",
        "Memory types that are forgotten when nothing recalls them for a long time.",
    )
    mood_handling: bool = setting(SettingSection.PROACTIVE, True, "Moods", "Enable moods for personas that have them.")
    static_mood: bool = setting(SettingSection.PROACTIVE, False, "Fixed mood", "Show the mood, but let nothing change it.")
    tagged_events: bool = setting(
        SettingSection.PROACTIVE,
        True,
        "Proactive messages as events",
        "Mark proactive messages as events in the prompt, so that models invent less around them.",
    )
    guidance_latest_only: bool = setting(
        SettingSection.PROACTIVE,
        True,
        "Newest conversation only",
        "Insert hidden notes and proactive memories only into the newest conversation.",
    )

    def for_model(self, file_name: str) -> Settings:
        """Return the settings with the overrides for a model file; `file_name` is the name of the GGUF file."""
        chosen = self.model_choices.get(file_name)
        if chosen is None:
            return self
        return self.model_copy(update=chosen.model_dump(exclude_none=True, include=set(Settings.model_fields)))
