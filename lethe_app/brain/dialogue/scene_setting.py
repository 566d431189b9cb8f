"""Detect where a user sets up, leaves or ends a roleplay scene."""

from __future__ import annotations

import re

_PLAY = r"(?:role-? ?play(?:ing)?|rp|scene|story|adventure(?! park)|scenario|improv|(?:d&d|dnd|dungeons) [\w& ]*campaign)"
_PERSONA_ROLE = r"you(?:'re| are|'ll be| will be| be| play| can be)(?: as)? (?:an?|the|my) [^.!?\n]{2,50}?"
_USER_ROLE = r"(?:I(?:'m| am|'ll be| will be| play| be|'ll play| can be)|me)(?: as)?"
_SCENE_DECLARATION = re.compile(
    r"\blet'?s (?:do|start|try|have|begin|continue|play(?: out)?|write|make|act out|run|set up) (?:an? |the |our |some |"
    r"another |"
    rf"this |with an? )?(?:[\w-]+ ){{0,2}}?{_PLAY}\b"
    r"|\blet'?s (?:role-?play|rp|pretend|play pretend|play make[- ]believe|play (?:that )?(?:you|we|I)\b|play: )"
    r"|\b(?:wanna|want to|can we|could we|shall we|should we|would you like to|I'd like to) (?:role-? ?play|rp|play pretend|"
    rf"(?:do|try|start|play|have|act out|continue) (?:an? |some |our |the )?(?:[\w-]+ ){{0,2}}?{_PLAY})\b"
    r"|^\W*(?:rp|role-?play|scene|setting|scenario)\s*[:—–]"
    r"|\b(?:can we|could we|shall we|let'?s) (?:be|play) (?!friends|buddies|mates|partners|lovers|besties|pals|games|cards|"
    r"siblings)"
    r"(?:[\w-]+ )?[a-z]+(?:s|men)\b(?= (?:for|now|tonight|again|instead)\b|\W*$)"
    r"|\b(?:be|you(?:'re| are)|play|act as) (?:my |the |our |a )?(?:dungeon|game) master\b"
    rf"|\b(?:pretend|imagine|suppose|let'?s say|scenario|picture)\b[^.!?\n]{{0,20}}\b{_PERSONA_ROLE}(?:,|;| and|"
    rf"\.) ?(?:and )?{_USER_ROLE} "
    rf"|\b{_PERSONA_ROLE}(?:,|;| and|\.) ?(?:and )?{_USER_ROLE} (?:your|the)\b(?! (?:best|worst|one|only|lucky|problem|same|"
    rf"opposite))"
    r"|\bI(?:'ll| will|'m going to|'m gonna) (?:be|play)(?: as)? (?:an?|the|your|my) [^.!?\n]{2,50}?(?:,|;| and|"
    r"\.) ?(?:and )?"
    r"you(?:'re| are|'ll be| will be| be| can be| play)\b"
    r"|\bI(?:'m| am) (?:the|your) (?!best|worst|one|only|lucky|problem|same)[^.!?\n]{2,40}?(?:,| and) ?(?:and )?"
    r"you(?:'re| are) (?:the|my)\b"
    r"|(?:^|[.!?:,]\s*)(?:(?:ok(?:ay)?|now|so|hey|can we|could we|please|just)[\s,]+)*(?:pretend|"
    r"make believe)(?: that)? (?:we|I)(?:'re|'m| are| am)\b",
    re.IGNORECASE,
)
_COMPANION_ROLE = re.compile(
    r"\b(?:girlfriend|boyfriend|wife|husband|married|couple|lovers?|dating|friends?|siblings?|sister|brother|family|"
    r"roommates?)\b",
    re.IGNORECASE,
)
"""Roles of a companion, in which the user keeps their own identity."""
_CHARACTER_REQUEST = re.compile(
    r"(?:^|[.!?,\n]\s*|\b(?:can|could|would|will) you |\bplease |\bnow |\bi want you to |\blet'?s )"
    r"(?:(?:pretend|imagine|act|speak|talk|answer|respond|reply)\b[^.!?\n]{0,25}?\b(?:to be|you(?:'re| are)|as if you|as an?|"
    r"as the|like an?)\b|(?:do|give|write|have) (?:me )?an interview with\b)"
    r"|\bas (?:a|an|the) interviewer\b|^\W*you are (?:now )?(?:an?|the) (?!best|only|one|sweetest|worst|reason|first)",
    re.IGNORECASE,
)
_SCENE_END = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|alright|all right|right|well|haha+|lol|so|anyway|phew|wow|thanks|thank you|hey|oh|and|but|yeah|"
    r"man)\b[\s,.!…]*)*"
    r"(?:(?:speaking |going |stepping |a bit |let me go )?(?:out of character|ooc)\b|(?:let'?s |we can |can we |I want to |"
    r"I'd like to )?(?:end|stop|pause|leave|"
    r"drop|quit|finish|break)(?: (?:the|this|our|with the|playing|it|there|here))? ?(?:role-? ?play(?:ing)?|rp|scene|story|"
    r"game|play|acting|"
    r"character|playing|adventure|there|here)\b|(?:end|the end)(?: of)?(?: the| this| our)? ?(?:scene|rp|role-? ?play|"
    r"story|game)?\W*$"
    r"|(?:that|this|it)(?:'s| is| was)(?: \w+){0,2}? (?:fun|great|awesome|a (?:good|great|nice|fun|lovely) (?:one|scene|"
    r"story|game)|"
    r"enough (?:for|of|role|story|play)|hilarious)\b|enough (?:of (?:this|that|the)|role|story|play|for (?:today|now|"
    r"tonight))|"
    r"back to (?:reality|real life|normal|me|us|the real)|(?:in )?real life\b|irl\b|real talk\b|fade to black|"
    r"(?:good|great|nice|fun|lovely) (?:scene|rp|role-? ?play|story|game)\b|thanks for (?:playing|the (?:game|story|scene|"
    r"rp))|"
    r"let'?s (?:talk|chat) (?:about|normally)|can (?:I|we) (?:ask|tell|talk)(?: to)?(?: you)?(?: about)? something (?:real|"
    r"serious|else)|"
    r"(?:changing|change of) (?:the )?(?:subject|topic)|on (?:a|another) (?:different|more serious|serious|unrelated) note)",
    re.IGNORECASE,
)
_TOPIC_CHANGE = re.compile(r"^\W*(?:anyway|anyways|anyhow|so anyway|ok(?:ay)?,? (?:so )?anyway)\b", re.IGNORECASE)
_ASIDE = re.compile(
    r"\b(?:btw|by the way|irl|in real life|real talk|ooc|out of character|for real though|in reality)\b", re.IGNORECASE
)


def split_at_declaration(text: str) -> tuple[str, str, str]:
    """Split a text into what precedes, forms and follows the sentences that set up a scene with a role for the user.

    Without such a declaration the first two parts are empty.
    """
    match = _SCENE_DECLARATION.search(text)
    if not match:
        return "", "", text
    start = max(text.rfind(mark, 0, match.start() + 1) for mark in ".!?\n") + 1
    sentence_end = re.search(r"[.!?\n]|$", text[match.end() :])
    end = match.end() + (sentence_end.end() if sentence_end else 0)
    return text[:start], text[start:end], text[end:]


def is_companion_scene(text: str) -> bool:
    """Return whether the declared scene is only a relationship with the persona, in which the user still talks about their
    own life.
    """
    return bool(_COMPANION_ROLE.search(text))


def asks_for_character(text: str) -> bool:
    """Return whether the user asks the persona to speak as somebody else."""
    return bool(_CHARACTER_REQUEST.search(text))


def ends_scene(sentence: str, *, can_change_topic: bool) -> bool:
    """Return whether the sentence ends a scene; with `can_change_topic` a mere “anyway” is enough."""
    return bool(_SCENE_END.match(sentence) or (can_change_topic and _TOPIC_CHANGE.match(sentence)))


def is_out_of_character(sentence: str) -> bool:
    """Return whether the sentence marks itself as out of character."""
    return bool(_ASIDE.search(sentence))
