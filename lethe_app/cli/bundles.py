"""`lethe export` and `lethe import`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lethe_app.cli.chat import choose_persona
from lethe_app.domain.bundle import BundleCounts, BundleScope

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices


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
        output = {"file": str(file), "persona": persona.unique_name, "scope": scope.value, "holds": holds.model_dump()}
        print(json.dumps(output, ensure_ascii=False))
    else:
        print(f"{persona.name} was exported to {file.name} with {describe_contents(holds)}.")
    return 0


async def import_bundle(services: AppServices, file: Path, options: argparse.Namespace) -> int:
    """Run `lethe import` for a bundle: the whole bundle is imported, or nothing and an error is raised."""
    bundle = await services.bundles.read_bundle(file, build_progress_printer("Reading", quiet=options.json))
    imported = await services.bundles.import_bundle(
        bundle, options.name, build_progress_printer("Importing", quiet=options.json)
    )
    persona = imported.persona
    if options.json:
        output = {"persona": persona.unique_name, "name": persona.name, "holds": bundle.holds.model_dump()}
        print(json.dumps(output, ensure_ascii=False))
        return 0
    sender = f" from {bundle.manifest.giver}" if bundle.manifest.giver else ""
    print(f"{persona.name}{sender} was imported with {describe_contents(bundle.holds)}.")
    if imported.original_name and not options.name:
        print(f"A persona called {imported.original_name} already exists, so this one is called {persona.name}.")
    return 0


def describe_contents(holds: BundleCounts) -> str:
    """Return the contents in words: “1 world, 3 memories and 2 facts”."""
    counts = [(name.removesuffix("s") if count == 1 else name, count) for name, count in holds.model_dump().items() if count]
    phrases = [f"{count} {'memory' if name == 'memorie' else name}" for name, count in counts]
    return " and ".join([", ".join(phrases[:-1]), phrases[-1]] if len(phrases) > 1 else phrases) or "no other contents"


def build_progress_printer(label: str, *, quiet: bool) -> Callable[[float], None]:
    """Return a callback that prints progress in one line if the output is a terminal."""

    def print_progress(fraction: float) -> None:
        if sys.stderr.isatty() and not quiet:
            print(f"\r\033[K{label} … {fraction:.0%}" if fraction < 1 else "\r\033[K", end="", file=sys.stderr, flush=True)

    return print_progress
