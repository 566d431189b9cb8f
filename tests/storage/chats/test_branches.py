"""After any sequence of operations, the stored branches equal those of a simple model in memory."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from lethe_app.domain.chat import Alternative, ChatSession, Message, Role
from lethe_app.storage.chats.sessions import SessionStore
from lethe_app.storage.database import Database
from tests.storage.scenes import purge_trash, store_above, store_alternative
from tests.sweep import examples

TEXTS = st.text(max_size=30)
PICKS = st.integers(0, 10_000)


@dataclass
class Line:
    """Message in the model."""

    id: UUID
    parent: UUID | None
    hidden: bool
    wordings: list[str]
    shown: int = 0
    deleted: bool = False


@dataclass
class Model:
    lines: dict[UUID, Line] = field(default_factory=dict)
    tip: UUID | None = None

    def branch(self) -> list[Line]:
        """Return the chain from the tip upwards without deleted messages, oldest first."""
        chain, here = [], self.tip
        while here is not None:
            line = self.lines[here]
            chain.append(line)
            here = line.parent
        return [line for line in reversed(chain) if not line.deleted]

    def live(self) -> list[Line]:
        return [line for line in self.lines.values() if not line.deleted]

    def deleted(self) -> list[Line]:
        return [line for line in self.lines.values() if line.deleted]


class Conversation(RuleBasedStateMachine):
    """State machine that takes the same steps in storage and in the model."""

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.loop = asyncio.new_event_loop()
        self.path = Path(self.folder.name) / "lethe.sqlite3"
        self.database = self.run(Database.open(self.path))
        self.chats = SessionStore(self.database)
        self.session = self.run(self.chats.add_session(ChatSession(persona_id="mara")))
        self.model = Model()

    def run(self, awaitable):
        return self.loop.run_until_complete(awaitable)

    def teardown(self) -> None:
        if hasattr(self, "database"):
            self.run(self.database.close())
            self.loop.close()
            self.folder.cleanup()

    def add(self, texts: list[str], hidden: bool, parent: UUID | None) -> Message:
        wordings = [Alternative(content=text) for text in texts]
        message = Message(
            id=uuid4(), session_id=self.session.guid, role=Role.USER, alternatives=wordings, hidden=hidden, parent_id=parent
        )
        self.run(self.chats.add_message(message))
        return message

    @rule(texts=st.lists(TEXTS, min_size=1, max_size=3), hidden=st.booleans())
    def say(self, texts: list[str], hidden: bool) -> None:
        message = self.add(texts, hidden, None)
        self.model.lines[message.id] = Line(message.id, self.model.tip, hidden, texts)
        self.model.tip = message.id

    @precondition(lambda self: self.model.live())
    @rule(text=TEXTS, pick=PICKS)
    def branch_off(self, text: str, pick: int) -> None:
        live = self.model.live()
        parent = live[pick % len(live)].id
        branch = self.model.branch()
        message = self.add([text], False, parent)
        follows_leaf = bool(branch) and branch[-1].id == parent
        self.model.lines[message.id] = Line(message.id, self.model.tip if follows_leaf else parent, False, [text])
        self.model.tip = message.id

    @precondition(lambda self: self.model.live())
    @rule(text=TEXTS, pick=PICKS)
    def note_above(self, text: str, pick: int) -> None:
        live = self.model.live()
        below = live[pick % len(live)]
        note = Message(session_id=self.session.guid, role=Role.SYSTEM, alternatives=[Alternative(content=text)], hidden=True)
        self.run(store_above(self.database, below.id, note))
        self.model.lines[note.id] = Line(note.id, below.parent, True, [text])
        below.parent = note.id

    @precondition(lambda self: self.model.live())
    @rule(pick=PICKS)
    def switch_branch(self, pick: int) -> None:
        live = self.model.live()
        leaf = live[pick % len(live)].id
        branch = self.model.branch()
        self.run(self.chats.set_leaf(self.session.guid, leaf))
        if not branch or branch[-1].id != leaf:
            self.model.tip = leaf

    @precondition(lambda self: self.model.live())
    @rule(text=TEXTS, pick=PICKS)
    def edit(self, text: str, pick: int) -> None:
        live = self.model.live()
        line = live[pick % len(live)]
        self.run(self.chats.edit_message(line.id, text))
        line.wordings[line.shown] = text

    @precondition(lambda self: self.model.live())
    @rule(text=TEXTS, pick=PICKS)
    def regenerate(self, text: str, pick: int) -> None:
        live = self.model.live()
        line = live[pick % len(live)]
        line.shown = self.run(store_alternative(self.database, line.id, Alternative(content=text)))
        line.wordings.append(text)

    @precondition(lambda self: self.model.live())
    @rule(text=TEXTS, pick=PICKS, which=PICKS)
    def stream(self, text: str, pick: int, which: int) -> None:
        live = self.model.live()
        line = live[pick % len(live)]
        position = which % len(line.wordings)
        self.run(self.chats.replace_alternative(line.id, position, Alternative(content=text, complete=False)))
        line.wordings[position] = text

    @precondition(lambda self: self.model.live())
    @rule(pick=PICKS, which=PICKS)
    def swipe(self, pick: int, which: int) -> None:
        live = self.model.live()
        line = live[pick % len(live)]
        line.shown = which % len(line.wordings)
        self.run(self.chats.set_shown(line.id, line.shown))

    @precondition(lambda self: any(len(line.wordings) > 1 for line in self.model.live()))
    @rule(pick=PICKS, which=PICKS)
    def take_back(self, pick: int, which: int) -> None:
        several = [line for line in self.model.live() if len(line.wordings) > 1]
        line = several[pick % len(several)]
        position = which % len(line.wordings)
        self.run(self.chats.remove_alternative(line.id, position))
        del line.wordings[position]
        line.shown = line.shown - 1 if line.shown > position else min(line.shown, len(line.wordings) - 1)

    @precondition(lambda self: self.model.live())
    @rule(pick=PICKS)
    def delete(self, pick: int) -> None:
        live = self.model.live()
        line = live[pick % len(live)]
        self.run(self.chats.delete_message(line.id))
        line.deleted = True

    @precondition(lambda self: self.model.deleted())
    @rule(pick=PICKS)
    def restore(self, pick: int) -> None:
        deleted = self.model.deleted()
        line = deleted[pick % len(deleted)]
        self.run(self.chats.restore_message(line.id))
        line.deleted = False

    @precondition(lambda self: self.model.deleted())
    @rule()
    def purge(self) -> None:
        assert self.run(purge_trash(self.database, -1)) == len(self.model.deleted())
        for gone in self.model.deleted():
            for line in self.model.lines.values():
                if line.parent == gone.id:
                    line.parent = gone.parent
            if self.model.tip == gone.id:
                self.model.tip = gone.parent
            del self.model.lines[gone.id]

    @rule()
    def reopen(self) -> None:
        self.run(self.database.close())
        self.database = self.run(Database.open(self.path))
        self.chats = SessionStore(self.database)

    @invariant()
    def storage_equals_the_model(self) -> None:
        if not hasattr(self, "model"):
            return
        branch = self.model.branch()
        ids = [line.id for line in branch]
        guid = self.session.guid

        outline = self.run(self.chats.outline(guid))
        assert [(line.id, line.hidden, line.length) for line in outline] == [
            (line.id, line.hidden, len(line.wordings[line.shown])) for line in branch
        ]
        read = self.run(self.chats.page(guid, 0, len(branch) + 1))
        assert [[alternative.content for alternative in message.alternatives] for message in read] == [
            line.wordings for line in branch
        ]
        assert [message.shown for message in read] == [line.shown for line in branch]
        assert [message.parent_id for message in read] == [None, *ids][: len(ids)]
        assert self.run(self.chats.session(guid)).leaf_id == (ids[-1] if ids else None)
        middle = len(ids) // 2
        assert [message.id for message in self.run(self.chats.page(guid, middle, 2))] == ids[middle : middle + 2]
        assert [message.id for message in self.run(self.chats.newest_messages(guid, 2))] == ids[-2:]
        if ids:
            above = self.run(self.chats.newest_messages(guid, 2, before=ids[middle]))
            assert [message.id for message in above] == ids[max(0, middle - 2) : middle]
        (summary,) = self.run(self.chats.sessions("mara"))
        assert summary.messages == sum(not line.hidden for line in self.model.live())
        visible = [line.wordings[line.shown] for line in branch if not line.hidden]
        assert summary.preview == " ".join((visible[-1] if visible else "").split("\0")[0].split())


Conversation.TestCase.settings = settings(
    max_examples=examples(15), stateful_step_count=25, suppress_health_check=list(HealthCheck)
)


class TestConversation(Conversation.TestCase):
    """Run any sequence of steps."""
