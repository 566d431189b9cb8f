"""`lethe import` for files and folders of other programs."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lethe_app.cli.chat import build_progress_printer, print_json
from lethe_app.services.imports.plan import (
    ImportItem,
    ImportPlan,
    ImportResult,
    ItemAction,
    ItemKind,
    describe_ignored,
    describe_note,
)

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices

NAMES = {
    ItemKind.PERSONA: ("persona", "personas"),
    ItemKind.WORLD: ("world", "worlds"),
    ItemKind.MEMORIES: ("memories of", "memories of"),
    ItemKind.CONVERSATION: ("chat", "chats"),
    ItemKind.PRESET: ("preset", "presets"),
}
"""Singular and plural of the kinds of items."""


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
        print(f"{NAMES[item.kind][0]} {item.name}: {_describe_outcome(item, result, is_preview=is_preview)} ({item.file.name})")
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
