"""`lethe export` to files for other programs."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from lethe_app.cli.chat import choose_persona
from lethe_app.domain.bundle import CARD_SUFFIXES
from lethe_app.errors import FileError

CHAT_SUFFIX = ".jsonl"

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices


def is_for_others(options: argparse.Namespace) -> bool:
    """Return whether the export is no bundle of our own."""
    return bool(options.world) or options.file.is_dir() or options.file.suffix.lower() in (*CARD_SUFFIXES, CHAT_SUFFIX)


async def export_for_others(services: AppServices, options: argparse.Namespace) -> int:
    """Run `lethe export` for a card, for a world, or for the conversations of a persona."""
    target, exporter = options.file, services.card_export
    if options.world:
        worlds = await services.library.worlds()
        name = options.world.casefold()
        found = next((stem for stem, world in worlds.items() if name in (stem.casefold(), world.name.casefold())), None)
        if found is None:
            raise FileError(options.world, "is not a world", remedy=f"There are: {', '.join(worlds)}.")
        await exporter.export_world(found, target)
        exported = worlds[found].name
    else:
        persona = await choose_persona(services, options.persona)
        exported = persona.name
        if target.is_dir():
            exported = f"{await exporter.export_chats(persona.unique_name, target)} chats with {persona.name}"
        elif target.suffix.lower() == CHAT_SUFFIX:
            exported = f"{await exporter.export_chat(persona.unique_name, target)} messages with {persona.name}"
        else:
            await exporter.export_card(persona.unique_name, target)
    print(json.dumps({"file": str(target)}) if options.json else f"Exported {exported} to {target.name}.")
    return 0
