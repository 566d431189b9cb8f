"""Services of the persona editor."""

from __future__ import annotations

from dataclasses import dataclass

from lethe_app.services.background.runner import BackgroundRunner
from lethe_app.services.chat.prompt_inspector import PromptInspector
from lethe_app.services.library import Library
from lethe_app.services.models.service import ModelService
from lethe_app.services.personas.draft_chat import DraftChat
from lethe_app.services.preferences import Preferences
from lethe_app.services.sessions.editing import SessionEditing
from lethe_app.services.sessions.service import SessionService
from lethe_app.services.tools.registry import ToolRegistry


@dataclass(frozen=True)
class PersonaEditorServices:
    """Services that the persona editor calls."""

    library: Library
    preferences: Preferences
    sessions: SessionService
    session_editing: SessionEditing
    draft_chat: DraftChat
    prompt_inspector: PromptInspector
    models: ModelService
    tool_registry: ToolRegistry
    background_runner: BackgroundRunner
