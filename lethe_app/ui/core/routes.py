"""Routes of the pages: which page to open and what to select on it, for those who open a page without importing it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class Route:
    """Address of a page."""

    @property
    def page_key(self) -> object:
        """Return the identity of the page: a page with the same key is returned to instead of being opened twice."""
        return type(self)


@dataclass(frozen=True)
class InspectorRoute(Route):
    """Prompt inspector."""


@dataclass(frozen=True)
class SessionsRoute(Route):
    """All conversations."""


@dataclass(frozen=True)
class SearchRoute(Route):
    """Search in everything that is stored, for a text if it is given."""

    text: str = ""


@dataclass(frozen=True)
class TrashRoute(Route):
    """Trash."""


@dataclass(frozen=True)
class ActivityRoute(Route):
    """Task runs in the background."""


@dataclass(frozen=True)
class DreamsRoute(Route):
    """Dreams and proposed changes."""

    persona_id: str = ""


@dataclass(frozen=True)
class WebLogRoute(Route):
    """Log of web requests."""


@dataclass(frozen=True)
class ResearchRoute(Route):
    """Deep research and its reports."""

    inquiry: UUID | None = None


@dataclass(frozen=True)
class MemoriesRoute(Route):
    """Memories of a persona."""

    persona_id: str = ""
    memory: UUID | None = None


@dataclass(frozen=True)
class DocumentsRoute(Route):
    """Documents of a persona or world."""

    owner: str = ""
    """Id of the persona, or the owner of a world's documents."""
    document: UUID | None = None
    passage: UUID | None = None
    """Passage of the document to show instead of its beginning."""


@dataclass(frozen=True)
class FactsRoute(Route):
    """Facts a persona knows."""

    persona_id: str = ""
    fact: UUID | None = None
    is_editing: bool = False
    """True if the text of the fact is to be changed."""


@dataclass(frozen=True)
class FeedbackRoute(Route):
    """Memories marked as irrelevant and rated replies."""


@dataclass(frozen=True)
class TimelineRoute(Route):
    """What a persona remembers about the user."""


@dataclass(frozen=True)
class MindRoute(Route):
    """Mood, plans and thoughts of a persona."""


@dataclass(frozen=True)
class NotebooksRoute(Route):
    """Notebooks of a persona."""

    persona_id: str = ""
    notebook: str = ""


@dataclass(frozen=True)
class SettingsRoute(Route):
    """Settings, at one of them if it is named."""

    name: str = ""


@dataclass(frozen=True)
class WorldsRoute(Route):
    """Worlds, at one entry if it is given."""

    world: str = ""
    entry: UUID | None = None


@dataclass(frozen=True)
class PresetsRoute(Route):
    """Sampler, instruct and system presets."""


@dataclass(frozen=True)
class ModelsRoute(Route):
    """Models and downloads, at those of speech recognition if these are asked for."""

    shows_speech: bool = False


@dataclass(frozen=True)
class UserPersonasRoute(Route):
    """User personas."""


@dataclass(frozen=True)
class PersonaRoute(Route):
    """Editor of a character or user persona; of a new one without an id. Each persona has an editor page of its own."""

    persona_id: str = ""
    is_user: bool = False

    @property
    def page_key(self) -> object:
        return self


ACTION_ROUTES: dict[str, Route] = {
    "inspector": InspectorRoute(),
    "conversations": SessionsRoute(),
    "find": SearchRoute(),
    "trash": TrashRoute(),
    "away": ActivityRoute(),
    "dreams": DreamsRoute(),
    "outgoing": WebLogRoute(),
    "research": ResearchRoute(),
    "memories": MemoriesRoute(),
    "facts": FactsRoute(),
    "documents": DocumentsRoute(),
    "objections": FeedbackRoute(),
    "timeline": TimelineRoute(),
    "mind": MindRoute(),
    "notebooks": NotebooksRoute(),
    "settings": SettingsRoute(),
    "worlds": WorldsRoute(),
    "presets": PresetsRoute(),
    "model_manager": ModelsRoute(),
    "new_persona": PersonaRoute(),
    "user_personas": UserPersonasRoute(),
}
"""Route of each action of the window that opens a page; the editor of the current persona is not listed."""
