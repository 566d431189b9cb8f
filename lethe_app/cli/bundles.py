"""`lethe export` and `lethe import`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from lethe_app.cli.chat import choose_persona
from lethe_app.domain.bundle import BundleScope, Holds

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices


async def export(services: AppServices, wanted: argparse.Namespace) -> int:
    """Run `lethe export`."""
    persona = await choose_persona(services, wanted.persona)
    scope = BundleScope.EVERYTHING if wanted.everything else BundleScope.MEMORIES if wanted.memories else BundleScope.PERSONA
    target = wanted.file.expanduser().absolute()
    file = await services.bundles.export(
        persona.unique_name, scope, target, tell(f"Exporting {persona.name}", quiet=wanted.json)
    )
    holds = (await services.bundles.look(file)).holds
    if wanted.json:
        told = {"file": str(file), "persona": persona.unique_name, "scope": scope.value, "holds": holds.model_dump()}
        print(json.dumps(told, ensure_ascii=False))
    else:
        print(f"{persona.name} was exported to {file.name} with {inside(holds)}.")
    return 0


async def receive(services: AppServices, wanted: argparse.Namespace) -> int:
    """Run `lethe import`: the whole bundle is imported, or nothing and an error is raised."""
    bundle = await services.bundles.look(wanted.file.expanduser(), tell("Reading", quiet=wanted.json))
    received = await services.bundles.receive(bundle, wanted.name, tell("Importing", quiet=wanted.json))
    persona = received.persona
    if wanted.json:
        told = {"persona": persona.unique_name, "name": persona.name, "holds": bundle.holds.model_dump()}
        print(json.dumps(told, ensure_ascii=False))
        return 0
    giver = f" from {bundle.manifest.giver}" if bundle.manifest.giver else ""
    print(f"{persona.name}{giver} was imported with {inside(bundle.holds)}.")
    if received.came_as and not wanted.name:
        print(f"A persona called {received.came_as} already exists, so this one is called {persona.name}.")
    return 0


def inside(holds: Holds) -> str:
    """Return the contents in words: “1 world, 3 memories and 2 facts”."""
    counts = [(name.removesuffix("s") if count == 1 else name, count) for name, count in holds.model_dump().items() if count]
    words = [f"{count} {'memory' if name == 'memorie' else name}" for name, count in counts]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words) or "no other contents"


def tell(what: str, *, quiet: bool) -> Callable[[float], None]:
    """Return a callback that prints progress in one line if the output is a terminal."""

    def told(done: float) -> None:
        if sys.stderr.isatty() and not quiet:
            print(f"\r\033[K{what} … {done:.0%}" if done < 1 else "\r\033[K", end="", file=sys.stderr, flush=True)

    return told
