"""Check of a fact that a model extracted from a session: its quotation, its subject and its content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lethe_app.brain.fact_guard.checks import CHECKS
from lethe_app.brain.fact_guard.claims import Claim, LocatedClaim, SupportLevel
from lethe_app.brain.fact_guard.quotations import Quotation, find_quotation
from lethe_app.brain.reading.pieces import MessageParts
from lethe_app.brain.text.utterance import Utterance


@dataclass(frozen=True)
class CheckedClaim:
    """Result of checking a claim, with the actual location of its quotation."""

    support: SupportLevel
    reason: str = ""
    """Strongest objection; empty if there is none."""
    quotation: Quotation | None = None


def check_claim(claim: Claim, lines: Sequence[Utterance], parts: Sequence[MessageParts]) -> CheckedClaim:
    """Check one claim against the session it was extracted from; `parts` are those of `lines`.

    The support is FULL only if the quoted message states the claim plainly. It is DOUBTFUL if rules cannot decide, for
    example because the language is unknown; a model must then be asked whether the message states it.
    """
    quotation = find_quotation(claim.quote, claim.message_index, parts)
    if quotation is None:
        return CheckedClaim(SupportLevel.NONE, "the quotation does not stand there")
    case = LocatedClaim(claim, quotation, lines, parts)
    support, reason = min((check(case) for check in CHECKS), key=lambda outcome: outcome[0])
    return CheckedClaim(support, reason, quotation)
