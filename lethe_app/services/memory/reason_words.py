"""English texts of the reasons why memories were recalled or kept back; the window translates these templates.

A `Reason` is made where a memory is recalled: in `brain/recall`, `recallers`, `search`, `lore`, `time_search` and the recall of
notebooks. Each function returns a template in which `{name}` is a placeholder for the reason's value with that key.
"""

from __future__ import annotations

from collections.abc import Mapping

from lethe_app.domain.recall import BlockedMemory, BlockReason, Parameter, Reason, ReasonKind

REASONS = {
    ReasonKind.ALWAYS: "it is always included",
    ReasonKind.STAYS: "it was recalled a few turns ago and stays active",
    ReasonKind.STAYS_UNTIL: "it stays active until turn {turn}",
    ReasonKind.OPENING: "a new conversation begins, and it is among the most important memories",
    ReasonKind.NO_KEY: "none of the keys occurs that would keep it back",
    ReasonKind.ENTRY: "its key “{key}” is in the entry “{entry}”",
    ReasonKind.ASKED_FOR: "the message asks about it",
    ReasonKind.TIME: "“{words}” matches its date",
    ReasonKind.ASKED_TIME: "the message asks about the conversation of that time: {words}",
    ReasonKind.NOTEBOOK: "the conversation turned to the subject of this notebook",
    ReasonKind.NOTEBOOK_CONTINUED: "the conversation is still about the subject of this notebook",
    ReasonKind.DISTANCE: "the message is close to it in meaning",
    ReasonKind.TITLE_WORD: "its title contains the word “{word}”",
    ReasonKind.WAITED: "it has waited long enough, in messages",
    ReasonKind.NEWS: "the message asks for news: “{words}”",
    ReasonKind.DUE: "it is due",
    ReasonKind.AWAY: "hours the user was away",
    ReasonKind.NOTES_WAITED: "notes that waited for the user's return",
    ReasonKind.MEMORIES_WAITED: "memories that waited for the user's return",
}
KEYS = (
    "its key “{key}” is in the message",
    "its key “{key}” is in the message before it",
    "its key “{key}” is {before} messages earlier",
)
"""Templates by the number of messages between the newest one and the one with the key: 0, 1, or more."""
NAMES = (
    "its name, “{name}”, is in the message",
    "its name, “{name}”, is in the message before it",
    "its name, “{name}”, is {before} messages earlier",
)
SIGNALS = {
    "together": "two topics of the message occur together there",
    "said": "a line says nearly the same as the message",
    "about": "a known fact is about the same",
    "summary": "the summary has a sentence about the same",
    "date": "it was at the time that the message names",
    # Signals of earlier versions, which are stored with their replies.
    "beginning": "it was among the first conversations, which the message is about",
    "lately": "it was recent, which the message is about",
}
"""Templates by the name of the ranking signal."""
SHARED_WORD, SHARED_WORDS = "it contains the word {words}", "it contains the words {words}"
BLOCKS = {
    BlockReason.SECONDARY: "the selective logic “{condition}” is not met",
    BlockReason.CHANCE: "the roll was {drawn}, and it had to be below {chance}",
    BlockReason.COOLDOWN: "cooldown until turn {until}, this is turn {turn}",
    BlockReason.DELAY: "delayed until message {needed}, this is message {messages}",
    BlockReason.GROUP: "“{winner}” was chosen from the group “{group}”",
    BlockReason.BUDGET: "{cost} tokens needed, {left} left in the budget",
    BlockReason.DISABLED: "disabled",
    BlockReason.CROWDED_OUT: "at most {most} are recalled, and others rank higher than {rank}",
    BlockReason.DECORATOR: "the condition @@{name} is not met",
    BlockReason.UNWANTED: "marked as irrelevant to such messages",
}
GROUP_BY_KEYS = "“{winner}” was chosen from the group “{group}”: {more} of its keys matched, {fewer} of this one"
BEGINS, ENDED = "active from {begins}", "expired on {ended}"
ROUND, ROUNDS = "activated from recursion round {round} on", "at most {rounds} recursion rounds"


def reason_template(reason: Reason) -> str:
    """Return the template of a reason."""
    match reason.kind:
        case ReasonKind.KEY:
            return KEYS[_template_index(reason.values)]
        case ReasonKind.NAME:
            return NAMES[_template_index(reason.values)]
        case ReasonKind.SIGNAL:
            return SIGNALS.get(str(reason.values.get("signal", "")), "{signal}")
        case ReasonKind.SHARED_WORDS:
            return SHARED_WORD if reason.values.get("count") == 1 else SHARED_WORDS
        case kind:
            return REASONS[kind]


def block_template(block_reason: BlockReason, values: Mapping[str, Parameter]) -> str:
    """Return the template of the reason why a memory was kept back."""
    match block_reason:
        case BlockReason.GROUP if "more" in values:
            return GROUP_BY_KEYS
        case BlockReason.NOT_DUE:
            return BEGINS if "begins" in values else ENDED
        case BlockReason.RECURSION:
            return ROUND if "round" in values else ROUNDS
        case kind:
            return BLOCKS[kind]


def reason_in_english(reason: Reason) -> str:
    """Return a reason in English."""
    return fill_template(reason_template(reason), reason.values)


def block_in_english(blocked: BlockedMemory) -> str:
    """Return in English why a memory was kept back."""
    return fill_template(block_template(blocked.why, blocked.values), blocked.values)


def fill_template(template: str, values: Mapping[str, Parameter]) -> str:
    """Return a template with its values inserted; a missing one, as in a record of an older version, becomes “…”."""
    return template.format_map(_Values(values))


def reason_templates() -> list[str]:
    """Return the templates of all reasons, for translators."""
    return [*REASONS.values(), *KEYS, *NAMES, *SIGNALS.values(), SHARED_WORD, SHARED_WORDS]


def block_templates() -> list[str]:
    """Return the templates of all reasons to keep a memory back, for translators."""
    return [*BLOCKS.values(), GROUP_BY_KEYS, BEGINS, ENDED, ROUND, ROUNDS]


def _template_index(values: Mapping[str, Parameter]) -> int:
    return min(max(int(values.get("before", 0)), 0), 2)


class _Values(dict[str, Parameter]):
    def __missing__(self, key: str) -> str:
        return "…"
