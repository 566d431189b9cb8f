"""Labels for recalled memories: kind, text, reason of the recall, source, and why others were not used."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from PySide6.QtCore import QCoreApplication, QLocale

from lethe_app.domain.memory import MemoryType
from lethe_app.domain.recall import BlockedMemory, BlockReason, RecallLead, RecallWay
from lethe_app.searchable_text import fold
from lethe_app.services.chat.reply_source_reader import FROM_FILES, ReplyMemory, ReplySources, SourceKind, StatementOrigin
from lethe_app.ui.core.formatting import format_age, join_with_and, shorten_text
from lethe_app.ui.core.labels.dates import spell_out_dates
from lethe_app.ui.core.labels.memories import format_kind as format_category

MAX_QUOTED_WORDS = 3
"""Maximum number of words quoted from the user's message."""
MAX_QUOTE_LENGTH = 160
"""Maximum number of characters of a quoted line."""
_HEADING = re.compile(r"^(#+ .*|\*\*.+?\*\*(?: \(.+?\))?:? ?)")
"""Title and date of a summary, as Markdown heading or bold text; the card shows both already."""
_SPEECH_LINE = re.compile(r'^(.{1,60}?) said, "(.*)"$', re.DOTALL)
"""Indexed message in the form `NAME said, "TEXT"`."""
_NOTE_PAIR = re.compile(r"(\w[\w ]*)=(.+?)(?=, \w[\w ]*=|$)")
"""One pair of the session notes; a value may contain commas."""
UNNAMED_CATEGORIES = frozenset({MemoryType.GENERAL, MemoryType.WORLD_INFO, MemoryType.CHAT_SESSION})
"""Categories that a card calls just a memory."""
_WORD = re.compile(r"\w[\w’']*")


def tr(text: str) -> str:
    """Translate a label in the context "Memory"."""
    return QCoreApplication.translate("Memory", text)


def format_kind(memory: ReplyMemory) -> str:
    """Return the kind of a memory as a title."""
    if memory.recollection.is_notebook:
        return tr("Notebook")
    if memory.kind is SourceKind.WORLD:
        return tr("World · {name}").format(name=memory.recollection.world)
    if memory.kind is SourceKind.DOCUMENT:
        return tr("Document")
    if memory.kind is SourceKind.FACT:
        return tr("Fact")
    if memory.kind is SourceKind.CONVERSATION:
        return tr("Earlier conversation")
    category = memory.recollection.category
    return tr("Memory") if category in UNNAMED_CATEGORIES else format_category(category)


def is_remembered(memory: ReplyMemory) -> bool:
    """Return whether something is a memory, and so is amber, and not from a world or a document."""
    return memory.kind not in FROM_FILES or memory.recollection.is_notebook


def format_card_text(memory: ReplyMemory, persona_name: str = "") -> str:
    """Return the text of a card in its current form, without heading and date; `name` is the persona's. For a session the
    matched lines come first.
    """
    text = memory.text.strip()
    if persona_name:
        text = text.replace("{{char}}", persona_name)
    if memory.recollection.is_notebook:
        lines = spell_out_dates(text.partition("\n")[2] or text).splitlines()
        return "\n".join(f"• {line.removeprefix('- ')}" if line.startswith("- ") else line for line in lines)
    if memory.kind is not SourceKind.CONVERSATION:
        return text
    matched_lines = list_matched_lines(memory)
    rest = [line for line in strip_headings(text).splitlines() if not (matched_lines and line.startswith("- "))]
    return "\n".join([*matched_lines, *rest])


def list_matched_lines(memory: ReplyMemory) -> list[str]:
    """Return the messages and facts of a session that matched, outdated ones marked; empty for anything but a session."""
    if memory.kind is not SourceKind.CONVERSATION:
        return []
    leads = [lead for lead in memory.recollection.leads if lead.kind in {"message", "fact"}]
    return [_format_matched_line(lead) for lead in leads]


def _format_matched_line(lead: RecallLead) -> str:
    line = quote_line(lead.text) if _SPEECH_LINE.match(lead.text) else lead.text
    return tr("{line} (outdated)").format(line=line) if lead.is_outdated else line


def strip_headings(text: str) -> str:
    """Return the text of a summary without headings, titles and dates; the text itself if nothing else would be left."""
    lines = [_HEADING.sub("", line) for line in text.splitlines()]
    return "\n".join(line for line in lines if line.strip()) or text


def explain_recall(memory: ReplyMemory, user_message: str, persona_name: str) -> str:
    """Return one sentence about why a memory was recalled after `user_message`; `persona_name` is the name shown in it."""
    way = memory.recollection.way
    if way in {RecallWay.MEANING, RecallWay.FACT}:
        return _explain_semantic_recall(memory, user_message, persona_name)
    if way in {RecallWay.KEYWORD, RecallWay.TITLE}:
        return _explain_keyword_recall(memory)
    if way is RecallWay.CONSTANT and memory.kind is SourceKind.WORLD:
        return tr("This entry is constant: it is active in every message.")
    templates = {
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
    return templates[way].format(name=persona_name)


def _explain_semantic_recall(memory: ReplyMemory, user_message: str, persona_name: str) -> str:
    lead = memory.recollection.leads[0] if memory.recollection.leads else None
    shared_words = [word for each in memory.recollection.leads for word in each.words]
    quoted_words = join_with_and([f"“{word}”" for word in find_matching_words(shared_words, user_message)])
    line = quote_line(lead.text) if lead else ""
    if memory.kind is SourceKind.FACT:
        template = (
            tr("You mentioned {said}, and {name} knows this.")
            if quoted_words
            else tr("{name} knows this, and your message is about the same topic.")
        )
    elif list_matched_lines(memory):
        template = (
            tr("You mentioned {said}, which came up in this conversation.")
            if quoted_words
            else tr("You talked about this before.")
        )
    elif memory.kind is SourceKind.CONVERSATION and line:
        template = (
            tr("You mentioned {said}, which this conversation was about: {line}")
            if quoted_words
            else tr("Similar in meaning: {line}")
        )
    elif memory.kind is SourceKind.DOCUMENT:
        template = (
            tr("You mentioned {said}, which is in this document.")
            if quoted_words
            else tr("Similar in meaning to your message.")
        )
    else:
        template = (
            tr("You mentioned {said}, which this memory is about.")
            if quoted_words
            else tr("Similar in meaning to your message.")
        )
    return template.format(said=quoted_words, name=persona_name, line=line)


def _explain_keyword_recall(memory: ReplyMemory) -> str:
    values = memory.recollection.because[0].values if memory.recollection.because else {}
    key = values.get("name", values.get("key", ""))
    is_earlier = values.get("before", 0) != 0
    if memory.recollection.way is RecallWay.TITLE:
        template = tr("“{key}” was mentioned shortly before.") if is_earlier else tr("You mentioned “{key}”.")
    elif is_earlier:
        template = tr("The keyword “{key}” was used shortly before.")
    else:
        template = tr("You used the keyword “{key}”.")
    return template.format(key=key)


def find_matching_words(index_words: Iterable[str], user_message: str) -> list[str]:
    """Return up to `MAX_QUOTED_WORDS` words of `user_message` that match the case-folded words of the index, in
    their order in the message.
    """
    roots = [fold(word) for word in index_words]
    matches: dict[str, str] = {}
    for token in _WORD.findall(user_message):
        folded = fold(token)
        if any(_is_same_word(folded, root) for root in roots):
            matches.setdefault(folded, token)
    return list(matches.values())[:MAX_QUOTED_WORDS]


def _is_same_word(word: str, root: str) -> bool:
    """Return whether two case-folded words are forms of one word: same beginning, and only a short ending differs."""
    beginning = root[: max(4, len(root) - 2)]
    return word == root or (len(root) > 3 and word.startswith(beginning) and len(word) <= len(beginning) + 3)


def quote_line(text: str, max_length: int = MAX_QUOTE_LENGTH) -> str:
    """Return a line in quotation marks, preceded by its speaker if the line names one."""
    match = _SPEECH_LINE.match(text)
    words = shorten_text(match[2] if match else text, max_length).removeprefix("“").removesuffix("”")
    return tr("{name}: “{words}”").format(name=match[1], words=words) if match else f"“{words}”"


def format_source(source: StatementOrigin, current_time: datetime) -> str:
    """Return title and age of a source: “First night”, 3 Nov."""
    day = format_age(source.time, current_time)
    return tr("“{title}”, {day}").format(title=shorten_text(source.title, 40), day=day) if source.title else day


def format_lead_kind(lead: RecallLead) -> str:
    """Return the kind of the matched text."""
    return {
        "fact": tr("fact"),
        "message": tr("message"),
        "summary": tr("summary"),
        "sentence": tr("summary"),
        "world": tr("entry"),
    }.get(lead.kind, tr("memory"))


def format_likelihood(memory: ReplyMemory) -> str:
    """Return the estimated relevance in percent, or that a rule matched."""
    likelihood = memory.recollection.likelihood
    if memory.recollection.way not in {RecallWay.MEANING, RecallWay.FACT}:
        return tr("matched by a rule")
    return tr("{percent} % likely to be relevant").format(percent=QLocale().toString(round(100 * likelihood)))


def format_block_label(blocked_memory: BlockedMemory) -> str:
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
        BlockReason.DECORATOR: tr("A condition of its decorators is not met."),
        BlockReason.DISABLED: tr("Disabled."),
        BlockReason.NOT_DUE: tr("Not due yet, or expired."),
        BlockReason.RECURSION: tr("The recursion limit was reached."),
    }[blocked_memory.why]


def explain_no_memories(sources: ReplySources, persona_name: str) -> tuple[str, str]:
    """Return title and sentence for a reply without recalled memories."""
    if sources.user_message is None:
        text = tr("{name} started this conversation. Memories are recalled in reply to your messages.")
        return tr("No memories used"), text.format(name=persona_name)
    if sources.is_incognito:
        text = tr("Which memories a reply used is not recorded in an incognito conversation.")
        return tr("No information available"), text
    if not sources.is_known:
        return tr("No information available"), tr("This reply was written before Lethe recorded which memories were used.")
    if sources.forgotten:
        return tr("Memories since forgotten"), tr("The memories used for this reply have been forgotten since.")
    if sources.remark:
        return tr("No conversation at that time"), sources.remark
    return _explain_no_match(sources, persona_name)


def _explain_no_match(sources: ReplySources, persona_name: str) -> tuple[str, str]:
    """Return title and sentence for a message that matched no memory."""
    full_session_titles = sources.full_session_titles
    if sources.unwanted:
        text = tr("You marked everything that your message recalled as irrelevant. A regenerated reply does not use it.")
        return tr("Marked as irrelevant"), text
    if sources.stable_content and not full_session_titles:
        return tr("No further memories used"), tr("Your message recalled nothing beyond what is always in the prompt.")
    if not full_session_titles:
        text = tr("None of {name}’s memories matched your message. Not every reply needs one.")
        return tr("No memories used"), text.format(name=persona_name)
    title = (
        tr("“{title}”").format(title=full_session_titles[0].strip())
        if full_session_titles[0].strip()
        else tr("The last conversation")
    )
    if len(full_session_titles) == 1:
        text = tr("{title} is still in the prompt word for word, so {name} needs no memories of it.")
    else:
        text = tr(
            "{title} and the conversations before it are in the prompt in full, so {name} does not need memories of them."
        )
    return tr("No memories needed"), text.format(name=persona_name, title=title)


def format_session_notes(block: str) -> str:
    """Return the session notes of a prompt, “Known facts about this session: home=Porto.”, one per line: “Home: Porto”."""
    pairs = _NOTE_PAIR.findall(block)
    titles = {"user_name": tr("Your name")}
    lines = [f"{titles.get(key, key.replace('_', ' ').capitalize())}: {value.rstrip('.')}" for key, value in pairs]
    return "\n".join(lines) or block.strip()
