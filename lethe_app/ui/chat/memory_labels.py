"""Says in plain words what a memory is, how it came to mind, and what kept another one back."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from PySide6.QtCore import QCoreApplication, QLocale

from lethe_app.domain.memory import MemoryType
from lethe_app.domain.recall import NotRecalled, RecallLead, RecallWay
from lethe_app.services.chat.reply_sources import ReplySources, SourceKind, Surfaced, Whence
from lethe_app.ui.core.formatting import age_in_words

MOST_WORDS = 3
"""Of the user's own words, as many are quoted."""
LONGEST_QUOTE = 160
_QUOTED = re.compile("“(.+?)”")
_HEADING = re.compile(r"^(#+ .*|\*\*.+?\*\*(?: \(.+?\))?:? ?)")
"""Title and date, which stand on the card already."""
_SAID = re.compile(r'^(.{1,60}?) said, "(.*)"$', re.DOTALL)
_WORD = re.compile(r"\w[\w’']*")


def tr(text: str) -> str:
    """The reader's own language for words about memory."""
    return QCoreApplication.translate("Memory", text)


def kind_words(one: Surfaced) -> str:
    """What it is, as a title."""
    if one.kind is SourceKind.WORLD and one.recollection.category is MemoryType.FILE:
        return tr("Notebook")
    if one.kind is SourceKind.WORLD:
        return tr("World · {name}").format(name=one.recollection.world)
    if one.kind is SourceKind.FACT:
        return tr("Fact")
    if one.kind is SourceKind.CONVERSATION:
        return tr("Earlier conversation")
    return {
        MemoryType.PERSON: tr("Person"),
        MemoryType.LOCATION: tr("Place"),
        MemoryType.EVENT: tr("Event"),
        MemoryType.JOURNAL: tr("Diary"),
        MemoryType.GOAL: tr("Goal"),
        MemoryType.REMINDER: tr("Reminder"),
        MemoryType.WEB_SEARCH: tr("Found on the web"),
        MemoryType.FILE: tr("File"),
        MemoryType.IMAGE: tr("Picture"),
    }.get(one.recollection.category, tr("Memory"))


def drawing_of(one: Surfaced) -> str:
    """The name of its icon."""
    return "book" if one.kind is SourceKind.WORLD else "remembered"


def body(one: Surfaced, name: str = "") -> str:
    """Return what stands on its card: as it is known now, without the heading that its title makes; `name` is the persona's."""
    text = one.text.strip()
    if name:
        text = text.replace("{{char}}", name)
    if one.kind is SourceKind.WORLD and one.recollection.category is MemoryType.FILE:
        return text.partition("\n")[2] or text
    if one.kind is not SourceKind.CONVERSATION:
        return text
    found = found_lines(one)
    rest = [line for line in unheaded(text).splitlines() if not (found and line.startswith("- "))]
    return "\n".join([*found, *rest])


def found_lines(one: Surfaced) -> list[str]:
    """Return the lines of a conversation that led to it, with what has changed since."""
    if one.kind is not SourceKind.CONVERSATION:
        return []
    leads = [lead for lead in one.recollection.leads if lead.kind in {"message", "fact"}]
    return [_found_line(lead) for lead in leads]


def _found_line(lead: RecallLead) -> str:
    line = cited(lead.text) if _SAID.match(lead.text) else lead.text
    words = tr("{line} (no longer so: {changed})")
    return words.format(line=line, changed=shortened(lead.changed)) if lead.changed else line


def unheaded(text: str) -> str:
    """What is told of a conversation, without its title and date."""
    lines = [_HEADING.sub("", line) for line in text.splitlines()]
    return "\n".join(line for line in lines if line.strip()) or text


def reason(one: Surfaced, asked: str, name: str) -> str:
    """Why it came, in one sentence; `asked` is what the user said, `name` who remembers."""
    way = one.recollection.way
    if way in {RecallWay.MEANING, RecallWay.FACT}:
        return _reminded(one, asked, name)
    if way in {RecallWay.KEYWORD, RecallWay.TITLE}:
        return _named(one)
    if way is RecallWay.CONSTANT and one.kind is SourceKind.WORLD:
        return tr("It belongs to every moment in this world.")
    words = {
        RecallWay.CONSTANT: tr("It is pinned: {name} always has it in mind."),
        RecallWay.ACTIVE: tr("It came up a few messages ago and stays for a while."),
        RecallWay.WOKEN: tr("Something else that came up led on to it."),
        RecallWay.NATURAL: tr("It waited for a fitting moment, and this was it."),
        RecallWay.FORCED: tr("It had waited long enough to be told."),
        RecallWay.NEWS: tr("You asked for news."),
        RecallWay.RETURN: tr("It waited for you to come back."),
        RecallWay.TIME: tr("You asked about this time."),
        RecallWay.OPENING: tr("A conversation began, and this is among what matters most to {name}."),
    }
    return words[way].format(name=name)


def _reminded(one: Surfaced, asked: str, name: str) -> str:
    lead = one.recollection.leads[0] if one.recollection.leads else None
    said = quoted(spoken(lead.words if lead else (), asked))
    line = cited(lead.text) if lead else ""
    if one.kind is SourceKind.FACT:
        words = tr("You said {said}, and {name} knows this.") if said else tr("{name} knows this, and you spoke of the same.")
    elif found_lines(one):
        words = tr("You said {said}, and this was said back then.") if said else tr("You spoke of this before.")
    elif one.kind is SourceKind.CONVERSATION and line:
        words = tr("You said {said}, and it was about that: {line}") if said else tr("It was about the same: {line}")
    else:
        words = tr("You said {said}, and this is about it.") if said else tr("What you said means nearly the same.")
    return words.format(said=said, name=name, line=line)


def _named(one: Surfaced) -> str:
    told = " ".join(because.what for because in one.recollection.because)
    key = match[1] if (match := _QUOTED.search(told)) else ""
    is_earlier = "before" in told.replace(f"“{key}”", "")
    if one.recollection.way is RecallWay.TITLE:
        words = tr("“{key}” was named a moment before.") if is_earlier else tr("You named “{key}”.")
    elif is_earlier:
        words = tr("“{key}” was said a little earlier: a word that brings this up.")
    else:
        words = tr("You said “{key}”: a word that brings this up.")
    return words.format(key=key)


def spoken(words: Iterable[str], asked: str) -> list[str]:
    """The user's own words behind the folded ones that were compared, in the order in which they were said."""
    roots = [word.casefold() for word in words]
    said: dict[str, str] = {}
    for token in _WORD.findall(asked):
        folded = token.casefold()
        if any(_alike(folded, root) for root in roots):
            said.setdefault(folded, token)
    return list(said.values())[:MOST_WORDS]


def _alike(word: str, root: str) -> bool:
    """Forms of one word: the beginning is the same, and only an ending differs."""
    beginning = root[: max(4, len(root) - 2)]
    return word == root or (len(root) > 3 and word.startswith(beginning) and len(word) <= len(beginning) + 3)


def quoted(words: list[str]) -> str:
    """“a”, “b” and “c”."""
    marked = [f"“{word}”" for word in words]
    if len(marked) < 2:
        return "".join(marked)
    return tr("{first} and {last}").format(first=", ".join(marked[:-1]), last=marked[-1])


def shortened(text: str, most: int = LONGEST_QUOTE) -> str:
    """As one line that ends between two words."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most].rsplit(' ', 1)[0]}…"


def cited(text: str, most: int = LONGEST_QUOTE) -> str:
    """A line between quotation marks, behind the name of whoever said it."""
    found = _SAID.match(text)
    words = shortened(found[2] if found else text, most).removeprefix("“").removesuffix("”")
    return tr("{name}: “{words}”").format(name=found[1], words=words) if found else f"“{words}”"


def whence_words(whence: Whence, present: datetime) -> str:
    """Where it was said: “First night”, 3 Nov."""
    day = age_in_words(whence.time, present)
    return tr("“{title}”, {day}").format(title=shortened(whence.title, 40), day=day) if whence.title else day


def lead_words(lead: RecallLead) -> str:
    """What kind of text led there."""
    return {
        "fact": tr("known"),
        "message": tr("said"),
        "summary": tr("summary"),
        "sentence": tr("summary"),
        "world": tr("entry"),
    }.get(lead.kind, tr("memory"))


def likely_words(one: Surfaced) -> str:
    """How sure she was that it was meant."""
    share = one.recollection.likelihood
    if one.recollection.way not in {RecallWay.MEANING, RecallWay.FACT}:
        return tr("by a rule, so for sure")
    return tr("{percent} % likely to be meant").format(percent=QLocale().toString(round(100 * share)))


def kept_back_words(one: NotRecalled) -> str:
    """Why it did not come."""
    return {
        "not relevant": tr("You said it did not belong here."),
        "crowded out": tr("Others were more important, and only a few can come."),
        "secondary": tr("Its first word was said, the others it waits for were not."),
        "chance": tr("It comes only sometimes, and this time the dice were against it."),
        "cooldown": tr("It came a short while ago and rests."),
        "delay": tr("It waits until the conversation is longer."),
        "group": tr("Another of its group came."),
        "budget": tr("There was no room left for it in the prompt."),
        "disabled": tr("It is switched off."),
        "not due": tr("Its time has not come, or is over."),
        "recursion limit": tr("Too many others led to it."),
    }.get(one.why, one.why)


def why_nothing(behind: ReplySources, name: str) -> tuple[str, str]:
    """Title and sentence where no memory stands behind a reply."""
    if behind.asked is None:
        text = tr("{name} began this conversation without being asked. Memories come with your words.")
        return tr("Nothing was needed"), text.format(name=name)
    if not behind.is_known:
        return tr("Nothing is known of it"), tr("This reply was written before Lethe kept what came to mind.")
    if behind.forgotten:
        return tr("Forgotten since"), tr("What came to mind for this reply is no longer remembered.")
    if behind.remark:
        return tr("Nothing was said then"), behind.remark
    return _why_nothing_came(behind, name)


def _why_nothing_came(behind: ReplySources, name: str) -> tuple[str, str]:
    """Title and sentence where the user's words brought up no memory."""
    whole = behind.word_for_word
    if behind.always and not whole:
        return tr("No further memories used"), tr("Your words led to nothing beyond what is always in the prompt.")
    if not whole:
        text = tr("Your words led to nothing {name} remembers. Not every reply needs a memory.")
        return tr("Nothing came to mind"), text.format(name=name)
    title = tr("“{title}”").format(title=whole[0].strip()) if whole[0].strip() else tr("The last conversation")
    if len(whole) == 1:
        text = tr("{title} still stands word for word in what {name} reads, so nothing of it had to come to mind.")
    else:
        text = tr("{title} and what was before it stand word for word in what {name} reads: none of it had to come to mind.")
    return tr("Nothing had to come to mind"), text.format(name=name, title=title)
