"""Labels for recalled memories: kind, text, reason of the recall, source, and why others were not used."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from PySide6.QtCore import QCoreApplication, QLocale

from lethe_app.domain.memory import MemoryType
from lethe_app.domain.recall import BlockReason, NotRecalled, RecallLead, RecallWay
from lethe_app.services.chat.reply_sources import ReplySources, SourceKind, Surfaced, Whence
from lethe_app.ui.core.formatting import age_in_words

MOST_WORDS = 3
"""Maximum number of words quoted from the user's message."""
LONGEST_QUOTE = 160
"""Maximum number of characters of a quoted line."""
_HEADING = re.compile(r"^(#+ .*|\*\*.+?\*\*(?: \(.+?\))?:? ?)")
"""Title and date of a summary, as Markdown heading or bold text; the card shows both already."""
_SAID = re.compile(r'^(.{1,60}?) said, "(.*)"$', re.DOTALL)
"""Indexed message in the form `NAME said, "TEXT"`."""
_WORD = re.compile(r"\w[\w’']*")


def tr(text: str) -> str:
    """Translate a label in the context "Memory"."""
    return QCoreApplication.translate("Memory", text)


def kind_words(one: Surfaced) -> str:
    """Return the kind of a memory as a title."""
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
        MemoryType.JOURNAL: tr("Journal"),
        MemoryType.GOAL: tr("Goal"),
        MemoryType.REMINDER: tr("Reminder"),
        MemoryType.WEB_SEARCH: tr("Web search"),
        MemoryType.FILE: tr("File"),
        MemoryType.IMAGE: tr("Image"),
    }.get(one.recollection.category, tr("Memory"))


def drawing_of(one: Surfaced) -> str:
    """Return the icon name of a memory."""
    return "book" if one.kind is SourceKind.WORLD else "remembered"


def body(one: Surfaced, name: str = "") -> str:
    """Return the text of a card in its current form, without heading and date; `name` is the persona's. For a session the
    matched lines come first.
    """
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
    """Return the messages and facts of a session that matched, outdated ones marked; empty for anything but a session."""
    if one.kind is not SourceKind.CONVERSATION:
        return []
    leads = [lead for lead in one.recollection.leads if lead.kind in {"message", "fact"}]
    return [_found_line(lead) for lead in leads]


def _found_line(lead: RecallLead) -> str:
    line = cited(lead.text) if _SAID.match(lead.text) else lead.text
    return tr("{line} (outdated)").format(line=line) if lead.is_outdated else line


def unheaded(text: str) -> str:
    """Return the text of a summary without headings, titles and dates; the text itself if nothing else would be left."""
    lines = [_HEADING.sub("", line) for line in text.splitlines()]
    return "\n".join(line for line in lines if line.strip()) or text


def reason(one: Surfaced, asked: str, name: str) -> str:
    """Return one sentence about why a memory was recalled; `asked` is the user's message, `name` the persona's."""
    way = one.recollection.way
    if way in {RecallWay.MEANING, RecallWay.FACT}:
        return _reminded(one, asked, name)
    if way in {RecallWay.KEYWORD, RecallWay.TITLE}:
        return _named(one)
    if way is RecallWay.CONSTANT and one.kind is SourceKind.WORLD:
        return tr("This entry is constant: it is active in every message.")
    words = {
        RecallWay.CONSTANT: tr("This memory is pinned: {name} always remembers it."),
        RecallWay.ACTIVE: tr("Recalled a few messages ago and still active."),
        RecallWay.WOKEN: tr("Activated by another entry."),
        RecallWay.NATURAL: tr("Brought up because it fits the conversation."),
        RecallWay.FORCED: tr("Brought up because it had waited long enough."),
        RecallWay.NEWS: tr("You asked for news."),
        RecallWay.RETURN: tr("Saved for your return."),
        RecallWay.TIME: tr("You asked about this time."),
        RecallWay.OPENING: tr("One of {name}'s most important memories when the conversation began."),
    }
    return words[way].format(name=name)


def _reminded(one: Surfaced, asked: str, name: str) -> str:
    lead = one.recollection.leads[0] if one.recollection.leads else None
    said = quoted(spoken(lead.words if lead else (), asked))
    line = cited(lead.text) if lead else ""
    if one.kind is SourceKind.FACT:
        words = (
            tr("You mentioned {said}, and {name} knows this.")
            if said
            else tr("{name} knows this, and your message is about the same topic.")
        )
    elif found_lines(one):
        words = tr("You mentioned {said}, which came up in this conversation.") if said else tr("You talked about this before.")
    elif one.kind is SourceKind.CONVERSATION and line:
        words = (
            tr("You mentioned {said}, which this conversation was about: {line}") if said else tr("Similar in meaning: {line}")
        )
    else:
        words = tr("You mentioned {said}, which this memory is about.") if said else tr("Similar in meaning to your message.")
    return words.format(said=said, name=name, line=line)


def _named(one: Surfaced) -> str:
    values = one.recollection.because[0].values if one.recollection.because else {}
    key = values.get("name", values.get("key", ""))
    is_earlier = values.get("before", 0) != 0
    if one.recollection.way is RecallWay.TITLE:
        words = tr("“{key}” was mentioned shortly before.") if is_earlier else tr("You mentioned “{key}”.")
    elif is_earlier:
        words = tr("The keyword “{key}” was used shortly before.")
    else:
        words = tr("You used the keyword “{key}”.")
    return words.format(key=key)


def spoken(words: Iterable[str], asked: str) -> list[str]:
    """Return up to `MOST_WORDS` words of the user's message `asked` that match the case-folded words of the index, in their
    order in the message.
    """
    roots = [word.casefold() for word in words]
    said: dict[str, str] = {}
    for token in _WORD.findall(asked):
        folded = token.casefold()
        if any(_alike(folded, root) for root in roots):
            said.setdefault(folded, token)
    return list(said.values())[:MOST_WORDS]


def _alike(word: str, root: str) -> bool:
    """Return whether two case-folded words are forms of one word: same beginning, and only a short ending differs."""
    beginning = root[: max(4, len(root) - 2)]
    return word == root or (len(root) > 3 and word.startswith(beginning) and len(word) <= len(beginning) + 3)


def quoted(words: list[str]) -> str:
    """Join words as “a”, “b” and “c”."""
    marked = [f"“{word}”" for word in words]
    if len(marked) < 2:
        return "".join(marked)
    return tr("{first} and {last}").format(first=", ".join(marked[:-1]), last=marked[-1])


def shortened(text: str, most: int = LONGEST_QUOTE) -> str:
    """Return a text as one line of at most `most` characters, cut between two words."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most].rsplit(' ', 1)[0]}…"


def cited(text: str, most: int = LONGEST_QUOTE) -> str:
    """Return a line in quotation marks, preceded by its speaker if the line names one."""
    found = _SAID.match(text)
    words = shortened(found[2] if found else text, most).removeprefix("“").removesuffix("”")
    return tr("{name}: “{words}”").format(name=found[1], words=words) if found else f"“{words}”"


def whence_words(whence: Whence, present: datetime) -> str:
    """Return title and age of a source: “First night”, 3 Nov."""
    day = age_in_words(whence.time, present)
    return tr("“{title}”, {day}").format(title=shortened(whence.title, 40), day=day) if whence.title else day


def lead_words(lead: RecallLead) -> str:
    """Return the kind of the matched text."""
    return {
        "fact": tr("fact"),
        "message": tr("message"),
        "summary": tr("summary"),
        "sentence": tr("summary"),
        "world": tr("entry"),
    }.get(lead.kind, tr("memory"))


def likely_words(one: Surfaced) -> str:
    """Return the estimated relevance in percent, or that a rule matched."""
    share = one.recollection.likelihood
    if one.recollection.way not in {RecallWay.MEANING, RecallWay.FACT}:
        return tr("matched by a rule")
    return tr("{percent} % likely to be relevant").format(percent=QLocale().toString(round(100 * share)))


def kept_back_words(one: NotRecalled) -> str:
    """Return the reason why a memory was not used."""
    return {
        BlockReason.UNWANTED: tr("You marked it as irrelevant."),
        BlockReason.CROWDED_OUT: tr("Other memories were more important, and the limit was reached."),
        BlockReason.SECONDARY: tr("No secondary key matched."),
        BlockReason.CHANCE: tr("The probability roll failed."),
        BlockReason.COOLDOWN: tr("On cooldown."),
        BlockReason.DELAY: tr("Delayed until the conversation is longer."),
        BlockReason.GROUP: tr("Another entry of its group was chosen."),
        BlockReason.BUDGET: tr("The token budget was used up."),
        BlockReason.DISABLED: tr("Disabled."),
        BlockReason.NOT_DUE: tr("Not due yet, or expired."),
        BlockReason.RECURSION: tr("The recursion limit was reached."),
    }[one.why]


def why_nothing(behind: ReplySources, name: str) -> tuple[str, str]:
    """Return title and sentence for a reply without recalled memories."""
    if behind.asked is None:
        text = tr("{name} started this conversation. Memories are recalled in reply to your messages.")
        return tr("No memories used"), text.format(name=name)
    if not behind.is_known:
        return tr("No information available"), tr("This reply was written before Lethe recorded which memories were used.")
    if behind.forgotten:
        return tr("Memories since forgotten"), tr("The memories used for this reply have been forgotten since.")
    if behind.remark:
        return tr("No conversation at that time"), behind.remark
    return _why_nothing_came(behind, name)


def _why_nothing_came(behind: ReplySources, name: str) -> tuple[str, str]:
    """Return title and sentence for a message that matched no memory."""
    whole = behind.word_for_word
    if behind.always and not whole:
        return tr("No further memories used"), tr("Your message recalled nothing beyond what is always in the prompt.")
    if not whole:
        text = tr("Your message did not match any memory of {name}. Not every reply needs one.")
        return tr("No memories used"), text.format(name=name)
    title = tr("“{title}”").format(title=whole[0].strip()) if whole[0].strip() else tr("The last conversation")
    if len(whole) == 1:
        text = tr("{title} is still in the prompt word for word, so {name} needs no memories of it.")
    else:
        text = tr(
            "{title} and the conversations before it are in the prompt word for word, so {name} needs no memories of them."
        )
    return tr("No memories needed"), text.format(name=name, title=title)
