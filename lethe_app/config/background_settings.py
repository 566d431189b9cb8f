"""The settings of what happens without the user: work while they are away, the internet, and tools; see `settings`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from lethe_app.config.options import RoleplayGoals, SearchProvider
from lethe_app.config.setting_field import SettingSection, setting

_TIME_OF_DAY = r"^$|^([01]\d|2[0-3]):[0-5]\d$"


class AwaySettings(BaseModel):
    """A part of `Settings`."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    # While you are away
    agents: bool = setting(
        SettingSection.AWAY,
        True,
        "Let them be busy",
        "Personas that may do things while you are away do them; off stops all of them.",
    )
    agent_idle_minutes: int = setting(
        SettingSection.AWAY, 15, "Away after", "Minutes without a key or a click before anything is begun.", ge=1, le=1440
    )
    agent_day_tokens: int = setting(
        SettingSection.AWAY, 100_000, "Tokens a day", "Of each persona, read and written; 0 is no limit.", ge=0, le=100_000_000
    )
    agent_day_minutes: int = setting(
        SettingSection.AWAY,
        30,
        "Minutes a day",
        "Of each persona: the time the model works for it; 0 is no limit.",
        ge=0,
        le=1440,
    )
    agent_quiet_from: str = setting(
        SettingSection.AWAY, "", "Nothing from", "Such as 22:00; then nothing is begun. Empty is never.", pattern=_TIME_OF_DAY
    )
    agent_quiet_until: str = setting(SettingSection.AWAY, "", "Nothing until", "Such as 07:00.", pattern=_TIME_OF_DAY)
    agent_on_battery: bool = setting(
        SettingSection.AWAY, False, "On battery too", "Work while the computer runs on its battery."
    )
    agent_hours: dict[str, float] = setting(
        SettingSection.AWAY, {}, "Hours between", "By name of the task; what is not here has the task's own pace."
    )
    tasks_off: list[str] = setting(SettingSection.AWAY, [], "Tasks that are off", "By name, for every persona.", max_length=100)
    dreams_apply: bool = setting(
        SettingSection.AWAY,
        False,
        "Tidy up without asking",
        "What a dream would merge, file or drop is done at once and can be taken back; off, it only proposes.",
    )
    goals_from_roleplay: RoleplayGoals = setting(
        SettingSection.AWAY,
        RoleplayGoals.NEVER,
        "Goals from roleplay",
        "Let goals grow out of conversations that were roleplay, too.",
    )
    notebooks: bool = setting(
        SettingSection.AWAY,
        True,
        "Notebooks",
        "Keep a notebook for every subject you come back to: a file you can read and change.",
    )
    notebook_lines: int = setting(
        SettingSection.AWAY, 50, "Lines of a notebook", "A longer one is parted into several.", ge=10, le=1000
    )

    # The internet
    web_allowed: bool = setting(
        SettingSection.WEB,
        False,
        "Search the internet",
        "Off, nothing is ever searched. On, your words may become questions to a search engine; each is shown and listed.",
    )
    web_in_chat: bool = setting(
        SettingSection.WEB, False, "Search while you talk", "Look something up when you ask for it, before the reply."
    )
    web_provider: SearchProvider = setting(
        SettingSection.WEB, SearchProvider.DUCKDUCKGO, "Search engine", "Who is asked. Brave wants a key, SearXNG an address."
    )
    web_brave_key: str = setting(SettingSection.WEB, "", "Key for Brave", "Kept in the settings file as it is.", max_length=200)
    web_searxng_url: str = setting(
        SettingSection.WEB, "", "Address of SearXNG", "Of a server you trust.", pattern=r"^(https?://\S+)?$", max_length=500
    )
    web_results: int = setting(SettingSection.WEB, 3, "Results", "Pages that are read for each question.", ge=1, le=10)
    web_page_tokens: int = setting(
        SettingSection.WEB, 3000, "Longest page", "A longer one is read up to there.", ge=200, le=20_000
    )
    web_private_addresses: bool = setting(
        SettingSection.WEB, False, "Addresses at home", "Read pages from this computer and your own network, too."
    )

    # Tools
    tools_enabled: bool = setting(
        SettingSection.TOOLS, False, "Tools", "Let models use tools: keep a memory, look up a date, roll dice, search."
    )
    default_tools: list[str] = setting(
        SettingSection.TOOLS,
        ["memory", "time", "dice"],
        "Tools for everybody",
        "Sets of tools, by name; a persona may have her own list.",
        max_length=50,
    )
    tools_explained: bool = setting(
        SettingSection.TOOLS,
        True,
        "Explain tools",
        "Tell a model that is offered tools how to use them, in a short note of ours.",
    )
    tools_always_ask: bool = setting(SettingSection.TOOLS, False, "Always ask", "Ask before every use of a tool.")
