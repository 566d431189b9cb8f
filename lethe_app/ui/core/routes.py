"""Routes of the pages: which page to open and what to select on it, for those who open a page without importing it.

The class of a route declares its page: everything else that names pages, such as actions, shortcuts, menus and tabs, follows
from `PAGES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from enum import Enum
from typing import Any, TypeVar, dataclass_transform
from uuid import UUID


class ActionGroup(Enum):
    """Group of actions in the list of shortcuts, in its order; the values are the titles."""

    MESSAGES = "Messages and replies"
    CONVERSATIONS = "Conversations"
    PERSONAS = "Personas and worlds"
    MEMORY = "Memory"
    MODELS = "Models, background and internet"
    WINDOW = "Window"


@dataclass(frozen=True)
class ActionSpec:
    """Action of the user.

    Keys of an `is_local` action are handled by the focused widget, not by a shortcut of the window; the command palette can
    trigger it if a controller has connected it.
    """

    name: str
    title: str
    keys: str
    """Shortcuts, separated by spaces."""
    group: ActionGroup
    is_local: bool = False


class TabGroup(Enum):
    """Pages that are tabs of each other; the values are the title and the icon of the group in the menu."""

    MEMORY = ("Memory", "memory")
    BACKGROUND = ("Background activity", "thought")


@dataclass(frozen=True)
class Route:
    """Address of a page."""

    @property
    def page_key(self) -> object:
        """Return the identity of the page: a page with the same key is returned to instead of being opened twice."""
        return type(self)


@dataclass(frozen=True)
class PageSpec(ActionSpec):
    """Declaration of a page, which is an action as well: the one that opens it."""

    _: KW_ONLY
    module: str = ""
    """Module of the page below `lethe_app.ui.pages`, imported when it is first opened; by default `page` in a folder of the
    same name.
    """
    tabs: TabGroup | None = None
    tab_title: str = ""
    """Title of its tab if it is not that of the action."""
    section_of: str = ""
    """Action of the page whose tab this page shares; they are its sections."""
    menu_icon: str = ""
    """Icon of the page in the menu of the sidebar; empty if it is not listed there."""


PAGES: dict[type[Route], PageSpec] = {}
"""All pages by their routes, in the order of their tabs and of the menu."""
R = TypeVar("R", bound=Route)


@dataclass_transform(frozen_default=True)
def page(name: str, title: str, keys: str, group: ActionGroup, **options: Any) -> Callable[[type[R]], type[R]]:  # noqa: ANN401 - as in `PageSpec`
    """Declare the page of a class of routes by the fields of its `PageSpec`, and make the class a frozen dataclass."""

    def declare(route_type: type[R]) -> type[R]:
        PAGES[route_type] = PageSpec(name, title, keys, group, **{"module": f"{name}.page", **options})
        return dataclass(frozen=True)(route_type)

    return declare


@page("overview", "Overview", "Ctrl+Shift+T", ActionGroup.MEMORY, tabs=TabGroup.MEMORY, section_of="memories")
class OverviewRoute(Route):
    """What a persona remembers about the user."""


@page("memories", "Memories", "Ctrl+Shift+E", ActionGroup.MEMORY, tabs=TabGroup.MEMORY)
class MemoriesRoute(Route):
    """Memories of a persona."""

    persona_id: str = ""
    memory: UUID | None = None


@page("facts", "Facts", "Ctrl+Shift+K", ActionGroup.MEMORY, tabs=TabGroup.MEMORY)
class FactsRoute(Route):
    """Facts a persona knows."""

    persona_id: str = ""
    fact: UUID | None = None
    is_editing: bool = False
    """True if the text of the fact is to be changed."""


@page("conversations", "Conversations", "Ctrl+Shift+O", ActionGroup.CONVERSATIONS, module="sessions.page", tabs=TabGroup.MEMORY)
class SessionsRoute(Route):
    """All conversations."""


@page("notebooks", "Notebooks", "Ctrl+Shift+J", ActionGroup.MEMORY, tabs=TabGroup.MEMORY)
class NotebooksRoute(Route):
    """Notebooks of a persona."""

    persona_id: str = ""
    notebook: str = ""


@page("documents", "Documents", "Ctrl+Alt+K", ActionGroup.MEMORY, tabs=TabGroup.MEMORY, section_of="notebooks")
class DocumentsRoute(Route):
    """Documents of a persona or world."""

    owner: str = ""
    """Id of the persona, or the owner of a world's documents."""
    document: UUID | None = None
    passage: UUID | None = None
    """Passage of the document to show instead of its beginning."""


@page("mind", "Mind (moods, plans, thoughts)", "Ctrl+Shift+D", ActionGroup.MEMORY, tabs=TabGroup.MEMORY, tab_title="Mind")
class MindRoute(Route):
    """Mood, plans and thoughts of a persona."""


@page("dreams", "Dreams", "Ctrl+D", ActionGroup.MEMORY, tabs=TabGroup.MEMORY, section_of="mind")
class DreamsRoute(Route):
    """Dreams and proposed changes."""

    persona_id: str = ""


@page(
    "irrelevant_memories",
    "Irrelevant memories",
    "Ctrl+Shift+B",
    ActionGroup.MEMORY,
    tabs=TabGroup.MEMORY,
    section_of="memories",
    tab_title="Irrelevant",
)
class IrrelevantMemoriesRoute(Route):
    """Memories marked as irrelevant and rated replies."""


@page(
    "background_activity",
    "Background activity",
    "Ctrl+Shift+A",
    ActionGroup.MODELS,
    module="activity.page",
    tabs=TabGroup.BACKGROUND,
)
class BackgroundActivityRoute(Route):
    """Task runs in the background."""


@page("research", "Research", "Ctrl+Shift+S", ActionGroup.MODELS, tabs=TabGroup.BACKGROUND)
class ResearchRoute(Route):
    """Deep research and its reports."""

    inquiry: UUID | None = None


@page("network_log", "Network log", "Ctrl+Shift+I", ActionGroup.MODELS, tabs=TabGroup.BACKGROUND)
class NetworkLogRoute(Route):
    """Log of web requests."""


@page("backups", "Backups", "Ctrl+Alt+B", ActionGroup.MODELS, tabs=TabGroup.BACKGROUND)
class BackupsRoute(Route):
    """Backups of everything, and restoring one."""


@page("settings", "Settings", "Ctrl+,", ActionGroup.WINDOW, menu_icon="sliders")
class SettingsRoute(Route):
    """Settings, at one of them if it is named."""

    name: str = ""


@page("presets", "Presets (samplers, formats, prompts)", "Ctrl+Shift+P", ActionGroup.MODELS, menu_icon="edit")
class PresetsRoute(Route):
    """Sampler, instruct and system presets."""


@page("model_manager", "Models and downloads", "Ctrl+Shift+L", ActionGroup.MODELS, module="models.page", menu_icon="model")
class ModelsRoute(Route):
    """Models and downloads, at those of speech recognition if these are asked for."""

    shows_speech: bool = False


@page("worlds", "Worlds (lorebooks)", "Ctrl+Shift+W", ActionGroup.PERSONAS, menu_icon="book")
class WorldsRoute(Route):
    """Worlds, at one entry if it is given."""

    world: str = ""
    entry: UUID | None = None


@page("user_personas", "You (user personas)", "Ctrl+Shift+Y", ActionGroup.PERSONAS, module="personas.list", menu_icon="user")
class UserPersonasRoute(Route):
    """User personas."""


@page("search_everything", "Search everything", "Ctrl+F", ActionGroup.CONVERSATIONS, module="search.page", menu_icon="search")
class SearchRoute(Route):
    """Search in everything that is stored, for a text if it is given."""

    text: str = ""


@page("trash", "Trash", "Ctrl+Shift+Del", ActionGroup.WINDOW, menu_icon="trash")
class TrashRoute(Route):
    """Trash."""


@page("inspector", "Prompt inspector", "Ctrl+I", ActionGroup.MEMORY)
class InspectorRoute(Route):
    """Prompt inspector."""


@page("new_persona", "New persona", "Ctrl+Shift+N", ActionGroup.PERSONAS, module="personas.page")
class PersonaRoute(Route):
    """Editor of a character or user persona; of a new one without an id. Each persona has an editor page of its own."""

    persona_id: str = ""
    is_user: bool = False

    @property
    def page_key(self) -> object:
        return self


ACTION_ROUTES = {spec.name: route_type() for route_type, spec in PAGES.items()}
"""Route of each action of the window that opens a page; the editor of the current persona is not listed."""
