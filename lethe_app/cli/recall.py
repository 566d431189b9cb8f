"""`lethe recall`: show what a persona would recall for a text, and why."""

from __future__ import annotations

import argparse
import json
import textwrap
from typing import TYPE_CHECKING

from lethe_app.cli.chat import choose_persona
from lethe_app.domain.recall import NotRecalled, Recollection, TurnMemory
from lethe_app.services.memory.reason_words import block_in_english, reason_in_english

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices

MARKS = {"meaning": "◆", "fact": "◆", "keyword": "▤", "title": "▤", "woken": "▤", "constant": "•", "active": "•"}
WIDTH = 96


async def recall(services: AppServices, wanted: argparse.Namespace) -> int:
    """Run `lethe recall`: print what would be recalled, or with `--all` the nearest memories. Changes nothing."""
    persona = await choose_persona(services, wanted.persona)
    text = " ".join(wanted.text)
    by_meaning = await services.embedding.ready()
    await services.indexing.catch_up(limits=False)
    if wanted.all:
        found = await services.lookup.search(persona.unique_name, text, wanted.count)
        memory = TurnMemory(recalled=found)
    else:
        memory = await services.lookup.would_recall(persona.unique_name, text)
    if wanted.json:
        told = {"persona": persona.unique_name, "text": text, "by_meaning": by_meaning, **memory.model_dump(mode="json")}
        print(json.dumps(told, ensure_ascii=False))
    else:
        print(as_lines(persona.name, memory))
    return 0


def as_lines(name: str, memory: TurnMemory) -> str:
    """Format each memory with its reasons, then the blocked ones."""
    if not memory.recalled:
        kept = "\n".join(_kept_back(each) for each in memory.blocked)
        return f"This text recalls no memories of {name}." + (f"\n{kept}" if kept else "")
    return "\n\n".join([*map(_recalled, memory.recalled), *map(_kept_back, memory.blocked)])


def _recalled(one: Recollection) -> str:
    world = f" · {one.world}" if one.world else ""
    sure = f" · {one.likelihood:.0%}" if one.likelihood < 1 else ""
    title = one.title or "a fact"
    lines = [f"{MARKS.get(one.way.value, '◆')} {title}{world} ({one.way.value}{sure})"]
    lines += [f"  because {reason_in_english(reason)}" for reason in one.because]
    lines += [f"  from “{lead.text}”" for lead in one.leads]
    text = textwrap.shorten(" ".join(one.text.split()), 4 * WIDTH, placeholder=" …")
    return "\n".join([*lines, textwrap.indent(textwrap.fill(text, WIDTH - 4), "    ")])


def _kept_back(one: NotRecalled) -> str:
    return f"– {one.title or one.memory} matched but was not used: {block_in_english(one)}"
