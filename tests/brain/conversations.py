"""Conversations written line by line, for the tests of what is made of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4, uuid5

from lethe_app.brain.text.utterance import Utterance
from lethe_app.domain.chat import Role

LINES = UUID("00000000-0000-0000-0000-00000000d19e")
EVENING = datetime(2026, 11, 21, 21, 4, tzinfo=UTC)


def said(name: str, text: str, place: int = 0) -> Utterance:
    role = Role.USER if name == "Tomas" else Role.ASSISTANT
    return Utterance(uuid5(LINES, f"{place} {name}"), role, name, text, EVENING)


def conversation(*lines: str) -> list[Utterance]:
    """Each line is `Name: text`; Tomas is the user."""
    return [said(*line.split(": ", 1), place) for place, line in enumerate(lines)]  # type: ignore[arg-type]


def spoken(*messages: str, user: str = "Joan", start: datetime = datetime(2026, 3, 10, 20, tzinfo=UTC)) -> list[Utterance]:
    """What a user says, a minute apart, on a Tuesday; “P: ” begins a line of the persona Nora."""
    lines = []
    for place, text in enumerate(messages):
        role, name = (Role.ASSISTANT, "Nora") if text.startswith("P: ") else (Role.USER, user)
        lines.append(Utterance(uuid4(), role, name, text.removeprefix("P: "), start + place * timedelta(minutes=1)))
    return lines


SMALL_TALK = conversation(
    "Tomas: Hey!",
    "Mira: Hi Tomas! How are you?",
    "Tomas: fine, and you?",
    "Mira: Great, thanks! Nice weather today.",
)
PORTO = conversation(
    "Tomas: Hi Mira, big news: I'm moving to Porto in May.",
    "Mira: Porto! Really? What about the job at the harbour?",
    "Tomas: I quit. My sister Ana has her exam there and we want to take the ferry together.",
    "Mira: Do you have any pets to bring?",
    "Tomas: Two cats.",
    "Mira: And are you allergic to anything I should know about before I cook?",
    "Tomas: Peanuts, badly.",
    "Mira: Noted. Shall we try the lighthouse tomorrow?",
    "Tomas: Yes! Remind me to bring the old camera.",
    "Mira: I'll remind you. Sleep well!",
)
KEEPER = conversation(
    "Tomas: *walks up to the old lighthouse and knocks twice* Anyone there?",
    'Mira: *The door creaks open. A lantern swings in the wind.* "Come in, stranger," she says, lowering the lantern. '
    '"The storm took three boats last night."',
    'Tomas: *steps inside, dripping with rain* "I\'m looking for Captain Orsolo. He owes me a map."',
    'Mira: *Mira\'s smile fades.* "Orsolo is dead. He left the map to me." *She locks the door behind him.*',
    "Tomas: *draws his sword slowly* Then we have a problem, keeper.",
    'Mira: *laughs and throws the map into the fire* "Now nobody has it."',
)
