"""`lethe export`, to bundles and to files of other programs, and `lethe import` of both."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lethe_app.cli.chat import build_progress_printer, choose_persona, choose_world, print_json
from lethe_app.domain.bundle import CARD_SUFFIXES, BundleScope
from lethe_app.services.imports.plan import (
    PRESET_NAMES,
    ImportItem,
    ImportPlan,
    ImportResult,
    ItemAction,
    ItemKind,
    describe_ignored,
    describe_note,
    describe_place,
)

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices

CHAT_SUFFIX = ".jsonl"
NAMES = {
    ItemKind.PERSONA: ("persona", "personas"),
    ItemKind.WORLD: ("world", "worlds"),
    ItemKind.MEMORIES: ("memories of", "memories of"),
    ItemKind.CONVERSATION: ("chat", "chats"),
    ItemKind.PRESET: ("preset", "presets"),
}
"""Singular and plural of the kinds of items."""


async def export(services: AppServices, options: argparse.Namespace) -> int:
    """Run `lethe export`."""
    persona = await choose_persona(services, options.persona)
    scope = BundleScope.EVERYTHING if options.everything else BundleScope.MEMORIES if options.memories else BundleScope.PERSONA
    target = options.file.expanduser().absolute()
    file = await services.bundles.export(
        persona.unique_name, scope, target, build_progress_printer(f"Exporting {persona.name}", quiet=options.json)
    )
    holds = (await services.bundles.read_bundle(file)).holds
    if options.json:
        print_json({"file": str(file), "persona": persona.unique_name, "scope": scope.value, "holds": holds.model_dump()})
    else:
        print(f"{persona.name} was exported to {file.name} with {describe_contents(holds.model_dump())}.")
    return 0


async def import_bundle(services: AppServices, file: Path, options: argparse.Namespace) -> int:
    """Run `lethe import` for a bundle: the whole bundle is imported, or nothing and an error is raised."""
    bundle = await services.bundles.read_bundle(file, build_progress_printer("Reading", quiet=options.json))
    imported = await services.bundles.import_bundle(
        bundle, options.name, build_progress_printer("Importing", quiet=options.json)
    )
    persona = imported.persona
    if options.json:
        print_json({"persona": persona.unique_name, "name": persona.name, "holds": bundle.holds.model_dump()})
        return 0
    sender = f" from {bundle.manifest.giver}" if bundle.manifest.giver else ""
    print(f"{persona.name}{sender} was imported with {describe_contents(bundle.holds.model_dump())}.")
    if imported.original_name and not options.name:
        print(f"A persona called {imported.original_name} already exists, so this one is called {persona.name}.")
    return 0


def describe_contents(holds: Mapping[str, int]) -> str:
    """Return the contents in words: “1 world, 3 memories and 2 facts”."""
    counts = [(name.removesuffix("s") if count == 1 else name, count) for name, count in holds.items() if count]
    phrases = [f"{count} {'memory' if name == 'memorie' else name.replace('_', ' ')}" for name, count in counts]
    return " and ".join([", ".join(phrases[:-1]), phrases[-1]] if len(phrases) > 1 else phrases) or "no other contents"


def is_for_others(options: argparse.Namespace) -> bool:
    """Return whether the export is no bundle of our own."""
    return bool(options.world) or options.file.is_dir() or options.file.suffix.lower() in (*CARD_SUFFIXES, CHAT_SUFFIX)


async def export_for_others(services: AppServices, options: argparse.Namespace) -> int:
    """Run `lethe export` for a card, for a world, or for the conversations of a persona."""
    target, exporter = options.file, services.card_export
    if options.world:
        stem, exported = await choose_world(services, options.world)
        await exporter.export_world(stem, target)
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


async def import_files(services: AppServices, paths: list[Path], options: argparse.Namespace) -> int:
    """Read the files, import what was not imported before, and report it; with `--preview` nothing is stored."""
    plan = await services.imports.read_plan(paths, build_progress_printer("Reading", quiet=options.json))
    if options.copies:
        plan = replace(plan, items=[replace(item, action=ItemAction.IMPORT) for item in plan.items])
    result = ImportResult()
    if not options.preview:
        result = await services.imports.run(plan, build_progress_printer("Importing", quiet=options.json))
    if options.json:
        print_json(_as_json(plan, result))
    else:
        _print_report(plan, result, is_preview=options.preview)
    return 1 if plan.errors or result.errors else 0


def _print_report(plan: ImportPlan, result: ImportResult, *, is_preview: bool) -> None:
    for item in plan.items:
        outcome = _describe_outcome(item, result, is_preview=is_preview)
        print(f"{NAMES[item.kind][0]} {item.name}: {outcome} ({describe_place(item)})")
        for note in item.notes:
            print(f"    {describe_note(note)}.")
    for error in (*plan.errors, *result.errors):
        print(f"could not be imported: {error.message}")
    if plan.ignored:
        print(f"Left out: {describe_ignored(plan.ignored)}.")
    if not plan.items and not plan.errors:
        print("Nothing to import was found.")


def _describe_outcome(item: ImportItem, result: ImportResult, *, is_preview: bool) -> str:
    if item.action is ItemAction.SKIP:
        return "already imported"
    if is_preview:
        return "would be imported"
    if item.key not in result.keys:
        return "failed"
    renamed = result.renamed.get(item.name)
    return f"imported as {renamed}, because that name was taken" if renamed else "imported"


def _as_json(plan: ImportPlan, result: ImportResult) -> dict[str, object]:
    items = [
        {
            "kind": item.kind.value,
            "name": item.name,
            "file": str(item.file),
            "action": item.action.value,
            "preset": PRESET_NAMES[item.preset] if item.preset is not None else None,
            "notes": [describe_note(note) for note in item.notes],
        }
        for item in plan.items
    ]
    return {
        "items": items,
        "errors": [error.message for error in (*plan.errors, *result.errors)],
        "ignored": plan.ignored,
        "renamed": result.renamed,
        "personas": result.personas,
        "worlds": result.worlds,
        "conversations": len(result.sessions),
        "messages": result.messages,
    }
