"""Names of the participants: one label each for the model, and the spellings in which a reply gives somebody the word."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lethe_app.domain.persona import Persona

MIN_NAME_CHARACTERS = 3
"""Minimum length in characters of a first name that counts without the rest of the name."""
# Spellings of a name before a colon, besides emphasis and a heading.
_FORMS = ("{}", "[{}]", "<{}>", "({})", "【{}】", "（{}）")
_LEAD = re.compile(r"\s*(?:#+[^\S\n]*)?(?P<marks>[*_~`]*)")
# With a space before it, it may begin an emoticon unless white space follows. In Japanese a quotation follows the name.
_COLON = r"(?:[:：﹕︰]|[^\S\n]+[:：](?=[\s*_“\"«])|(?=[「『]))"
_OWN_TAIL = rf"(?:(?P=marks){_COLON}|{_COLON}(?P=marks))"
# Emphasis may stay open for what is said, and a stage direction in brackets may stand before the colon.
_OTHER_TAIL = rf"[*_~`]*(?:[^\S\n]*[(（\[*][^\n:：()（）\[\]*]{{1,40}}[)）\]*])?[*_~`]*{_COLON}"
# Beginning of what may follow a name, or all of it.
_OPEN_TAIL = re.compile(r"[*_~`]*(?:[^\S\n]*[(（\[*][^\n:：()（）\[\]*]{0,40}[)）\]*]?)?[*_~`]*[^\S\n]*[:：﹕︰]?[*_~`]*")


def spoken_names(persona: Persona, group: Sequence[Persona]) -> list[str]:
    """Return the names a persona can be addressed by: the nickname, the whole name, and the first word of the name if no
    other persona of the group has that.
    """
    others = {word.casefold() for other in group if other != persona for word in other.name.split()}
    first_name = [
        word for word in persona.name.split()[:1] if len(word) >= MIN_NAME_CHARACTERS and word.casefold() not in others
    ]
    # A name of nothing but spaces would be found everywhere.
    return list(dict.fromkeys(filter(None, (persona.nickname.strip(), persona.name.strip(), *first_name))))


def label_of(persona: Persona, group: Sequence[Persona]) -> str:
    """Return the one name under which the model knows a participant: what {{user}} or {{char}} stands for, or the name if
    another participant has that nickname as well.
    """
    others = {name.casefold() for other in group if other != persona for name in (other.name.strip(), other.spoken_name)}
    return persona.name if persona.is_user or persona.spoken_name.casefold() in others else persona.spoken_name


def labels_by_name(group: Sequence[Persona]) -> dict[str, str]:
    """Return the label of each participant by its names in lower case; a name of one goes before the nickname of another."""
    names = [*((one.nickname.strip(), one) for one in group), *((one.name.strip(), one) for one in group)]
    return {name.casefold(): label_of(one, group) for name, one in names if name}


def split_names(speaker: Persona, *others: Persona) -> tuple[list[str], list[str]]:
    """Return the names of the one who speaks, the label first, and those of the other participants. A name of both belongs to
    the one who has it as label, and to the user in any case.
    """
    group = (speaker, *others)
    labels = {label_of(other, group).casefold() for other in others}
    own = [label_of(speaker, group), *(name for name in spoken_names(speaker, group) if name.casefold() not in labels)]
    others_names = [(name, other) for other in others for name in spoken_names(other, group)]
    return own, [name for name, other in others_names if other.is_user or name.casefold() not in map(str.casefold, own)]


class LabelFilter:
    """Incremental filter of a reply: the speaker's own label at its beginning is left out, and it ends where another
    participant is given the word. `own` and `others` are the patterns of their labels.
    """

    def __init__(self, own: Sequence[str] = (), others: Sequence[str] = (), before: str = "") -> None:
        """Prepare for the names of the speaker and of the others, and for a reply that continues the text `before`."""
        spellings = [[form.format(name.strip()) for name in names for form in _FORMS] for names in (own, others)]
        self.own, self.others = (
            re.compile(f"{_LEAD.pattern}(?:{'|'.join(map(re.escape, names)) or '(?!)'}){tail}", re.IGNORECASE)
            for names, tail in zip(spellings, (_OWN_TAIL, _OTHER_TAIL), strict=True)
        )
        self._spellings = [name.casefold() for names in spellings for name in names]
        # Beginning of a line, held back because it may be a label, with the white space above it.
        self._held = ""
        self._has_text, self._may_be_own, self._is_inside_line = bool(before), not before, before[-1:] not in ("", "\n")
        # True if another participant was given the word.
        self.has_ended = False

    def may_begin(self, text: str) -> bool:
        """Return whether the text may be the beginning of a label, or of white space above one."""
        plain, unmarked = text.lstrip().casefold(), _LEAD.sub("", text, count=1).casefold()
        return not plain or any(
            name.startswith(rest) or (rest.startswith(name) and _OPEN_TAIL.fullmatch(rest, len(name)) is not None)
            for name in self._spellings
            for rest in (plain, unmarked)
        )

    def feed(self, text: str, *, is_end: bool = False) -> str:
        """Return the text that is certainly the speaker's; at the end all of it that is held back."""
        self._held += "" if self.has_ended else text + "\n" * is_end  # the end of a line decides
        shown = ""
        while self._held:
            if self._is_inside_line:
                line, line_break, rest = self._held.partition("\n")
                shown, self._held, self._is_inside_line = shown + line, line_break + rest, not line_break
            elif self._may_be_own and (label := self.own.match(self._held)):
                self._held, self._may_be_own = self._held[label.end() :], False
            elif self.others.match(self._held):
                self._held, self.has_ended = "", True
            elif self.may_begin(self._held):
                break
            else:
                line = self._held.lstrip()
                shown += self._held.removesuffix(line) if self._has_text else ""
                self._held, self._has_text, self._is_inside_line, self._may_be_own = line, True, True, False
        if is_end:
            shown, self._held = shown + self._held[:-1] * self._has_text, ""
        return shown
