"""`lethe kb`: documents that a persona or a world knows."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from lethe_app.cli.chat import build_progress_printer, choose_persona, choose_world, print_json
from lethe_app.errors import FileError, LetheError
from lethe_app.services.documents.knowledge_base import DEFAULT_COUNT, DocumentQuery
from lethe_app.services.indexing.worlds import owner_of_world

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices


async def run_kb(services: AppServices, options: argparse.Namespace) -> int:
    """Run `lethe kb`."""
    owner, name, worlds = await _find_owner(services, options)
    match options.kb_command:
        case "build":
            return await _build(services, options, owner, name)
        case "search":
            return await _search(services, options, [owner, *map(owner_of_world, worlds)])
        case "remove":
            return await _remove(services, options, owner, name)
    return await _list(services, options, owner, name)


async def _find_owner(services: AppServices, options: argparse.Namespace) -> tuple[str, str, list[str]]:
    """Return the owner of the documents, its name, and the worlds whose documents are searched, too. Raise LetheError."""
    if options.world is None:
        persona = await choose_persona(services, options.persona)
        return persona.unique_name, persona.name, persona.worlds
    stem, name = await choose_world(services, options.world)
    return owner_of_world(stem), name, []


async def _build(services: AppServices, options: argparse.Namespace, owner: str, name: str) -> int:
    """Read the files and embed their passages. A file that cannot be read is reported and does not stop the others."""
    documents, errors = [], list[LetheError]()
    for path in await services.documents.find_files([Path(text) for text in options.paths]):
        try:
            documents.append(await services.documents.add(owner, path, build_progress_printer(path.name, quiet=options.json)))
        except FileError as error:
            errors.append(error)
    if not options.paths:
        documents = await services.documents.refresh([owner])
    await services.indexing.catch_up(limits=False)
    if options.json:
        read = [{"title": document.title, "passages": document.chunks} for document in documents]
        print_json({"owner": owner, "documents": read, "errors": list(map(str, errors))})
    else:
        for document in documents:
            print(f"{document.title}: {_count(document.chunks, 'passage')}")
        for problem in errors:
            print(f"Not read: {problem}")
        print(f"{name} knows {_count(len(await services.documents.documents_of([owner])), 'document')}.")
    return 1 if errors else 0


async def _search(services: AppServices, options: argparse.Namespace, owners: list[str]) -> int:
    await services.embedding.ensure_loaded()
    await services.indexing.catch_up(limits=False)
    hits = await services.knowledge_base.search(DocumentQuery(" ".join(options.text), owners), options.count or DEFAULT_COUNT)
    if options.json:
        found = [
            {
                "document": hit.chunk.title,
                "heading": hit.chunk.heading,
                "page": hit.chunk.page,
                "text": hit.chunk.text,
                "score": round(hit.ranked.score, 4),
                "likelihood": round(hit.ranked.likelihood, 4),
                "is_recalled": hit.is_sure,
            }
            for hit in hits
        ]
        print_json(found)
        return 0
    for hit in hits:
        print(f"{hit.chunk.location} ({hit.ranked.likelihood:.0%})\n    {hit.chunk.text}\n")
    if not hits:
        print("No document says anything about that.")
    return 0


async def _list(services: AppServices, options: argparse.Namespace, owner: str, name: str) -> int:
    documents = await services.documents.documents_of([owner])
    if options.json:
        fields = [
            {"title": one.title, "path": one.path, "passages": one.chunks, "size": one.size, "trouble": one.trouble}
            for one in documents
        ]
        print_json(fields)
        return 0
    for document in documents:
        trouble = f" · {document.trouble}" if document.trouble else ""
        print(f"{document.title}: {_count(document.chunks, 'passage')} · {document.path}{trouble}")
    if not documents:
        print(f"{name} knows no documents.")
    return 0


async def _remove(services: AppServices, options: argparse.Namespace, owner: str, name: str) -> int:
    wanted = {title.casefold() for title in options.titles}
    documents = [one for one in await services.documents.documents_of([owner]) if one.title.casefold() in wanted]
    missing = wanted - {document.title.casefold() for document in documents}
    if missing:
        raise LetheError(f"{name} knows no document called “{', '.join(sorted(missing))}”.", "“lethe kb list” lists them.")
    await services.documents.remove([document.guid for document in documents])
    if options.json:
        print_json({"removed": [document.title for document in documents]})
    else:
        print(f"{name} no longer knows {', '.join(document.title for document in documents)}. The files remain.")
    return 0


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
