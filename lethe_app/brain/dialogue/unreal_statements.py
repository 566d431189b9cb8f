"""Detect sentences that are no facts about the speaker: hypothetical, dreamt, about a game, or about being a language model."""

from __future__ import annotations

import re

from lethe_app.brain.vocabulary.verbs import BASE_VERBS

_HYPOTHESIS = re.compile(
    r"^\W*(?:(?:and|but|so|ok|okay|well|hey|hm+|lol)\b[\s,]*)*(?:imagine|suppose|supposing|what if|let'?s (?:say|imagine|"
    r"suppose)|picture (?:this|me)|"
    r"say I (?:was|were|had)|hypothetically|if (?:only )?(?:I|we|my \w+) (?:ever )?(?:were|was|had|could|won|lived|got rich|"
    r"became|ruled|inherited|didn't|weren't|"
    r"wasn't)|if it (?:were|was)(?:n't)?|"
    r"in (?:another|my next|a past|a different|an alternate) (?:life|universe|world|timeline)|had I\b|were I\b)"
    r"|\b(?:I|we)(?:'d| would)(?: (?:probably|rather|never|totally|definitely|maybe))? [a-z]+\b[^.!?]*\bif (?:I|we|it|"
    r"my \w+) (?:were|was|had|could|won|"
    r"lived|didn't|wasn't|weren't)\b"
    r"|\b(?:dreamt|dreamed|nightmare|had (?:a|this|the) (?:\w+ )?dream)\b(?! (?:job|house|home))|\b(?:in|from) my (?:dream|"
    r"nightmare)s?\b|/s\W*$"
    r"|\b(?:write|tell|make up|generate|create)\b[^.!?]*\b(?:story|poem|scene|tale|song|fairy ?tale|"
    r"fan ?fic(?:tion)?)\b[^.!?]*\bI(?:'m| am|'ve| have| was)\b",
    re.IGNORECASE,
)
_DREAM = re.compile(
    r"\b(?:dreamt|dreamed|nightmare|(?:had|have) (?:an?|this|the|such an?) (?:[\w-]+ ){0,2}dream|(?:weird|strange|crazy|bad|"
    r"odd)(?:est)? "
    r"dream)\b",
    re.IGNORECASE,
)
_DREAM_CONTENT = re.compile(
    r"\W*(?:(?:and|then|so|but|like|suddenly|basically|it was)\b,? ?)*(?:I|we|you|he|she|they|it|there|my \w+|everyone|"
    r"everybody) "
    r"(?:was|were|had|couldn't|could|kept|\w+ed|got|went|saw|ran|flew|fell|said|lived|came)\b",
    re.IGNORECASE,
)
_WAKING_LIFE = re.compile(
    r"\b(?:woke|awake|today|yesterday|last (?:night|week|year)|anyway|now|years? ago|in real life|irl|alarm)\b", re.IGNORECASE
)
_GAME = re.compile(
    r"\b(?:my (?:character|avatar|sim|sims|oc|paladin|wizard|tiefling|minecraft|skyrim|d&d)\b(?! traits?)|in[- ]game\b|"
    r"in (?:the|this|that|my) (?:video ?)?game\b|"
    r"playing as\b|in (?:skyrim|minecraft|the sims|stardew(?: valley)?|animal crossing|zelda|fortnite|roblox|"
    r"world of warcraft|wow|"
    r"baldur'?s gate|fallout|gta|the witcher|elden ring|pok[eé]mon)\b)",
    re.IGNORECASE,
)
_GAME_NAME = re.compile(
    r"\W*(?:(?:mostly|just|um|oh|lol|prob(?:ably)?|i play|playing|been playing) )*(?:skyrim|minecraft|the sims|sims|"
    r"stardew(?: valley)?|"
    r"animal crossing|zelda|fortnite|roblox|(?-i:WoW)|world of warcraft|baldur'?s gate(?: 3)?|fallout|gta|the witcher|"
    r"elden ring|"
    r"pok[eé]mon|"
    r"d&d|dnd|civ(?:ilization)?|crusader kings|rimworld|terraria|valheim)\b(?: (?:rn|mostly|lol|again|obviously|these days|"
    r"atm))*\W*$",
    re.IGNORECASE,
)
_WOULD_CLAUSE = re.compile(
    r"\W*(?:(?:and|then|so|oh|well|maybe)\b,? )*(?:I'd|id|I would|we'd|we would)(?: (?:probably|definitely|totally|just|also|"
    r"rather|"
    r"never|maybe|prob))* (?P<verb>\w+)",
    re.IGNORECASE,
)
_ACTION_VERBS = (BASE_VERBS - {"like", "love", "prefer", "hate", "say"}) | {
    "be", "do", "go", "get", "have", "move", "open", "quit", "stay", "call", "put", "shut", "own",
}  # fmt: skip
_LONG_AGO = re.compile(
    r"\b(?:as a (?:kid|child|boy|girl)|when I was|every|always|used to|back then|appreciate|been)\b", re.IGNORECASE
)
_ARTIFICIAL = re.compile(
    r"\b(?:as an? (?:AI|artificial|language model|virtual|digital (?:assistant|companion))|I(?:'m| am)(?: \w+){0,3}? (?:AI|"
    r"artificial "
    r"intelligence|language model|chat ?bot|bot|virtual assistant|computer program|software|machine learning)\b|"
    r"language model|"
    r"my (?:training(?: data)?|knowledge cut-?off|programming|developers|creators|algorithms?)|I (?:was|am) (?:trained|"
    r"programmed|"
    r"developed|created|designed) (?:by|on|to|with|as)|I (?:do not|don't|cannot|can't|lack|am not able to|am unable to|"
    r"don't actually)[^.!?]{0,30}?(?:have|experience|"
    r"feel|possess)?[^.!?]{0,15}?\b(?:personal (?:experiences?|opinions?|feelings?|beliefs?|preferences?|life|information)|"
    r"feelings or|emotions|"
    r"physical (?:body|form)|a (?:physical )?body|consciousness|browse the internet|access (?:to )?(?:real-?time|"
    r"the internet|personal)|real-?time))",
    re.IGNORECASE,
)


def is_hypothetical(sentence: str) -> bool:
    """Return whether the sentence is about something imagined or dreamt."""
    return bool(_HYPOTHESIS.search(sentence)) or _would_do(sentence)


def _would_do(sentence: str) -> bool:
    """Return whether a sentence states what its speaker would do: “I'd buy mum a bungalow”."""
    match = _WOULD_CLAUSE.match(sentence)
    return match is not None and match["verb"].lower() in _ACTION_VERBS and not _LONG_AGO.search(sentence)


def is_game_name(sentence: str) -> bool:
    """Return whether a sentence only names the game that its speaker plays."""
    return bool(_GAME_NAME.match(sentence))


def mentions_dream(sentence: str) -> bool:
    """Return whether a sentence mentions that somebody had a dream."""
    return bool(_DREAM.search(sentence))


def can_be_dream_content(sentence: str) -> bool:
    """Return whether a sentence after the announcement of a dream may describe its content."""
    return bool(_DREAM_CONTENT.match(sentence)) and not _WAKING_LIFE.search(sentence)


def is_about_game(sentence: str) -> bool:
    """Return whether the sentence is about a character in a game."""
    return bool(_GAME.search(sentence))


def is_about_language_model(sentence: str) -> bool:
    """Return whether the speaker states that they are a language model."""
    return bool(_ARTIFICIAL.search(sentence))
