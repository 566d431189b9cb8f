"""Settings of what is remembered, from where, and for how long."""

from __future__ import annotations

from functools import partial

from pydantic import BaseModel

from lethe_app.config.form_field import SettingSection, setting

privacy = partial(setting, SettingSection.PRIVACY)
"""Declare a setting of its section."""


class PrivacySettings(BaseModel):
    """Settings of privacy."""

    memory_enabled: bool = privacy(
        True,
        "Remember and recall",
        "Learn from conversations, and recall what was learnt. Off, nothing is recalled and nothing new is learnt; what is "
        "stored remains.",
    )
    cross_session_recall: bool = privacy(
        True,
        "Recall from other conversations",
        "Recall memories, facts and summaries of other conversations. Worlds and documents are used in any case.",
    )
    redact_identifiers: bool = privacy(
        False,
        "Redact identifying data",
        "Replace e-mail addresses, phone, card and account numbers in your messages before they are stored; the model does not"
        " see them either.",
    )
    keep_retrieved_context: bool = privacy(
        True,
        "Keep retrieved context",
        "Store with each reply the texts that were recalled for it, and its prompt. Off, only the ids and kinds of what was "
        "recalled are stored, and no saved model states.",
    )
    keep_voice_transcripts: bool = privacy(
        True,
        "Keep voice transcripts",
        "Keep the text of dictated messages. Off, it is deleted permanently when its conversation has ended, with what is known"
        " from it alone. Sound is never stored.",
    )
    retention_days: int = privacy(
        0,
        "Delete conversations after",
        "Days without a message after which a conversation is deleted permanently, with the facts that are known from it alone;"
        " 0 = never. Pinned conversations are kept.",
        ge=0,
        le=36_500,
        minimum_label="never",
        unit="days",
    )

    @property
    def recalls_memories(self) -> bool:
        """True if memories of other conversations are recalled."""
        return self.memory_enabled and self.cross_session_recall
