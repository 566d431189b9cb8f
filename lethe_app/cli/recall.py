"""`lethe recall`: show what a persona would recall for a text, and why."""

from __future__ import annotations

import argparse
import textwrap
from typing import TYPE_CHECKING

from lethe_app.cli.chat import choose_persona, print_json
from lethe_app.domain.recall import BlockedMemory, RecalledMemory, TurnMemory
from lethe_app.services.memory.reason_words import block_in_english, reason_in_english

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices

MARKS = {"meaning": "◆", "fact": "◆", "keyword": "▤", "title": "▤", "woken": "▤", "constant": "•", "active": "•"}
WIDTH = 96


async def recall(services: AppServices, options: argparse.Namespace) -> int:
    """Run `lethe recall`: print what would be recalled, or with `--all` the nearest memories. Changes nothing."""
    persona = await choose_persona(services, options.persona)
    text = " ".join(options.text)
    has_embeddings = await services.embedding.ensure_loaded()
    await services.indexing.catch_up(limits=False)
    if options.all:
        recalled_memories = await services.memory_lookup.search(persona.unique_name, text, options.count)
        memory = TurnMemory(recalled=recalled_memories)
    else:
        memory = await services.memory_lookup.preview_recall(persona.unique_name, text)
    if options.json:
        output = {"persona": persona.unique_name, "text": text, "by_meaning": has_embeddings, **memory.model_dump(mode="json")}
        print_json(output)
    else:
        chosen = services.preferences.current.user_persona
        names = [user.name for user in await services.library.user_personas() if user.unique_name == chosen]
        print(format_recall(persona.name, memory, user_name=names[0] if names else "you"))
    return 0


def format_recall(name: str, memory: TurnMemory, user_name: str = "you") -> str:
    """Format each memory with its reasons, then the blocked ones; {{char}} and {{user}} stand for these names."""
    if not memory.recalled:
        blocked_lines = "\n".join(_format_blocked(blocked) for blocked in memory.blocked)
        return f"This text recalls no memories of {name}." + (f"\n{blocked_lines}" if blocked_lines else "")
    text = "\n\n".join([*map(_format_recalled, memory.recalled), *map(_format_blocked, memory.blocked)])
    return text.replace("{{char}}", name).replace("{{user}}", user_name).replace("**", "")


def _format_recalled(recalled_memory: RecalledMemory) -> str:
    world = f" · {recalled_memory.world}" if recalled_memory.world else ""
    likelihood = f" · {recalled_memory.likelihood:.0%}" if recalled_memory.likelihood < 1 else ""
    title = recalled_memory.title or "a fact"
    lines = [f"{MARKS.get(recalled_memory.way.value, '◆')} {title}{world} ({recalled_memory.way.value}{likelihood})"]
    lines += [f"  because {reason_in_english(reason)}" for reason in recalled_memory.because]
    lines += [f"  from “{text}”" for text in dict.fromkeys(lead.text for lead in recalled_memory.leads)]
    text = textwrap.shorten(" ".join(recalled_memory.text.split()), 4 * WIDTH, placeholder=" …")
    return "\n".join([*lines, textwrap.indent(textwrap.fill(text, WIDTH - 4), "    ")])


def _format_blocked(blocked: BlockedMemory) -> str:
    return f"– {blocked.title or blocked.memory} matched but was not used: {block_in_english(blocked)}"
