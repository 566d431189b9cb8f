"""Text of a message without the sentences that the user wants forgotten, which are recognised by their digests."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable

from lethe_app.brain.text.clauses import extract_clauses
from lethe_app.brain.text.sentences import split_sentences


def digest_text(text: str) -> str:
    """Return a hash of a sentence, 24 hexadecimal digits; capitals, spaces and the marks at its ends make no difference."""
    plain = " ".join(text.casefold().split()).strip(' \t,.;:!?…。！？*"“”()-–—')
    return hashlib.blake2b(plain.encode(errors="surrogatepass"), digest_size=12).hexdigest()


def digests_of(text: str, withdrawn: Iterable[str]) -> list[str]:
    """Return the digests by which `remove_withdrawn` takes these parts out of a text, or that of the whole text for a part
    which is no sentence of it.
    """
    whole = digest_text(text)
    return [digest if remove_withdrawn(text, {digest}) != text else whole for digest in map(digest_text, withdrawn)]


def remove_withdrawn(text: str, digests: Collection[str]) -> str:
    """Return a text without the sentences and clauses that have one of these digests; unchanged if it has none."""
    if digest_text(text) in digests:
        return ""
    sentences = list(split_sentences(text))
    kept = [_remove_parts(sentence, digests) for sentence in sentences]
    return text if kept == sentences else " ".join(filter(None, kept))


def _remove_parts(sentence: str, digests: Collection[str]) -> str:
    """Return what is left of a sentence: nothing, its other clauses, or what follows its withdrawn beginning."""
    if digest_text(sentence) in digests:
        return ""
    clauses = extract_clauses(sentence)
    kept = [clause for clause in clauses if digest_text(clause) not in digests]
    if kept and kept != clauses:
        return " ".join(f"{clause}." for clause in kept)
    spaces = (index for index, character in enumerate(sentence) if character.isspace())
    return next((sentence[index:].lstrip() for index in spaces if digest_text(sentence[:index]) in digests), sentence)
