"""Chats of other programs are read with their alternatives, dates and speakers, and become sessions."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from lethe_app.domain.chat import Role
from lethe_app.domain.import_notes import ImportNotes, NoteKind
from lethe_app.errors import FileError
from lethe_app.interchange.external_file import read_external_file
from lethe_app.interchange.transcripts.conversations import MAX_MESSAGES, Speakers, build_conversations, split_sessions
from lethe_app.interchange.transcripts.dates import parse_date
from lethe_app.interchange.transcripts.silly_tavern import read_chat, restore_lines, write_chat
from lethe_app.interchange.transcripts.transcript import ChatTranscript, TranscriptMessage, TranscriptReply
from tests.interchange.external_files import as_bytes, chat_file, chat_lines, lost

NOON = datetime(2024, 9, 28, 12, tzinfo=UTC)
SPEAKERS = Speakers("vera", "ann", {})


def chat(content: bytes, name: str = "chat.jsonl") -> ChatTranscript:
    (transcript,) = read_external_file(content, name).transcripts
    return transcript


def spoken(*texts: str, gap: timedelta = timedelta(minutes=1)) -> list[tuple[TranscriptMessage, datetime]]:
    return [
        (TranscriptMessage(Role.USER if number % 2 else Role.ASSISTANT, "", (TranscriptReply(text),)), NOON + gap * number)
        for number, text in enumerate(texts)
    ]


def test_a_chat_is_read_with_swipes_reasoning_and_every_style_of_date():
    transcript = chat(chat_file())

    assert (transcript.character, transcript.user, transcript.world) == ("Vera Lind", "Ann", "Harbour")
    greeting, question, reply = transcript.messages
    assert [message.role for message in transcript.messages] == [Role.ASSISTANT, Role.USER, Role.ASSISTANT]
    assert [answer.text for answer in reply.replies] == ["Cold.", "Wet."]
    assert (reply.text, reply.replies[1].thinking, reply.replies[0].model) == ("Wet.", "She asks about rain.", "tide-3b")
    assert (greeting.time.hour, greeting.time.minute) == (16, 13)
    assert question.time == datetime(2023, 6, 19, 16, 13, 50, tzinfo=UTC)
    assert reply.time.microsecond == 5000


def test_a_chat_returns_as_it_came():
    conversations = build_conversations(chat(chat_file()), SPEAKERS, NOON)

    messages = [message for conversation in conversations for message in conversation.messages]
    header = conversations[0].record.original
    text = write_chat(header, [line for message in messages for line in restore_lines(message, message.original)])

    assert lost(chat_lines(), [json.loads(line) for line in text.splitlines()]) == []


def test_an_edited_message_keeps_what_nobody_edited():
    (conversation,) = build_conversations(chat(chat_file()), SPEAKERS, NOON)
    reply = conversation.messages[-1]
    edited = [reply.alternatives[0], reply.alternatives[1].model_copy(update={"content": "Dry."})]

    (line,) = restore_lines(reply.model_copy(update={"alternatives": edited}), reply.original)

    assert (line["mes"], line["swipes"], line["force_avatar"]) == ("Dry.", ["Cold.", "Dry."], "/a.png")


def test_lines_that_are_no_messages_are_left_out_with_a_note():
    content = chat_file() + b'\n{broken\n5\n{"name": "x"}\n\n' + as_bytes({"name": "Ann", "is_user": "true", "mes": "Bye."})
    notes = ImportNotes()

    transcript = read_chat(content.decode(), "x.jsonl", "x", notes)

    assert [message.text for message in transcript.messages] == ["Come in.", "How is it?", "Wet.", "Bye."]
    assert [note.location for note in notes.notes if note.kind is NoteKind.SKIPPED] == ["line 5", "line 6", "line 7"]


def test_an_edited_text_that_is_no_swipe_is_kept_beside_them():
    line = {"name": "V", "is_user": False, "mes": "edited", "swipe_id": 0, "swipes": ["first", "second"]}

    (message,) = chat(as_bytes(line)).messages

    assert [reply.text for reply in message.replies] == ["first", "second", "edited"]
    assert message.text == "edited"


def test_the_variant_of_chub_is_read():
    line = {
        "name": "V",
        "is_user": False,
        "mes": {"message": "b"},
        "swipe_id": 1,
        "swipes": [{"message": "a"}, {"message": "b"}],
    }

    (message,) = chat(as_bytes(line)).messages

    assert ([reply.text for reply in message.replies], message.shown) == (["a", "b"], 1)


OTHERS = {
    "agnai": {"name": "t", "messages": [{"msg": "Hi.", "userId": "u", "createdAt": "2024-09-28T12:00:00Z"}, {"msg": "Hey."}]},
    "text-generation-webui": {"data_visible": [["Hi.", "Hey."]], "data": [["Hi.", "Hey."]]},
    "cai tools": {
        "histories": [
            {
                "msgs": [
                    {"text": "Hi.", "src": {"is_human": True, "name": "Ann"}},
                    {"text": "Hey.", "src": {"is_human": False, "name": "Vera"}},
                ]
            }
        ]
    },
    "kobold": {
        "gamestarted": True,
        "prompt": "",
        "actions": ["{{[INPUT]}}Hi.", "{{[OUTPUT]}}Hey."],
        "savedsettings": {"chatname": "Ann", "chatopponent": "Vera||$||Bo"},
    },
    "risuai": {
        "type": "risuChat",
        "ver": 2,
        "data": {"message": [{"role": "user", "data": "Hi.", "time": 1_700_000_000_000}, {"role": "char", "data": "Hey."}]},
    },
    "open webui": [
        {
            "chat": {
                "title": "t",
                "history": {
                    "currentId": "c",
                    "messages": {
                        "a": {
                            "id": "a",
                            "parentId": None,
                            "childrenIds": ["b", "c"],
                            "role": "user",
                            "content": "Hi.",
                            "timestamp": 1_700_000_000,
                        },
                        "b": {"parentId": "a", "childrenIds": [], "role": "assistant", "content": "No."},
                        "c": {"parentId": "a", "childrenIds": [], "role": "assistant", "content": "Hey."},
                    },
                },
            }
        }
    ],
    "lethe": {
        "Sessions": [
            {
                "Name": "t",
                "Messages": [
                    {"Role": "User", "Message": "Hi.", "UserID": "Ann"},
                    {"Role": "Assistant", "Message": "Hey.", "CharID": "Vera", "ThinkBlock": "Hm."},
                ],
            }
        ]
    },
}


@pytest.mark.parametrize("program", OTHERS)
def test_chats_of_other_programs_are_read(program: str):
    transcript = chat(as_bytes(OTHERS[program]), "t.json")

    assert [(message.role, message.text) for message in transcript.messages] == [(Role.USER, "Hi."), (Role.ASSISTANT, "Hey.")]
    if program in {"cai tools", "kobold", "lethe"}:
        assert (transcript.user, transcript.character) == ("Ann", "Vera")
    if program == "open webui":
        assert [reply.text for reply in transcript.messages[1].replies] == ["No.", "Hey."]


@pytest.mark.parametrize(
    "tree",
    [
        {"a": {"parentId": "b", "role": "user", "content": "x"}, "b": {"parentId": "a", "role": "user", "content": "y"}},
        {"a": {"parentId": "a", "role": "user", "content": "x"}},
        {"a": 5},
    ],
)
def test_a_circle_in_a_tree_of_messages_ends(tree: dict[str, object]):
    content = as_bytes([{"chat": {"history": {"currentId": "a", "messages": tree}}}])

    found = read_external_file(content, "t.json").transcripts

    assert all(len(transcript.messages) <= 2 for transcript in found)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-09-28T12:00:00.000Z", NOON),
        (NOON.timestamp() * 1000, NOON),
        (str(int(NOON.timestamp())), NOON),
        (int(NOON.timestamp() * 1_000_000), NOON),
        ("June 19, 2023 12:05am", datetime(2023, 6, 19, 0, 5).astimezone()),
        ("Sep 3 2023 11:59 PM", datetime(2023, 9, 3, 23, 59).astimezone()),
        ("2024-9-28 @01h 02m 36s 885ms", datetime(2024, 9, 28, 1, 2, 36, 885000).astimezone()),
        *((value, None) for value in ("", "soon", "99999-01-01", -1, 1e30, True, None, [], "June 40, 2023 4:13pm", "9" * 50)),
    ],
)
def test_dates_are_read_in_every_style(value: object, expected: datetime | None):
    assert parse_date(value) == expected  # type: ignore[arg-type]


def test_a_session_ends_with_a_pause_a_greeting_or_its_length():
    one = spoken("Come in.", "Hi.", "Sit.")
    later = [(message, time + timedelta(hours=9)) for message, time in spoken("Again?", "Yes.")]
    assert [len(part) for part in split_sessions([*one, *later])] == [3, 2]
    assert [len(part) for part in split_sessions(spoken("Come in.", "Hi.", "Come in.", "Hm."))] == [2, 2]
    long = spoken(*(str(number) for number in range(2 * MAX_MESSAGES + 10)))
    parts = list(split_sessions(long))
    assert [message for part in parts for message in part] == long
    assert all(len(part) <= MAX_MESSAGES + 1 for part in parts)
    assert all(part[0][0].role is Role.USER for part in parts[1:]), "a session does not begin with an answer"
    assert list(split_sessions([])) == []


def test_messages_without_dates_get_one_in_their_order():
    lines = [
        {"name": "V", "mes": str(number), "send_date": date} for number, date in enumerate(("", "2024-09-28T12:00:00Z", "?"))
    ]
    content = b"\n".join(map(as_bytes, lines))

    for transcript in (chat(content), chat(b"\n".join(as_bytes({"name": "V", "mes": str(n)}) for n in range(3)))):
        conversations = build_conversations(transcript, SPEAKERS, NOON)
        times = [message.time for conversation in conversations for message in conversation.messages]
        assert times == sorted(times)
        assert all(abs(time - NOON) < timedelta(hours=1) for time in times)


def test_members_of_a_group_speak_for_themselves():
    lines = [{"name": name, "mes": f"{name} speaks.", "is_user": name == "Ann"} for name in ("Vera", "Ann", "Bo", "Stranger")]
    speakers = Speakers("vera", "ann", {"vera": "vera", "bo": "bo-2"})

    (conversation,) = build_conversations(chat(b"\n".join(map(as_bytes, lines))), speakers, NOON)

    assert [message.speaker for message in conversation.messages] == ["vera", "ann", "bo-2", "vera"]
    assert [message.speaker_name for message in conversation.messages] == ["Vera", "Ann", "Bo", "Stranger"]
    assert conversation.record.session.guests == ["bo-2"]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"5\n6", b"{}"])
def test_a_file_without_messages_is_refused(content: bytes):
    with pytest.raises(FileError, match="contains no messages"):
        read_external_file(content, "x.jsonl")


def test_lines_hidden_from_the_model_are_no_messages_but_return():
    rows = [
        {"user_name": "Ann", "character_name": "Vera"},
        {"name": "SillyTavern System", "is_user": False, "is_system": True, "mes": "Help.", "extra": {"type": "help"}},
        {"name": "Vera", "is_user": False, "is_system": False, "mes": "Hello.", "extra": {}},
        {"name": "Note", "is_user": False, "is_system": True, "mes": "Mend the card.", "extra": {"type": "comment"}},
        {"name": "Vera", "is_user": False, "is_system": True, "mes": "Hidden by hand.", "extra": {}},
        {"name": "Ann", "is_user": True, "is_system": False, "mes": "Hi.", "extra": {}},
        {"name": "Narrator", "is_user": False, "is_system": False, "mes": "It rains.", "extra": {"type": "narrator"}},
    ]
    notes = ImportNotes()
    transcript = read_chat("\n".join(json.dumps(row) for row in rows), "x.jsonl", "x", notes)

    (conversation,) = build_conversations(transcript, SPEAKERS, NOON)

    assert [message.content for message in conversation.messages] == ["Hello.", "Hi.", "It rains."]
    assert [(note.kind, note.values) for note in notes.notes] == [(NoteKind.HIDDEN_LINES, {"count": 3})]
    lines = [line for message in conversation.messages for line in restore_lines(message, message.original)]
    back = [json.loads(line) for line in write_chat(conversation.record.original, lines).splitlines()]
    assert [line.get("mes") for line in back] == [row.get("mes") for row in rows]
    assert lost(rows, back) == []


@pytest.mark.parametrize(
    "values",
    [
        {"name": "Exported", "greeting": "Hi.", "scenario": "", "messages": [{"msg": "Hi.", "handle": ""}]},
        {
            "type": "risuChat",
            "ver": 1,
            "data": {"name": "Chat 1", "message": [{"role": "char", "data": "Hi.", "saying": "abc"}]},
        },
    ],
)
def test_a_chat_with_a_name_and_a_greeting_is_no_character(values: dict[str, object]):
    content = read_external_file(json.dumps(values).encode(), "Vera.json")

    assert content.cards == ()
    (transcript,) = content.transcripts
    assert [message.text for message in transcript.messages] == ["Hi."]
    assert transcript.character == ""
