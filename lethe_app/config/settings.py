"""Every setting once: its type, default, bounds, title, help text and section; forms, checks and the manual read it here."""

from __future__ import annotations

from pydantic import ConfigDict

from lethe_app.config.background_settings import AwaySettings
from lethe_app.config.options import GroupTurns, ModelChoices, PromptLayout, ProseFont, SessionHandling, ThemeOption
from lethe_app.config.setting_field import SettingSection, expert_setting, setting


class Settings(AwaySettings):
    """All settings with their values; read and written as one JSON file by `storage/files/json_files`."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    # You
    welcomed: bool = setting(SettingSection.YOU, False, "Welcomed", "Has the first start been gone through?")
    user_persona: str = setting(SettingSection.YOU, "", "Your persona", "Who you are in new conversations.")
    last_persona: str = setting(SettingSection.YOU, "", "Last persona", "Opened again at the next start.")
    last_session: str = setting(SettingSection.YOU, "", "Last conversation", "Opened again at the next start.")

    # Look
    theme: ThemeOption = setting(SettingSection.LOOK, ThemeOption.SYSTEM, "Theme", "Light, dark, or whatever the system uses.")
    font_size: int = setting(SettingSection.LOOK, 15, "Text size", "Size of the prose in pixels.", ge=12, le=24)
    prose_font: ProseFont = setting(SettingSection.LOOK, ProseFont.SANS, "Prose typeface", "Sans or serif for what is said.")
    background: str = setting(
        SettingSection.LOOK, "", "Picture behind the words", "A picture of yours, faintly behind the chat."
    )
    notify: bool = setting(
        SettingSection.LOOK,
        True,
        "Call me back",
        "Tell on the desktop when a reply is finished while you look at something else.",
    )
    notify_with_words: bool = setting(
        SettingSection.LOOK, False, "Show words on the desktop", "The beginning of the reply, where others might read it."
    )
    reduced_motion: bool = setting(SettingSection.LOOK, False, "Reduced motion", "No animations.")

    # Chat
    show_hidden: bool = setting(
        SettingSection.CHAT, False, "Show hidden messages", "Draw notes and memory lines that are in the log."
    )
    add_names: bool = setting(SettingSection.CHAT, False, "Names in the prompt", "Put the speaker's name before every message.")
    first_paragraph_only: bool = setting(SettingSection.CHAT, False, "One paragraph", "Stop a reply after its first paragraph.")
    group_turns: GroupTurns = setting(
        SettingSection.CHAT,
        GroupTurns.NAMED,
        "Who answers in a group",
        "Those you name, or else whoever is next in turn; everyone once; only the next in turn; or whom the model chooses,"
        " which asks it a short question before every reply.",
    )
    group_replies: int = setting(
        SettingSection.CHAT, 2, "Replies in a row", "In a group, at most so many before it is your turn again.", ge=1, le=12
    )

    # Model
    model_path: str = setting(SettingSection.MODEL, "", "Model", "The GGUF file that answers; empty takes the first one found.")
    model_folders: list[str] = setting(
        SettingSection.MODEL, [], "Model folders", "Further folders that are searched for GGUF files.", max_length=50
    )
    hub_mirror: str = setting(
        SettingSection.MODEL,
        "",
        "Mirror for downloads",
        "An address that offers models as Hugging Face does; empty takes Hugging Face itself.",
        pattern=r"^(https?://\S+)?$",
    )
    proxy: str = setting(
        SettingSection.MODEL,
        "",
        "Proxy",
        "For all that is fetched, e.g. http://localhost:8080; empty is none.",
        pattern=r"^(https?://\S+)?$",
    )
    embedder_path: str = setting(
        SettingSection.MODEL,
        "",
        "Embedding model",
        "The GGUF file by which memories are found; empty takes the one Lethe comes with.",
    )
    context: int = setting(
        SettingSection.MODEL,
        0,
        "Context",
        "Tokens the model sees at once; 0 takes the model's own length up to 8192. What you talk about may fill all that is"
        " left, then its beginning is summed up; a quarter of the context is always its own. Where that is too tight, memories"
        " give way first, then summaries of earlier talk, examples, facts, worlds, and last the oldest messages; never the"
        " persona, never your new message.",
        ge=0,
        le=1_048_576,
    )
    max_reply: int = setting(SettingSection.MODEL, 512, "Longest reply", "Tokens a reply may have.", ge=16, le=16_384)
    gpu_layers: int = setting(
        SettingSection.MODEL,
        0,
        "Layers on the graphics card",
        "0 computes on the processor, -1 puts everything on the card.",
        ge=-1,
        le=999,
    )
    threads: int = setting(SettingSection.MODEL, 0, "Threads", "0 takes the physical cores.", ge=0, le=256)
    batch: int = setting(SettingSection.MODEL, 512, "Batch", "Prompt tokens computed in one piece.", ge=32, le=8192)
    flash_attention: bool = setting(
        SettingSection.MODEL, False, "Flash attention", "Faster on many graphics cards; needed to shrink the cache."
    )
    kv_type: str = setting(
        SettingSection.MODEL, "f16", "Cache precision", "f16, q8_0 or q4_0: smaller saves memory.", pattern="^(f16|q8_0|q4_0)$"
    )
    mmap: bool = setting(SettingSection.MODEL, True, "Map the file", "Let the system page the weights in as they are needed.")
    mlock: bool = setting(SettingSection.MODEL, False, "Lock in memory", "Keep the weights from being swapped out.")
    read_ahead: bool = setting(
        SettingSection.MODEL,
        True,
        "Read ahead",
        "Let the model read the conversation while you write, so that it answers sooner.",
    )
    kept_states: int = setting(
        SettingSection.MODEL,
        1024,
        "Keep what was read",
        "Megabytes of disk for what the model has read of your conversations, so that a long one opened again answers at once;"
        " 0 keeps nothing. Those opened longest ago leave first. They are as private as the conversations themselves.",
        ge=0,
        le=1_048_576,
    )
    cache_surgery: bool = setting(
        SettingSection.MODEL,
        True,
        "Cut out of what was read",
        "When old messages leave the prompt, cut them out of what the model has read instead of having the rest read again at"
        " once; where it may read ahead, it is read again while you write.",
    )

    model_choices: dict[str, ModelChoices] = setting(
        SettingSection.MODEL, {}, "Choices for one model", "By file name; changed where the models are shown."
    )

    # Prompt
    sampler: str = setting(
        SettingSection.PROMPT, "", "Sampler", "The preset that draws words; empty takes one that suits the model."
    )
    system_preset: str = setting(
        SettingSection.PROMPT,
        "",
        "System prompt",
        "The preset that introduces the persona; empty takes one that suits the model.",
    )
    instruct: str = setting(
        SettingSection.PROMPT,
        "",
        "Instruct format",
        "Empty uses the model's own template; a preset replaces it.",
        max_length=100,
    )
    layout: PromptLayout = setting(
        SettingSection.PROMPT,
        PromptLayout.LATE,
        "Place of memories",
        "Just above your newest message, which costs nothing; in the system prompt, which has the whole conversation read again"
        " every turn; or among the messages, which has the messages behind them read again. World entries that ask for the"
        " system prompt stand there in any case: whenever one comes or goes, the whole conversation is read again.",
    )
    temperature_override: float = setting(
        SettingSection.PROMPT, -1.0, "Temperature", "Replaces the sampler's temperature when zero or more.", ge=-1.0, le=5.0
    )
    thinking: bool = setting(SettingSection.PROMPT, True, "Thinking", "Let models that can think do so before they answer.")

    # Conversations
    session_handling: SessionHandling = setting(
        SettingSection.SESSIONS,
        SessionHandling.FIT_ALL,
        "Earlier conversations",
        "Put as many whole earlier conversations into the prompt as fit, or only the present one.",
    )
    session_memory_system: bool = setting(
        SettingSection.SESSIONS,
        True,
        "Summaries of earlier conversations",
        "Summaries of those that are not there word for word.",
    )
    session_reserved_tokens: int = setting(
        SettingSection.SESSIONS,
        2048,
        "Room for summaries",
        "Tokens; never more than a seventh of the context.",
        ge=0,
        le=65_536,
    )
    rotation_minutes: int = setting(
        SettingSection.SESSIONS,
        60,
        "End conversations after",
        "Minutes without a message or a key press after which a conversation ends and is remembered; 0 never ends one.",
        ge=0,
        le=525_600,
    )
    trash_days: int = setting(
        SettingSection.SESSIONS,
        30,
        "Empty the Trash",
        "Days until what was deleted is gone for good; 0 is never.",
        ge=0,
        le=3650,
    )
    turn_cap: int = setting(
        SettingSection.SESSIONS,
        0,
        "Turns word for word",
        "At most so many turns of the conversation; 0 is no limit.",
        ge=0,
        le=10_000,
    )
    history_target: float = setting(
        SettingSection.SESSIONS,
        0.65,
        "Cut down to",
        "When a conversation outgrows its room, this part of the room is kept and the rest summarised; at most 0.4 where the"
        " model has to read again all that is kept.",
        ge=0.1,
        le=0.95,
    )
    scratch: bool = setting(
        SettingSection.SESSIONS,
        True,
        "Notes of the conversation",
        "Keep the facts of the present conversation at hand as it goes.",
    )

    # Memory
    rag_enabled: bool = setting(
        SettingSection.MEMORY, True, "Remember by meaning", "Let what you say bring up what it reminds of."
    )
    rag_entries: int = setting(
        SettingSection.MEMORY, 3, "Memories at once", "How many may be brought up for a message.", ge=0, le=50
    )
    keyword_retrieval: bool = setting(SettingSection.MEMORY, True, "Remember by keyword", "Let keywords bring up memories.")
    keyword_max_entries: int = setting(
        SettingSection.MEMORY, 3, "Memories by keyword", "How many keywords may bring up for a message.", ge=0, le=50
    )
    silent_types: list[str] = setting(
        SettingSection.MEMORY,
        ["image", "file"],
        "Found by keywords alone",
        "Kinds of memories that what they say brings up never.",
    )
    recall_without_match: int = setting(
        SettingSection.MEMORY, 3, "Memories at a beginning", "How many come to mind when a conversation begins.", ge=0, le=50
    )
    fact_retrieval: bool = setting(SettingSection.MEMORY, True, "Facts", "Learn facts from conversations and remember by them.")
    core_facts_tokens: int = setting(
        SettingSection.MEMORY, 512, "Room for core facts", "Tokens of what is known, always in the prompt.", ge=0, le=16_384
    )
    facts_during_roleplay: bool = setting(
        SettingSection.MEMORY,
        True,
        "Facts of stories",
        "Keep what you say in character as facts of that conversation's story; what you say plainly in it is learnt anyway.",
    )
    persona_facts: bool = setting(
        SettingSection.MEMORY,
        False,
        "Facts about the persona",
        "Learn what a persona says of itself, too, not only what you say.",
    )
    rag_distance: float = expert_setting(
        SettingSection.MEMORY,
        "Recall distance",
        "Cosine distance up to which what you say brings up a memory by its meaning; 0 takes what was measured for the"
        " embedding model.",
    )
    fact_retrieval_distance: float = expert_setting(
        SettingSection.MEMORY,
        "Recall distance of facts",
        "Cosine distance up to which a fact brings up the conversation it is from; 0 takes what was measured for the embedding"
        " model.",
    )
    fact_duplicate_distance: float = expert_setting(
        SettingSection.MEMORY,
        "Same fact",
        "Cosine distance up to which two facts in other words count as the same; 0 takes what was measured for the embedding"
        " model.",
    )
    fact_update_distance: float = expert_setting(
        SettingSection.MEMORY,
        "Changed fact",
        "Cosine distance up to which a newer fact may replace an older one; 0 takes what was measured for the embedding model.",
    )
    global_worlds: list[str] = setting(
        SettingSection.MEMORY,
        [],
        "Worlds for everybody",
        "File names of worlds that belong to every conversation.",
        max_length=100,
    )
    world_tokens: int = setting(
        SettingSection.MEMORY,
        0,
        "Room for worlds",
        "Tokens of world entries in a turn; 0 is a fifth of the context.",
        ge=0,
        le=65_536,
    )
    world_rounds: int = setting(
        SettingSection.MEMORY,
        3,
        "Entries waking entries",
        "How often in a turn the texts of entries may wake others.",
        ge=0,
        le=10,
    )

    # Things to bring up
    disable_eurekas: bool = setting(SettingSection.NEWS, False, "Keep quiet", "Never bring anything up unasked.")
    min_insert_delay: int = setting(
        SettingSection.NEWS, 30, "Minutes between", "At least, before something is brought up.", ge=0, le=10_080
    )
    min_message_delay: int = setting(
        SettingSection.NEWS, 4, "Messages between", "At least, before something is brought up.", ge=0, le=1000
    )
    eureka_cut_off_days: int = setting(
        SettingSection.NEWS, 15, "Stale after", "Days after which it is brought up no more.", ge=1, le=3650
    )
    hours_before_afk: float = setting(
        SettingSection.NEWS, 4.0, "Away after", "Hours of silence after which you are greeted as returning.", ge=0.1, le=8760.0
    )
    min_no_recall_days: int = setting(
        SettingSection.NEWS,
        10,
        "Fades after",
        "Days per step of priority until an unused find or goal is let go.",
        ge=1,
        le=3650,
    )
    decaying_types: list[str] = setting(
        SettingSection.NEWS,
        ["web_search", "goal", "reminder"],
        "What fades",
        "Kinds of memories that are forgotten when nothing brings them up for long.",
    )
    mood_handling: bool = setting(
        SettingSection.NEWS, True, "Moods", "Personas that have moods show them; off stops all of them."
    )
    static_mood: bool = setting(SettingSection.NEWS, False, "Steady mood", "Show the mood but let nothing change it.")
    tagged_events: bool = setting(
        SettingSection.NEWS,
        True,
        "Marked as events",
        "Mark what is brought up as an event, so that models invent less around it.",
    )
    guidance_latest_only: bool = setting(
        SettingSection.NEWS, True, "Only in the newest conversation", "Leave older conversations without notes and news."
    )

    def for_model(self, file_name: str) -> Settings:
        """The settings as they are for the model in that file."""
        chosen = self.model_choices.get(file_name)
        if chosen is None:
            return self
        return self.model_copy(update=chosen.model_dump(exclude_none=True, include=set(Settings.model_fields)))


def section_of(name: str) -> SettingSection:
    """The section in which the setting called `name` is shown."""
    extra = Settings.model_fields[name].json_schema_extra
    assert isinstance(extra, dict)
    return SettingSection(str(extra["section"]))
