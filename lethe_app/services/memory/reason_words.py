"""English texts of the reasons why memories were recalled or kept back; the window translates these templates.

A `Reason` is made where a memory is recalled: in `brain/recall`, `recallers`, `search`, `lore` and the recall of
notebooks. Each function returns a template in which `{name}` is a placeholder for the reason's value with that key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lethe_app.domain.recall import BlockedMemory, BlockReason, Parameter, Reason, ReasonKind
from lethe_app.language_tables import load_table


def reason_template(reason: Reason) -> str:
    """Return the template of a reason."""
    templates, values = _load_templates("reasons"), reason.values
    match reason.kind:
        case ReasonKind.KEY | ReasonKind.NAME:
            return str(templates[reason.kind][min(max(int(values.get("before", 0)), 0), 2)])
        case ReasonKind.SIGNAL:
            return str(_load_templates("signals").get(str(values.get("signal", "")), "{signal}"))
        case ReasonKind.SHARED_WORDS:
            return str(templates[reason.kind][values.get("count") != 1])
        case kind:
            return str(templates[kind])


def block_template(block_reason: BlockReason, values: Mapping[str, Parameter]) -> str:
    """Return the template of the reason why a memory was kept back."""
    templates, name = _load_templates("blocks"), str(block_reason)
    match block_reason:
        case BlockReason.SECONDARY if f"secondary {values.get('condition')}" in templates:
            name = f"secondary {values['condition']}"
        case BlockReason.GROUP if "more" in values:
            name = "group by keys"
        case BlockReason.NOT_DUE:
            name = "begins" if "begins" in values else "ended"
        case BlockReason.RECURSION:
            name = "round" if "round" in values else "rounds"
    return str(templates[name])


def reason_in_english(reason: Reason) -> str:
    """Return a reason in English."""
    return fill_template(reason_template(reason), reason.values)


def block_in_english(blocked: BlockedMemory) -> str:
    """Return in English why a memory was kept back."""
    return fill_template(block_template(blocked.why, blocked.values), blocked.values)


def fill_template(template: str, values: Mapping[str, Parameter]) -> str:
    """Return a template with its values inserted; a missing one, as in a record of an older version, becomes “…”."""
    return template.format_map(_Values(values))


def templates_of(*sections: str) -> list[str]:
    """Return all templates of these sections of the table, for translators: reasons, signals or blocks."""
    values = [value for section in sections for value in _load_templates(section).values()]
    return [text for value in values for text in ([value] if isinstance(value, str) else value)]


def _load_templates(section: str) -> Mapping[str, Any]:
    return load_table("recall_reasons")[section]  # type: ignore[no-any-return]  # as the table is written


class _Values(dict[str, Parameter]):
    def __missing__(self, key: str) -> str:
        return "…"
