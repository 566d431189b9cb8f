"""What a stranger hands over is understood as a whole or refused with the file and the field at fault."""

from __future__ import annotations

import io
import struct
import zipfile
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lethe_app.domain.bundle import (
    VERSION,
    Bundle,
    BundledConversation,
    BundledMessage,
    BundledMind,
    BundledSession,
    ForgottenFact,
    Manifest,
    PersonaHistory,
)
from lethe_app.domain.chat import Alternative, ChatSession, Role
from lethe_app.domain.facts import ExtractedFact
from lethe_app.domain.memory import MemoryUnit
from lethe_app.domain.mood import Feeling, Mood
from lethe_app.domain.persona import Persona
from lethe_app.domain.worldinfo import World, WorldEntry
from lethe_app.interchange.bundle_archive import BundleLimits
from lethe_app.interchange.bundles import BundleWriter
from tests.interchange.packed import GUID, archive, lines, members, message, packed, png, read, refusal, session
from tests.sweep import examples

TEXTS = st.text(max_size=40)
DAY = datetime(2026, 3, 3, tzinfo=UTC)
MOOD = Mood(at=DAY, feelings={"energy": Feeling(value=0.2, since=DAY)})
MANIFEST = Manifest(made=datetime(2026, 3, 3, tzinfo=UTC), name="Mira", unique_name="mira")


@st.composite
def bundles(draw: st.DrawFn) -> Bundle:
    """Any words anywhere, any tree of messages."""
    talks = []
    for _ in range(draw(st.integers(0, 2))):
        conversation = ChatSession(persona_id="mira", name=draw(TEXTS), content=draw(TEXTS))
        said: list[BundledMessage] = []
        for _ in range(draw(st.integers(0, 5))):
            above = draw(st.sampled_from([None, *(one.id for one in said)]))
            wordings = [Alternative(content=draw(TEXTS), thinking=draw(TEXTS)) for _ in range(draw(st.integers(1, 3)))]
            own = {"hidden": draw(st.booleans()), "note": draw(TEXTS), "alternatives": wordings}
            said.append(BundledMessage(session_id=conversation.guid, parent_id=above, role=draw(st.sampled_from(Role)), **own))
        talks.append(BundledConversation(BundledSession(session=conversation, session_notes={draw(TEXTS): draw(TEXTS)}), said))
    entry = WorldEntry(name=draw(TEXTS), content=draw(TEXTS))
    past = PersonaHistory(
        memories=[MemoryUnit(name=draw(TEXTS), content=draw(TEXTS))],
        facts=[ExtractedFact(fact=draw(TEXTS.filter(bool)))],
        forgotten=[ForgottenFact(digest="d1e5")],
        conversations=talks,
        notebooks={"fog": draw(TEXTS).replace("\r\n", "\n").lstrip("\ufeff")},
        mind=BundledMind(goal_request=draw(TEXTS), mood=draw(st.sampled_from([None, MOOD]))),
    )
    persona = Persona(name=draw(TEXTS.filter(bool)), bio=draw(TEXTS), worlds=["harbour"])
    return Bundle(MANIFEST, persona, png(), ".png", {"harbour": World(name="Harbour", entries=[entry])}, past)


@settings(max_examples=examples(40))
@given(bundles())
def test_whatever_is_written_is_read_as_it_was(bundle: Bundle):
    made = io.BytesIO()
    writer = BundleWriter(made)

    writer.write_persona(bundle.persona, bundle.picture, bundle.picture_ending, dict(bundle.worlds))
    writer.write_history(bundle.history)
    for conversation in bundle.history.conversations:
        writer.write_conversation(conversation)
    writer.finish(bundle.manifest)

    assert read(made.getvalue()) == bundle


def test_words_with_halves_of_characters_are_packed_without_them():
    made = io.BytesIO()
    writer = BundleWriter(made)
    writer.write_persona(Persona(name="Mira", bio="one \ud83d half"), b"", "", {})
    writer.finish(MANIFEST)

    assert read(made.getvalue()).persona.bio == "one � half"


@pytest.mark.parametrize(
    ("name", "content", "problem", "field"),
    [
        ("notebooks/fog.md", b"# Fog\n\xff", "is not UTF-8 text (byte 7)", ""),
        (
            "mind.json",
            packed({"samples": [{"at": "2026-03-03T10:00Z", "values": {"fun": 40}}]}),
            "out of range",
            "samples[0].values",
        ),
        ("mind.json", packed({"mood": {"at": "9999-12-31T23:59:00Z"}}), "is out of range", "mood.at"),
        ("mind.json", packed({"temper": 2}), "is not a field", "temper"),
        ("mind.json", b"[]", "does not contain a JSON object", ""),
        ("memories.jsonl", lines({"name": "big", "priority": 10**30}), "is out of range", "priority"),
        ("memories.jsonl", lines({"category": "chat_session"}), "", "category"),
        ("conversations/000001.jsonl", lines(session(leaf_id=GUID.format(9)), message(1)), "", "session.leaf_id"),
    ],
)
def test_what_is_not_understood_is_refused_by_its_file_and_field(name: str, content: bytes, problem: str, field: str):
    error = refusal(members(version=2) | {name: content})

    assert f"Mira.lethe › {name}" in error.message
    assert problem in error.problem
    assert (error.field or "") == field


def test_escaped_halves_of_characters_are_read_without_them():
    content = members() | {"persona.json": b'{"name": "Mira", "bio": "a \\ud83d\\ude00 and \\udc00"}'}

    assert read(content).persona.bio == "a 😀 and �"


def test_a_newer_form_is_refused_by_name_before_anything_else_is_read():
    error = refusal(members(version=VERSION + 1, made_by="Lethe 9.0", something="new") | {"persona.json": b"who knows"})

    assert str(error) == (
        "Mira.lethe: was made by Lethe 9.0, in a newer format than this version supports Update Lethe, then try again."
    )


def test_a_field_of_a_newer_lethe_is_refused_with_the_name_of_who_wrote_it():
    error = refusal(members() | {"persona.json": packed({"name": "Mira", "wings": 2})})

    assert (error.field, error.problem) == ("wings", "is not a field this version knows")
    assert "persona.json" in error.message
    assert error.remedy == "The file was made by Lethe 0.1.0."


def test_the_file_the_line_and_the_field_at_fault_are_named():
    broken = message(2, alternatives=[{"content": 7}])

    error = refusal(members() | {"conversations/000001.jsonl": lines(session(), message(1), broken)})

    assert error.message == (
        "Mira.lethe › conversations/000001.jsonl, line 3, field “alternatives[0].content”: must be text, not the number 7"
    )


@pytest.mark.parametrize(
    "name",
    [
        *("../persona.json", "/etc/passwd", "C:x.json", "run.sh", "worlds/.json"),
        *("worlds/../../x.json", "worlds\\..\\x.json", "worlds/a/b.json"),
    ],
)
def test_a_name_that_leads_elsewhere_or_means_nothing_is_refused(name: str):
    assert "is not part of a Lethe file" in refusal(members() | {name: b"{}"}).message


def test_a_link_is_refused_whatever_it_is_called():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as zipped:
        for name, data in members().items():
            zipped.writestr(name, data)
        link = zipfile.ZipInfo("avatar.png")
        link.external_attr = 0o120777 << 16
        zipped.writestr(link, "/etc/passwd")

    assert "is not part of a Lethe file" in refusal(made.getvalue()).message


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_same_name_twice_is_refused():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as zipped:
        for name, data in [*members().items(), *members().items()]:
            zipped.writestr(name, data)

    assert "twice" in refusal(made.getvalue()).message


def test_what_unfolds_into_too_much_is_refused_before_it_does():
    bomb = archive(members() | {"memories.jsonl": b" " * 3_000_000})

    assert len(bomb) < 10_000
    assert "too large for a Lethe file" in refusal(bomb, BundleLimits(member=1_000_000)).message
    assert "larger than a Lethe file may be" in refusal(bomb, BundleLimits(total=1_000_000)).message


def test_a_member_that_lies_about_its_size_gives_no_more_than_it_claims():
    bomb = bytearray(archive(members() | {"memories.jsonl": b" " * 3_000_000}))
    for header, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        place = bomb.rfind(header)
        assert struct.unpack("<I", bomb[place + offset : place + offset + 4])[0] == 3_000_000
        bomb[place + offset : place + offset + 4] = struct.pack("<I", 10)

    error = refusal(bytes(bomb), BundleLimits(member=1_000_000))

    assert error.message == "Mira.lethe › memories.jsonl: is damaged"


def test_too_many_members_are_refused_by_the_size_of_their_list():
    many = archive(members() | {f"conversations/{number:06}.jsonl": b"" for number in range(200)})

    assert "more than 100 files" in refusal(many, BundleLimits(members=100)).message
    assert "files" in refusal(many, BundleLimits(directory=1000)).message


def test_a_line_without_an_end_is_refused():
    assert "too long" in refusal(members() | {"facts.jsonl": b"x" * 600_000}, BundleLimits(line=100_000)).message


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip at all", archive(members())[:-30], b"PK\x05\x06" + b"\xff" * 18])
def test_what_is_no_archive_is_refused_in_one_sentence(content: bytes):
    assert refusal(content).message.startswith("Mira.lethe: ")


def test_a_damaged_archive_never_gets_in_half():
    """Whichever byte is wrong: it is either refused or, where nothing of it is read, understood as it was."""
    whole = archive(members() | {"conversations/000001.jsonl": lines(session(), message(1), message(2, 1))})
    expected = read(whole)
    for place in range(len(whole)):
        spoilt = bytearray(whole)
        spoilt[place] ^= 0x55
        try:
            found = read(bytes(spoilt))
        except Exception as error:
            assert type(error).__name__ == "FileError", (place, error)  # noqa: PT017 - any other would be a crash
        else:
            assert words_of(found) == words_of(expected)


def words_of(bundle: Bundle) -> list[str]:
    return [message.content for conversation in bundle.history.conversations for message in conversation.messages]


def test_a_bundle_from_which_something_was_taken_is_refused():
    error = refusal(members(holds={"facts": 3}) | {"facts.jsonl": lines({"fact": "Tomas keeps bees."})})

    assert error.problem == "is incomplete: parts listed in it are missing"


@pytest.mark.parametrize("missing", ["manifest.json", "persona.json"])
def test_without_its_main_parts_it_is_no_bundle(missing: str):
    content = members()
    del content[missing]

    assert refusal(content).message == f"Mira.lethe › {missing}: is missing"


def test_some_other_json_is_no_manifest():
    assert refusal(members(format="something else")).field == "format"


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ([message(1, 2), message(2)], "replies to a message that does not come before it"),
        ([message(1, 1)], "replies to a message that does not come before it"),
        ([message(1, session_id=GUID.format(9))], "belongs to another conversation"),
        ([message(1, time="9999-12-31T23:59:59+00:00")], "is out of range"),
        ([message(1), message(1)], "contains the same id twice"),
    ],
)
def test_messages_that_do_not_fit_together_are_refused(said: list[object], problem: str):
    assert refusal(members() | {"conversations/000001.jsonl": lines(session(), *said)}).problem == problem


def test_json_that_is_nested_without_end_is_refused():
    assert "JSON" in refusal(members() | {"persona.json": b"[" * 200_000}).message


def test_a_bundle_that_could_not_be_read_again_is_not_written():
    writer = BundleWriter(io.BytesIO(), BundleLimits(member=1000))

    with pytest.raises(Exception, match="too large for a Lethe file"):
        writer.write_persona(Persona(name="Mira", bio="x" * 2000), b"", "", {})
