"""Files as other programs write them, made from the tables of their formats."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib

from lethe_app.interchange.cards import png

JsonObject = dict[str, object]


def picture(side: int = 8) -> bytes:
    """A PNG picture with a text chunk of the program that drew it."""
    rows = b"".join(b"\0" + b"\x40" * 3 * side for _ in range(side))
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
    return (
        png.SIGNATURE
        + header
        + chunk(b"tEXt", b"Software\0Painter")
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def as_bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def card_data(**fields: object) -> JsonObject:
    """The data of a V2 card as SillyTavern writes it, every field filled."""
    return {
        "name": "Vera Lind",
        "description": "{{char}} keeps the light on <BOT>'s rock.",
        "personality": "dry, patient",
        "scenario": "A storm is coming.",
        "first_mes": "Come in, {{user}}.",
        "mes_example": "<START>\n{{user}}: Is it far?\n{{char}}: It is wet.\n<START>\n{{char}}: Sit.",
        "creator_notes": "Best with rain.",
        "system_prompt": "{{original}} Be brief.",
        "post_history_instructions": "Stay on the rock.",
        "alternate_greetings": ["You again.", "Mind the step."],
        "tags": ["sea", "night"],
        "creator": "ada",
        "character_version": "1.2",
        "extensions": {
            "talkativeness": "0.7",
            "fav": True,
            "world": "Harbour",
            "depth_prompt": {"prompt": "She limps.", "depth": 3, "role": "system"},
            "chub": {"id": 12, "related_lorebooks": []},
        },
    } | fields


def v2_card(**fields: object) -> JsonObject:
    """A V2 card in JSON as SillyTavern exports it, with the fields of V1 and its own at the top."""
    data = card_data(**fields)
    names = ("name", "description", "personality", "scenario", "first_mes", "mes_example")
    own = {
        "creatorcomment": "Best with rain.",
        "avatar": "none",
        "talkativeness": "0.7",
        "fav": True,
        "create_date": "2024-9-28",
    }
    return {name: data[name] for name in names} | own | {"spec": "chara_card_v2", "spec_version": "2.0", "data": data}


def v3_card(**fields: object) -> JsonObject:
    data = card_data(
        nickname="Vee",
        group_only_greetings=["All of you, in."],
        creator_notes_multilingual={"de": "Am besten bei Regen."},
        source=["https://example.org/vera"],
        creation_date=1_700_000_000,
        modification_date=1_700_000_001,
        assets=[{"type": "icon", "uri": "ccdefault:", "name": "main", "ext": "png"}],
    )
    return {"spec": "chara_card_v3", "spec_version": "3.0", "data": data | fields}


def book_entry(**fields: object) -> JsonObject:
    """An entry of a card's book as SillyTavern writes it."""
    return {
        "id": 4,
        "keys": ["lamp", "/light(house)?/i"],
        "secondary_keys": ["oil"],
        "comment": "The lamp",
        "content": "The lamp burns whale oil.",
        "constant": False,
        "selective": True,
        "insertion_order": 120,
        "enabled": True,
        "position": "after_char",
        "use_regex": True,
        "extensions": {
            "position": 4,
            "exclude_recursion": True,
            "display_index": 2,
            "probability": 60,
            "useProbability": True,
            "depth": 2,
            "selectiveLogic": 3,
            "outlet_name": "",
            "group": "light, fire",
            "group_override": True,
            "group_weight": 40,
            "prevent_recursion": True,
            "delay_until_recursion": 1,
            "scan_depth": 3,
            "match_whole_words": True,
            "use_group_scoring": None,
            "case_sensitive": True,
            "automation_id": "a1",
            "role": 2,
            "vectorized": True,
            "sticky": 3,
            "cooldown": 4,
            "delay": 5,
            "match_scenario": True,
            "triggers": ["swipe"],
            "ignore_budget": True,
            "someone_else": {"deep": [1, 2]},
        },
    } | fields


def world_info(**fields: object) -> JsonObject:
    """A World Info file with every field of the table."""
    entry = {
        "uid": 7,
        "key": ["harbour", "quay"],
        "keysecondary": ["fog"],
        "comment": "Harbour",
        "content": "The harbour lies empty.",
        "constant": False,
        "vectorized": False,
        "selective": True,
        "selectiveLogic": 1,
        "addMemo": True,
        "order": 90,
        "position": 1,
        "disable": True,
        "excludeRecursion": False,
        "preventRecursion": True,
        "delayUntilRecursion": 2,
        "probability": 80,
        "useProbability": True,
        "depth": 4,
        "role": None,
        "outletName": "",
        "group": "",
        "groupOverride": False,
        "groupWeight": 100,
        "useGroupScoring": None,
        "scanDepth": None,
        "caseSensitive": None,
        "matchWholeWords": None,
        "sticky": None,
        "cooldown": None,
        "delay": None,
        "ignoreBudget": False,
        "matchCharacterDescription": True,
        "characterFilter": {"isExclude": False, "names": ["Vera"], "tags": []},
        "triggers": [],
        "automationId": "",
        "displayIndex": 0,
        "extensions": {"mine": 1},
    }
    return {"entries": {"7": entry}, "name": "Harbour", "originalData": {"name": "old"}} | fields


def chat_lines() -> list[JsonObject]:
    """A chat of SillyTavern with its styles of dates, swipes and reasoning."""
    header = {
        "user_name": "Ann",
        "character_name": "Vera Lind",
        "create_date": "2023-6-19 @16h 13m 02s 885ms",
        "chat_metadata": {"note_prompt": "", "integrity": "0c1", "world_info": "Harbour"},
    }
    reply = {
        "name": "Vera Lind",
        "is_user": False,
        "is_system": False,
        "send_date": "2023-6-19 @16h 14m 10s 5ms",
        "mes": "Wet.",
        "extra": {"api": "koboldcpp", "model": "tide-7b", "reasoning": "She asks about rain.", "token_count": 2},
        "swipe_id": 1,
        "swipes": ["Cold.", "Wet."],
        "swipe_info": [
            {"send_date": "2023-6-19 @16h 13m 50s 0ms", "gen_started": "x", "extra": {"model": "tide-3b"}},
            {"send_date": "2023-6-19 @16h 14m 10s 5ms", "extra": {"model": "tide-7b", "reasoning": "She asks about rain."}},
        ],
        "gen_started": "2023-06-19T16:14:00.000Z",
        "force_avatar": "/a.png",
    }
    return [
        header,
        {
            "name": "Vera Lind",
            "is_user": False,
            "is_system": False,
            "send_date": "June 19, 2023 4:13pm",
            "mes": "Come in.",
            "extra": {},
        },
        {
            "name": "Ann",
            "is_user": True,
            "is_system": "",
            "send_date": 1_687_191_230_000,
            "mes": "How is it?",
            "extra": {"bias": "x"},
        },
        reply,
    ]


def chat_file() -> bytes:
    return b"\n".join(as_bytes(line) for line in chat_lines())


def archive(members: dict[str, bytes], before: bytes = b"") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return before + packed.getvalue()


def webp_with_comment(text: bytes) -> bytes:
    """A WEBP picture with a comment in its Exif metadata, as KoboldAI Lite writes cards."""
    comment = b"ASCII\0\0\0" + text
    ifd = struct.pack("<H", 1) + struct.pack("<HHII", 0x8769, 4, 1, 26) + struct.pack("<I", 0)
    exif = struct.pack("<H", 1) + struct.pack("<HHII", 0x9286, 7, len(comment), 44) + struct.pack("<I", 0)
    tiff = b"II*\0" + struct.pack("<I", 8) + ifd + exif + comment
    vp8x = b"VP8X" + struct.pack("<I", 10) + b"\0" * 4 + (29).to_bytes(3, "little") + (19).to_bytes(3, "little")
    body = b"WEBP" + vp8x + b"EXIF" + struct.pack("<I", len(tiff)) + tiff
    return b"RIFF" + struct.pack("<I", len(body)) + body


def lethe_memory() -> JsonObject:
    """A memory in the `.brain` file of the original Lethe AI Chat."""
    return {
        "Guid": "7d5f0c9e-0000-4000-8000-000000000001",
        "Category": "Reminder",
        "Insertion": "UserReturn",
        "Name": "The lamp",
        "Content": "It burns whale oil.",
        "Reason": "She asked.",
        "Added": "2024-05-02T10:00:00Z",
        "EndTime": "2024-05-03T10:00:00Z",
        "LastTrigger": "2024-06-02T10:00:00Z",
        "TriggerCount": 3,
        "EmbedSummary": [0.1, 0.2],
        "Priority": 4,
        "PositionIndex": -1,
        "Duration": 2,
        "TriggerChance": 0.5,
        "Sticky": True,
        "Protected": True,
        "Enabled": False,
        "KeyWordsMain": ["lamp"],
        "KeyWordsSecondary": ["oil"],
        "WordLink": "Or",
        "CaseSensitive": True,
    }


def lost(before: object, after: object, place: str = "") -> list[str]:
    """Every value of `before` that is missing or different in `after`."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [one for name, value in before.items() for one in lost(value, after.get(name, ...), f"{place}.{name}")]
    if (
        isinstance(before, list)
        and isinstance(after, list)
        and len(before) == len(after)
        and any(isinstance(one, dict) for one in before)
    ):
        return [one for number, value in enumerate(before) for one in lost(value, after[number], f"{place}[{number}]")]
    return [] if before == after else [f"{place}: {before!r} → {after!r}"]
