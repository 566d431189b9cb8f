"""Check of a fact that a model extracted from a session: its quotation, its subject and its content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lethe_app.brain.dialogue.dialogue_pieces import MessageParts
from lethe_app.brain.fact_guard.claim_contents import (
    check_absolutes,
    check_hedges,
    check_language,
    check_names,
    check_negations,
    check_questions,
    check_sentiments,
    check_tenses,
    check_wording,
)
from lethe_app.brain.fact_guard.claim_subjects import (
    check_clause_subject,
    check_foreign_subject,
    check_possessors,
    check_relations,
    check_speaker,
)
from lethe_app.brain.fact_guard.claims import Claim, LocatedClaim, Outcome, SupportLevel
from lethe_app.brain.fact_guard.languages import ENGLISH
from lethe_app.brain.fact_guard.quotations import Quotation, find_quotation
from lethe_app.brain.text.utterance import Utterance

_GENERAL_CHECKS = (check_language, check_speaker, check_hedges, check_negations, check_questions, check_names, check_wording)
_ENGLISH_CHECKS = (check_clause_subject, check_possessors, check_relations, check_sentiments, check_tenses, check_absolutes)
_FOREIGN_CHECKS = (check_foreign_subject,)


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
    checks: Sequence[Callable[[LocatedClaim], Outcome]] = (
        *_GENERAL_CHECKS,
        *(_ENGLISH_CHECKS if case.language is ENGLISH else _FOREIGN_CHECKS),
    )
    support, reason = min((check(case) for check in checks), key=lambda outcome: outcome[0])
    return CheckedClaim(support, reason, quotation)
