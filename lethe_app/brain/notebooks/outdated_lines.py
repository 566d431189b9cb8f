"""Lines of notebooks whose fact was superseded, reworded or forgotten since they were written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from lethe_app.brain.notebooks.document import Conclusion, Notebook, NotebookLine, to_line
from lethe_app.brain.text.fingerprint import compute_fingerprint, content_words, fingerprint_digest
from lethe_app.domain.facts import ExtractedFact, MadeBy, Tombstone, find_current_fact

_MIN_CONTENT_WORDS = 2
"""Minimum number of content words of a line for it to state a longer fact."""


@dataclass(frozen=True)
class FactHistory:
    """What is known about facts that no longer hold."""

    facts: Sequence[ExtractedFact]
    """Known facts, superseded ones included."""
    forgotten: Sequence[ExtractedFact] = ()
    """Facts in the trash."""
    dormant: Sequence[ExtractedFact] = ()
    """Facts whose messages are in the trash or say something else now."""
    tombstones: Sequence[Tombstone] = ()
    """Traces of forgotten facts, and of the former wordings of reworded ones."""
    former_wordings: Mapping[str, UUID] = field(default_factory=dict)
    """Facts reworded lately, by the digests of their former texts."""


@dataclass(frozen=True)
class RemovedLine:
    """Line that was removed because its fact no longer holds, with its notebook as it was."""

    notebook: Notebook
    line: NotebookLine


class LineRevision:
    """Decides what becomes of each line. A line that states a fact that holds stays, as does one that states none."""

    def __init__(self, history: FactHistory) -> None:
        self._facts = facts = [fact for fact in history.facts if not fact.in_story]
        self._by_guid = {fact.guid: fact for fact in facts}
        self._words = {fact.guid: content_words(fact.fact) for fact in facts}
        self._current_digests = {fingerprint_digest(fact.fact) for fact in facts if not fact.superseded}
        self._superseded = {fingerprint_digest(fact.fact): fact for fact in facts if fact.superseded}
        self._former_wordings = history.former_wordings
        self._tombstones = {tombstone.digest: tombstone for tombstone in history.tombstones}
        self._dormant = {fingerprint_digest(fact.fact): fact.guid for fact in history.dormant}
        self._forgotten_digests = {fingerprint_digest(fact.fact) for fact in history.forgotten} & self._tombstones.keys()
        self.removed_lines: list[RemovedLine] = []
        """Lines that `revise` has removed."""

    def revise(self, notebooks: Sequence[Notebook]) -> list[Notebook]:
        """Return the notebooks that change. A fact that any notebook states already is not written a second time."""
        stated = {fingerprint_digest(line.text) for notebook in notebooks for line in notebook.lines}
        revised = list[Notebook]()
        for notebook in notebooks:
            lines = list[NotebookLine]()
            for line in notebook.lines:
                digest = fingerprint_digest(line.text)
                if not self._is_outdated(line, digest):
                    lines.append(line)
                    continue
                successor = self._find_successor(line, digest)
                if successor is None:
                    self.removed_lines.append(RemovedLine(notebook, line))
                    continue
                successor_digest = fingerprint_digest(successor.fact)
                if successor_digest not in stated:
                    stated.add(successor_digest)
                    lines.append(_rewrite(line, successor))
            if lines != list(notebook.lines):
                revised.append(replace(notebook, lines=tuple(lines)))
        return revised

    def holds_again(self, removed: RemovedLine) -> bool:
        """Return whether the fact of a removed line holds, because what replaced or forgot it was undone."""
        return fingerprint_digest(removed.line.text) in self._current_digests

    def restore(self, notebooks: Sequence[Notebook], removed: Sequence[RemovedLine]) -> list[Notebook]:
        """Return the notebooks that change, or are created again, because removed lines hold again."""
        current = {notebook.name: notebook for notebook in notebooks}
        restored = dict[str, Notebook]()
        for one in filter(self.holds_again, removed):
            name, before = one.notebook.name, one.notebook.lines
            notebook = restored.get(name) or current.get(name) or replace(one.notebook, lines=())
            if one.line in notebook.lines:
                continue
            above = [notebook.lines.index(line) for line in before[: before.index(one.line)] if line in notebook.lines]
            place = max(above, default=-1) + 1
            restored[name] = replace(notebook, lines=(*notebook.lines[:place], one.line, *notebook.lines[place:]))
        return list(restored.values())

    def _is_outdated(self, line: NotebookLine, digest: str) -> bool:
        if digest in self._current_digests:
            return False
        if digest in self._forgotten_digests:
            return True
        # Lines are written with their day: one without was worded by the user.
        is_replaced = digest in self._former_wordings or digest in self._tombstones or digest in self._dormant
        return line.day is not None and (is_replaced or self._find_superseded(line, digest) is not None)

    def _find_successor(self, line: NotebookLine, digest: str) -> ExtractedFact | None:
        """Return the fact that holds in place of the one that a line states; None if none does."""
        if digest in self._forgotten_digests:
            return None
        if (guid := self._dormant.get(digest)) is not None:  # what it superseded may hold again
            return next((fact for fact in self._facts if fact.superseded_by == guid and not fact.superseded), None)
        fact = self._by_guid.get(self._former_wordings[digest]) if digest in self._former_wordings else None
        fact = fact or self._find_superseded(line, digest) or self._find_reworded(line, digest)
        return find_current_fact(fact, self._by_guid) if fact is not None else None

    def _find_reworded(self, line: NotebookLine, digest: str) -> ExtractedFact | None:
        """Return the fact that had the words of a line before the user reworded it."""
        tombstone = self._tombstones.get(digest)
        if tombstone is None:
            return None
        # A message may state several facts: the reworded one has most of the words left.
        words = content_words(line.text)
        candidates = [
            fact
            for fact in self._facts
            if fact.made_by is MadeBy.USER and not set(tombstone.messages).isdisjoint(fact.source_messages)
        ]
        return max(candidates, key=lambda fact: len(words & self._words[fact.guid]), default=None)

    def _find_superseded(self, line: NotebookLine, digest: str) -> ExtractedFact | None:
        """Return the superseded fact that a line states: in the same words, or in fewer that no current fact has."""
        if digest in self._superseded:
            return self._superseded[digest]
        words, is_negated = content_words(line.text), compute_fingerprint(line.text).is_negated
        if len(words) < _MIN_CONTENT_WORDS:
            return None
        longer = [fact for fact in self._facts if words <= self._words[fact.guid]]
        longer = [fact for fact in longer if compute_fingerprint(fact.fact).is_negated == is_negated]
        return longer[0] if longer and all(fact.superseded for fact in longer) else None


def has_users_text(notebook: Notebook) -> bool:
    """Return whether a notebook contains more than its title and conclusions."""
    is_title_only = notebook.head.strip() in {"", f"# {notebook.title}"}
    return not is_title_only or any(line.day is None or _text_below(line) for line in notebook.lines)


def _rewrite(line: NotebookLine, fact: ExtractedFact) -> NotebookLine:
    """Return the line with another fact; what the user wrote below it is kept."""
    rewritten = to_line(Conclusion(fact.fact, fact.first_seen.astimezone().date()))
    _row, separator, rest = line.raw.partition("\n")
    return replace(rewritten, raw=f"{rewritten.raw}{separator}{rest}")


def _text_below(line: NotebookLine) -> str:
    return line.raw.partition("\n")[2].strip()
