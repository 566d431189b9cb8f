"""What was imported leaves again in the formats it came in, with what nobody edited as it was."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lethe_app.composition.app_services import AppServices
from lethe_app.domain.chat import Degradation, DegradationKind, MessageMode, Role
from lethe_app.errors import FileError
from lethe_app.interchange.cards import png
from lethe_app.interchange.cards.card import read_card
from tests.interchange.external_files import (
    as_bytes,
    book_entry,
    chat_file,
    chat_lines,
    lost,
    picture,
    v2_card,
    v3_card,
    world_info,
)
from tests.services.turns import MIRA, collect_turn, say


async def imported(services: AppServices, file: Path, content: bytes) -> str:
    await asyncio.to_thread(file.write_bytes, content)
    result = await services.imports.run(await services.imports.read_plan([file]))
    assert not result.errors
    return (result.personas or result.worlds)[0]


@pytest.mark.parametrize("suffix", [".png", ".json", ".charx"])
async def test_a_card_comes_and_goes(services: AppServices, tmp_path: Path, suffix: str):
    card = v3_card(character_book={"name": "Rock", "entries": [book_entry()]}, extensions={"chub": {"id": 1}}, assets=[])
    persona_id = await imported(services, tmp_path / "vera.png", png.write_cards(picture(), {"ccv3": as_bytes(card)}, "x"))
    target = tmp_path / f"out{suffix}"

    await services.card_export.export_card(persona_id, target)

    back = read_card(target.read_bytes(), target.name)
    original = await services.library.persona(persona_id)
    assert back.persona.model_dump(exclude={"original"}) == original.model_dump(
        exclude={"original", "unique_name", "avatar", "worlds"}
    ) | {"unique_name": "", "avatar": "", "worlds": []}
    assert [entry.content for entry in back.world.entries] == ["The lamp burns whale oil."]
    if suffix == ".json":
        written = json.loads(target.read_bytes())
        assert lost({**card, "data": {**card["data"], "character_book": {"entries": [book_entry()]}}}, written) == []  # type: ignore[dict-item]
    else:
        assert back.picture


async def test_a_world_comes_and_goes(services: AppServices, tmp_path: Path):
    name = await imported(services, tmp_path / "harbour.json", as_bytes(world_info()))

    await services.card_export.export_world(name, tmp_path / "out.json")

    assert lost(world_info(), json.loads((tmp_path / "out.json").read_bytes())) == []
    with pytest.raises(FileError, match="is not a world"):
        await services.card_export.export_world("nowhere", tmp_path / "out.json")


async def test_a_chat_comes_and_goes(services: AppServices, tmp_path: Path):
    (tmp_path / "vera.json").write_bytes(as_bytes(v2_card()))
    (tmp_path / "chat.jsonl").write_bytes(chat_file())
    result = await services.imports.run(await services.imports.read_plan([tmp_path / "vera.json", tmp_path / "chat.jsonl"]))

    count = await services.card_export.export_chat(result.personas[0], tmp_path / "out.jsonl")

    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert count == 3
    assert lost(chat_lines(), lines) == []


async def test_every_chat_goes_into_a_file_of_its_own_with_its_header(services: AppServices, tmp_path: Path):
    def chat(start: datetime, mark: str, *texts: str) -> bytes:
        header = {"user_name": "Ann", "character_name": "Vera", "chat_metadata": {"mark": mark}}
        lines = [
            {"name": "Vera", "is_user": False, "send_date": (start + timedelta(days=day)).isoformat(), "mes": text, "extra": {}}
            for day, text in enumerate(texts)
        ]
        return b"\n".join(map(as_bytes, [header, *lines]))

    start = datetime(2024, 5, 1, 12, tzinfo=UTC)
    (tmp_path / "one.jsonl").write_bytes(chat(start, "one", "A.", "B.", "C."))
    (tmp_path / "two.jsonl").write_bytes(chat(start + timedelta(hours=36), "two", "D.", "E."))
    result = await services.imports.run(await services.imports.read_plan([tmp_path / "one.jsonl", tmp_path / "two.jsonl"]))
    assert len(result.sessions) == 5

    assert await services.card_export.export_chats("vera", tmp_path / "out") == 2

    files = [file.read_text(encoding="utf-8").splitlines() for file in sorted((tmp_path / "out").iterdir())]
    written = [[json.loads(line) for line in file] for file in files]
    assert [(header["chat_metadata"]["mark"], [line["mes"] for line in lines]) for header, *lines in written] == [
        ("one", ["A.", "B.", "C."]),
        ("two", ["D.", "E."]),
    ]
    assert all("lethe_chat" not in header for header, *_lines in written)


async def test_our_own_conversations_are_written_without_hidden_messages(services: AppServices, says, tmp_path: Path):
    await says("“Aye.”")
    session = await services.sessions.new(MIRA)
    await say(services, session, "Ready?")

    await services.card_export.export_chat(MIRA, tmp_path / "out.jsonl")

    header, *lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert (header["character_name"], header["user_name"]) == ("Mira", "Tomas")
    assert [(line["is_user"], line["mes"]) for line in lines[1:]] == [(True, "Ready?"), (False, "“Aye.”")]
    messages = await services.sessions.page(session.guid, 0, 99)
    assert len(lines) == sum(message.role is not Role.TOOL and not message.hidden for message in messages)


async def test_one_conversation_is_written_as_markdown_or_as_a_chat(services: AppServices, says, tmp_path: Path):
    await says("Since four.", "No.")
    session = await services.sessions.new(MIRA)
    await say(services, session, "Is the lamp lit?")
    await services.sessions.rename(session.guid, "The lamp")
    other = await services.sessions.new(MIRA)
    await say(services, other, "Is the bell cast?")

    text = (await services.card_export.export_conversation(session.guid, tmp_path / "lamp.md")).read_text(encoding="utf-8")
    chat = (await services.card_export.export_conversation(session.guid, tmp_path / "lamp.jsonl")).read_text(encoding="utf-8")

    assert text.startswith("# The lamp\n\n**Mira** · ")
    assert text.index("Is the lamp lit?") < text.index("Since four.")
    assert "Is the lamp lit?" in chat
    assert "bell" not in text + chat
    await services.sessions.delete(session.guid)
    with pytest.raises(FileError):
        await services.card_export.export_conversation(session.guid, tmp_path / "gone.md")


async def test_mode_language_latency_and_degradations_come_and_go_with_a_chat(services: AppServices, says, tmp_path: Path):
    await says("“I see the harbour and the storm.”")
    session = await services.sessions.new(MIRA)
    await collect_turn(services.chat.send(session.guid, "What do you see on the horizon?", mode=MessageMode.VOICE))
    cut = Degradation(kind=DegradationKind.HISTORY_CUT, values={"count": 2})
    _greeting, asked, reply = await services.sessions.page(session.guid, 0, 99)
    changed = reply.current.model_copy(update={"degradations": [cut]})
    await services.session_store.replace_alternative(reply.id, 0, changed)
    await services.card_export.export_chat(MIRA, tmp_path / "Vera.jsonl")
    text = (tmp_path / "Vera.jsonl").read_text(encoding="utf-8").replace("Mira", "Vera")
    (tmp_path / "Vera.jsonl").write_text(text, encoding="utf-8")

    result = await services.imports.run(await services.imports.read_plan([tmp_path / "Vera.jsonl"]))

    (copy,) = await services.sessions.list(result.personas[0])
    _greeting, asked_again, answered = await services.sessions.page(copy.guid, 0, 99)
    assert (asked_again.mode, asked_again.current.language) == (MessageMode.VOICE, asked.current.language) == ("voice", "en")
    assert (answered.current.total_ms, answered.current.degradations) == (changed.total_ms, [cut])


async def test_a_card_without_a_png_or_of_another_ending_is_refused(services: AppServices, tmp_path: Path):
    with pytest.raises(FileError, match="no picture in PNG format"):
        await services.card_export.export_card(MIRA, tmp_path / "out.png")
    with pytest.raises(FileError, match=r"\.png, \.json or \.charx"):
        await services.card_export.export_card(MIRA, tmp_path / "out.txt")
    assert [file.name for file in await asyncio.to_thread(lambda: list(tmp_path.glob("out*")))] == []
