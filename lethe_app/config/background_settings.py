"""Settings of background activity, internet access and tools; a base class of `Settings`."""

from __future__ import annotations

from pydantic import BaseModel

from lethe_app.config.form_field import SettingSection, declare_section
from lethe_app.config.options import RoleplayGoals, SearchProvider

# Functions that declare a setting of the section, and one among its advanced settings.
background, advanced_background = declare_section(SettingSection.BACKGROUND)
web, advanced_web = declare_section(SettingSection.WEB)
tools, advanced_tools = declare_section(SettingSection.TOOLS)

_TIME_OF_DAY = r"^$|^([01]\d|2[0-3]):[0-5]\d$"


class BackgroundSettings(BaseModel):
    """Base class of `Settings` with the sections BACKGROUND, WEB and TOOLS."""

    # Background activity
    agents: bool = background(
        True,
        "Allow background activity",
        "Let personas work while you are away, those of which it is switched on in their editor or on the page “Activity”.",
    )
    agent_idle_minutes: int = background(
        15,
        "Start after idle time",
        "Minutes without a key press or click before background tasks start.",
        ge=1,
        le=1440,
        unit="min",
    )
    agent_day_tokens: int = advanced_background(
        100_000,
        "Daily token limit",
        "Maximum tokens per persona and day, prompt and output together; 0 = no limit.",
        ge=0,
        le=100_000_000,
        unit="tokens",
    )
    agent_day_minutes: int = advanced_background(
        30,
        "Daily time limit",
        "Maximum minutes per persona and day that the model works in the background; 0 = no limit.",
        ge=0,
        le=1440,
        unit="min",
    )
    agent_quiet_from: str = background(
        "",
        "Quiet hours from",
        "Start of the hours in which no background task starts, for example 22:00; leave empty for none.",
        pattern=_TIME_OF_DAY,
        max_length=5,
    )
    agent_quiet_until: str = background(
        "", "Quiet hours until", "End of the quiet hours, for example 07:00.", pattern=_TIME_OF_DAY, max_length=5
    )
    agent_on_battery: bool = background(False, "Run on battery", "Run background tasks on battery power as well.")
    agent_hours: dict[str, float] = advanced_background(
        {},
        "Task intervals",
        "Hours between runs, for example “journal: 6, dream: 24”; tasks not listed keep their own interval.",
    )
    tasks_off: list[str] = advanced_background(
        [], "Disabled tasks", "Background tasks disabled for every persona.", max_length=100
    )
    dreams_apply: bool = background(
        False,
        "Apply dreams automatically",
        "Merge, file or drop memories as soon as a dream suggests it, instead of asking first; every change can be undone.",
    )
    goals_from_roleplay: RoleplayGoals = advanced_background(
        RoleplayGoals.NEVER, "Goals from roleplay", "Use roleplay conversations as a source of goals as well."
    )
    notebooks: bool = background(
        True, "Notebooks", "Keep a notebook, a file you can read and edit, for every subject you come back to."
    )
    notebook_lines: int = advanced_background(
        50, "Max notebook length", "Lines above which a notebook is split into several.", ge=10, le=1000, unit="lines"
    )

    # Internet
    web_allowed: bool = web(
        False,
        "Allow internet search",
        "Allow searches on the internet, which may send your words to a search engine; every query is shown and logged.",
    )
    web_in_chat: bool = web(False, "Search during chat", "Search the internet before a reply when you ask for it.")
    web_provider: SearchProvider = web(
        SearchProvider.DUCKDUCKGO, "Search engine", "Search engine to use; Brave needs an API key, SearXNG a server address."
    )
    web_brave_key: str = advanced_web(
        "", "Brave API key", "API key for Brave Search, stored unencrypted in the settings file.", max_length=200
    )
    web_searxng_url: str = advanced_web(
        "", "SearXNG address", "Address of a SearXNG server you trust.", pattern=r"^(https?://\S+)?$", max_length=500
    )
    web_results: int = advanced_web(3, "Pages per search", "Number of web pages to read for each query.", ge=1, le=10)
    web_page_tokens: int = advanced_web(
        3000, "Max page length", "Maximum tokens read from a web page; the rest is ignored.", ge=200, le=20_000, unit="tokens"
    )
    web_private_addresses: bool = advanced_web(
        False, "Local network access", "Allow web pages on this computer and the local network."
    )

    # Tools
    tools_enabled: bool = tools(
        False, "Enable tools", "Let models use tools, for example to save memories, look up dates, roll dice or search."
    )
    default_tools: list[str] = tools(
        ["memory", "time", "dice"], "Default tools", "Tool sets for every persona that has no list of its own.", max_length=50
    )
    tools_explained: bool = advanced_tools(
        True, "Explain tools", "Add a short note to the prompt that tells the model how to use its tools."
    )
    tools_always_ask: bool = tools(False, "Always ask permission", "Ask before every tool call.")
