"""World Info: a world (lorebook) of entries that are activated by keywords, stored as one readable JSON file."""

from __future__ import annotations

from uuid import UUID, uuid5

from pydantic import AliasChoices, BaseModel, Field, JsonValue, model_validator

from lethe_app.config.form_field import form_field
from lethe_app.domain.chat import Role
from lethe_app.domain.memory import MemoryType, MemoryUnit

_UNNAMED = UUID("5b0c6a5e-8f0b-4c53-9d0e-3a1f6a9f4a77")
_LONG_AGO = "1970-01-01T00:00:00Z"


class WorldEntry(MemoryUnit):
    """Lorebook entry with its keywords. `sticky` makes it constant: active without any keyword."""

    category: MemoryType = MemoryType.WORLD_INFO
    name: str = form_field("", "Name", placeholder="Entry title")
    content: str = form_field("", "Content", placeholder="Text added to the prompt when the entry is activated")
    priority: int = form_field(
        1, "Priority", "Entries with a higher priority are kept when the token budget is exceeded.", form_minimum=-1000
    )
    position_index: int = form_field(
        0,
        "Depth",
        "Number of messages below the content; fewer if they are long.",
        ge=-1,
        form_maximum=1000,
        minimum_label="system prompt",
    )
    duration: int = form_field(1, "Sticky (turns)", "Turns for which an activated entry stays active.", ge=1, form_maximum=1000)
    trigger_chance: float = form_field(
        1.0, "Probability", "Chance that the entry is activated when a key matches.", unit="%", ge=0.0, le=1.0
    )
    sticky: bool = form_field(False, "Constant", "Keep the entry active without any key.")
    keywords_main: list[str] = form_field(
        [],
        "Keys",
        "Words that activate the entry, separated by Enter or a comma; /…/i is a regular expression.",
        placeholder="word or name",
    )
    keywords_secondary: list[str] = form_field(
        [], "Secondary keys", "Keys that the selective logic above combines with the main keys.", placeholder="word or name"
    )
    outlet: str = form_field(
        "", "Outlet", "Name under which {{outlet::name}} inserts the content in another text; it then stands nowhere else."
    )
    case_sensitive: bool = form_field(False, "Case-sensitive", "Prevent “Rose” from matching “rose”.")
    whole_word: bool = form_field(True, "Match whole words", "Prevent “king” from matching “kingdom”.")
    """True has no effect in scripts that put no spaces between words."""
    scan_depth: int | None = form_field(
        None,
        "Scan depth",
        "Number of messages to scan for keys, besides the one being sent.",
        ge=0,
        form_maximum=200,
        minimum_label="world default",
    )
    cooldown: int = form_field(
        0,
        "Cooldown (turns)",
        "Turns after the sticky ones in which the entry cannot be activated again.",
        ge=0,
        form_maximum=1000,
        minimum_label="none",
    )
    delay: int = form_field(
        0,
        "Delay (messages)",
        "Messages that a conversation must have before the entry can be activated.",
        ge=0,
        form_maximum=10_000,
        minimum_label="none",
    )
    """Hidden messages do not count."""
    exclude_recursion: bool = form_field(
        False, "Exclude from recursion", "Ignore the texts of other entries when keys are matched."
    )
    prevent_recursion: bool = form_field(False, "Prevent further recursion", "Let the text of this entry activate no others.")
    delay_until_recursion: int = form_field(
        0,
        "Recursion level",
        "First recursion step in which the entry can be activated.",
        ge=0,
        form_maximum=10,
        minimum_label="no delay",
    )
    """0 is the first scan, before any recursion."""
    groups: list[str] = form_field(
        [], "Inclusion groups", "Groups of which only one entry can be active at a time.", placeholder="group name"
    )
    group_override: bool = form_field(False, "Prioritise in group", "Take precedence over the other entries of the group.")
    """Among several such entries, the one with the highest `order` is taken."""
    group_weight: int = form_field(
        100,
        "Group weight",
        "Relative probability of being chosen when one entry of a group is drawn.",
        ge=0,
        form_maximum=100_000,
    )
    group_scoring: bool | None = form_field(None, "Use group scoring", "Yield to entries of the group with more matching keys.")
    """None uses the world's value, as in `do_embeds`."""
    order: int = form_field(
        100, "Order", "Entries with a higher order are inserted later at the same position.", form_minimum=-100_000
    )
    """`priority` decides which entries exceed the budget, `order` only where an entry is placed."""
    role: Role = form_field(Role.SYSTEM, "Role", "Speaker as whom the content is inserted.")
    ignore_budget: bool = form_field(False, "Ignore budget", "Insert the entry regardless of the token budget.")
    """It does not count towards the budget either."""
    do_embeds: bool | None = form_field(None, "Recall by meaning", "Activate the entry by similar meaning as well as by key.")
    original: dict[str, JsonValue] = Field(default_factory=dict)
    """World Info fields of another program that have no counterpart here, kept for export."""


class World(BaseModel, extra="forbid"):
    """World (lorebook): a named collection of entries."""

    unique_name: str = ""
    """File name without ending. Set by storage when the file is read."""
    name: str = Field(min_length=1, title="Name", json_schema_extra={"placeholder": "World name"})
    description: str = form_field("", "Description", "Notes for yourself; never sent to the model.")
    do_embeds: bool = form_field(True, "Recall by meaning", "Activate entries by similar meaning as well as by key.")
    scan_depth: int = form_field(
        1,
        "Scan depth",
        "Number of messages to scan for keys, besides the one being sent.",
        ge=0,
        form_maximum=200,
        minimum_label="new message only",
    )
    min_activations: int = form_field(
        0,
        "Min activations",
        "Number of active entries below which older messages are scanned too, one by one.",
        ge=0,
        form_maximum=100,
        minimum_label="none",
        validation_alias=AliasChoices("min_activations", "least_awake"),
    )
    """It does not apply to entries with a scan depth of their own."""
    max_depth: int = form_field(
        50,
        "Max scan depth",
        "Maximum number of messages scanned to reach the min activations.",
        ge=0,
        le=200,
        validation_alias=AliasChoices("max_depth", "deepest_scan"),
    )
    group_scoring: bool = form_field(
        False, "Group scoring", "Choose the entry with the most matching keys in a group instead of a random one by weight."
    )
    recursive: bool = form_field(False, "Recursive scanning", "Let the text of active entries activate further entries.")
    """True also lets them activate entries of other recursive worlds."""
    token_budget: int | None = form_field(
        None, "Token budget", "Maximum tokens of all entries per turn.", unit="tokens", minimum_label="no limit", ge=0
    )
    entries: list[WorldEntry] = Field(default_factory=list)
    original: dict[str, JsonValue] = Field(default_factory=dict)
    """Fields of the file it was imported from that have no counterpart here, by format, kept for export."""

    @model_validator(mode="before")
    @classmethod
    def _identify_entries(cls, values: object) -> object:
        """Give entries written by hand a guid and a date. Both are derived from the entry, so that every reading of a file
        yields the same values.
        """
        if not isinstance(values, dict) or not isinstance(values.get("entries"), list):
            return values
        entries = enumerate(values["entries"])
        return {**values, "entries": [_identified(entry, index) for index, entry in entries]}


def _identified(entry: object, index: int) -> object:
    if not isinstance(entry, dict) or {"guid", "added"} <= entry.keys():
        return entry
    # Derived from name and content: a guid that changed with every reading would orphan passages and entry states.
    source = f"{entry.get('name') or index}\0{entry.get('content')}"
    return {"guid": str(uuid5(_UNNAMED, source)), "added": _LONG_AGO, **entry}
