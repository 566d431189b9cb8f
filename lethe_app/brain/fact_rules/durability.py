"""Distinction of lasting statements about the speaker (“I live in Porto”) from momentary ones (“I'm tired”)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from lethe_app.brain.fact_rules.first_person_rules import SELF_RULES
from lethe_app.brain.fact_rules.life_event_rules import LIFE_EVENT_RULES
from lethe_app.brain.fact_rules.possession_rules import OTHER_RULES, POSSESSION_RULES
from lethe_app.brain.vocabulary.entities import ANIMALS, JOBS, NOT_OCCUPATIONS, RELATIVES
from lethe_app.brain.vocabulary.phrases import TIME
from lethe_app.brain.vocabulary.verbs import is_adverb


@dataclass(frozen=True)
class DurabilityRule:
    """Pattern for a clause in lowercase without contractions and adverbs (`normalize_clause`)."""

    pattern: re.Pattern[str]
    key: str = ""
    """Attribute key, under which a newer statement replaces an older one; `{…}` inserts a group of the pattern."""
    is_event: bool = False
    """True if the statement is about a single event, so that its date may be completed with a year."""


_HEDGED = re.compile(
    r"\b(?:if|would|(?<!that )(?<!who )could (?!not)|should|might|may (?!\d)|maybe|perhaps|probably|possibly|wish|guess|"
    r"suppose|pretend(?:ing)?|imagine|imaginary|kinda|kind of|sort of|basically|practically|virtually|as if|allegedly|"
    r"supposedly|joking|kidding|jk|not really|hypothetically|theoretically|feel like|i think|unless|whether|in (?:my|the|"
    r"a) (?:dream|game|story|scene)|so to speak|metaphorically|let us|let's|as an ai|language model|an ai|dying (?:of|to)|"
    r"swear|or not|one of those|ready to|about to|trying to say|was (?:going|supposed|meant|planning|hoping|gonna) "
    r"to|(?:he|she|they|everyone|people|boss|mum|mom|dad|wife|husband|"
    r"friends?|kids|brother|sister|doctor) (?:thinks?|reckons?|says?|said|thought|believes?|jokes?|claims?) i|(?:bit "
    r")?too much|so much|right now|at the moment|for now|"
    r"such an?)\b"
)
_DANGLING = re.compile(
    r"\b(?:it|its|this(?! (?:coming )?(?:weekend|month|year|spring|summer|autumn|winter|[a-z]+day|january|february|march|"
    r"april|may|june|july|august|september|october|november|december)\b)|these|those|he|she|they|them|him|her|hers|his|their|"
    r"theirs|you|your|yours|yourself|we|us|our|"
    r"ours|here|there|ones|(?<!-)one(?= (?:to|with|in|at|for|that|by|from|day|thing)\b|$)|favou?rite one|else|otherwise|same|"
    r"such|what|something|anything|everything|stuff|things|thing|etc|that's|it's|likewise|whatever|somewhere)\b"
)
_DANGLING_THAT = re.compile(
    r"\b(?:of|in|on|at|to|for|about|with|like|by|from|do|did|love|know|hate|is|was|enjoy|before|after|and|or|all) that\b|"
    r"\bthat$|\b[a-z]+ed that\b|\b(?:saw|made|bought|wrote|built|drew|got|took) that\b"
)
_INCOMPLETE_END = re.compile(
    r"\b(?:a|an|the|of|to|in|on|at|for|with|and|or|but|my|is|are|was|as|from|by|than|that|who|which|so|very|i)$|"
    r"^my (?:[\w-]+ ){1,3}(?:lives?|works?|moved|plays?|runs?|studies|comes|went|came)$|\b(?:an?|huge|big|real|total|"
    r"great) fan$|\b(?:was|were) born$|\bis (?:living|alive|around)$|\bi have (?:\d+|one|two|three|four|five|six|seven)$|"
    r"\ban? (?:safe|good|new|nice|big|small|great|better|happy|warm|quiet|little|long|real|"
    r"strong|healthy|calm|"
    r"whole|supportive|loving|cozy|cosy|fun|great|tasty|beautiful|unique|welcoming|inclusive)$"
)
_FIGURATIVE = re.compile(
    r"\b(?:am|be) (?:more \w+|[a-z]+er) than (?:the|an?)\b|"
    r"\bon my feet (?:since|all)\b|\bstarted (?:crying|laughing|shaking|screaming|singing|sweating|talking|shouting)\b|"
    r"\b(?:joined|started) the (?:call|chat|queue|game|conversation|stream)\b|\ban? (?:earful|round|telling off|laugh)\b|"
    r"\b(?:twice|\w+ times) (?:today|this (?:week|morning|afternoon|evening)|yesterday|tonight|already|last night)\b|"
    r"\blives? (?:in|for|off|on) (?:(?:my|their) (?:pyjamas|pjs|head|jeans|hoodies?|leggings|slippers|own world|"
    r"nerves)|denial|chaos|"
    r"coffee|hope|fear|the (?:moment|past|edge|gym|weekend)|noodles|sweatpants|toast|caffeine)\b|"
    r"\ballergic to (?:mondays?|mornings?|work|people|exercise|drama|bullshit|stupid\w*|fun|commitment|idiots|"
    r"housework|men|women|kids|"
    r"love|nonsense|bad|small talk|adulting|effort|feelings|running|meetings|maths?)\b|"
    rf"^my (?:\w+ ){{0,2}}{ANIMALS}(?: \w+)? (?:is|are) (?:my|the boss|in charge)\b|"
    r"\bi (?:had|got) (?:\d+|two|three|four|five|a few|some|several|many|lots of) new (?:kids|children)\b|"
    r"\bi had (?:about |around |like )?(?:\d+|a few|some|several) (?:kids|children|people|friends|dogs|cats) (?:in|"
    r"at|over|round|for|on|here)\b|"
    r"\b(?:two left feet|a sweet tooth for trouble|married to (?:my|the) (?![\w' -]*\b(?:best|childhood|first|second|late|"
    r"high|college|"
    rf"{RELATIVES}|love|man|woman|guy|girl|boy|boss|person|soulmate)\b)|slave to|addicted to (?:you|this|my phone)|king of|"
    r"queen of|two brain cells|"
    r"million things|a black belt in (?:napping|procrast\w+)|professional (?:napper|overthinker|procrastinator))\b"
)
"""Jokes and figures of speech."""
_EXAGGERATED = re.compile(
    r"\bI(?:'ve| have)? (?:(?:absolutely|literally|actually|basically|just|only|quietly|honestly) )*(?:died|melted|drowned|"
    r"combusted|"
    r"evaporated|exploded|perished)\b|\b(?:died|melted|drowned|cried|aged) (?:\d+|two|three|four|five|six|seven|eight|nine|"
    r"ten|a "
    r"(?:hundred|thousand|million)) times\b|\bI(?:'m| am) (?:literally|legally|officially|actually|so|clinically)? ?(?:dead|"
    r"dying|a "
    r"ghost|a corpse|a puddle|deceased)\b",
    re.IGNORECASE,
)
"""Exaggerations such as “I died today, I called her Mrs Fluffy”."""
_ALMOST_HAPPENED = re.compile(r"\bI (?:almost|nearly|all but)\b(?! (?:never|always|only|exclusively|every))", re.IGNORECASE)
_MISSING_OBJECT = re.compile(
    r"(?:\bto|\bwill) (?:apply|go|do|try|buy|get|make|see|take|learn|start|visit|join|sell|find|have|tell|ask|help|change|"
    r"enjoy|win|leave|stop|quit|finish|come|wait)\Z|\bi (?:ring|call|phone|text|meet|talk|chat|visit|see|argue|enjoy|"
    r"like|love) (?:every|"
    r"each|on \w+days|once|twice|\w+ times|occasionally|sometimes|a lot)\b|"
    r"\bi (?:do not|can not|no longer|never|have not|did not) (?:play|do|use|go|want|watch|wear|make|buy|get|need|see|"
    r"practi[sc]e|"
    r"played|done|used|been)(?: any ?more| either| any longer)?\Z"
)
"""Clauses whose object is missing, so that they cannot be understood alone."""
_CONTRACTIONS = (
    (r"\bcan't\b|\bcannot\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"n't\b", " not"),
    (r"'m\b", " am"),
    (r"'ve\b", " have"),
    (r"'ll\b", " will"),
    (r"'s been\b", " has been"),
    (r"'d(?= (?:really |also )?(?:love|like)\b)", " would"),
)
_TIMED = re.compile(TIME)


def _compile_rules(rules: tuple[tuple[str, str], ...]) -> tuple[DurabilityRule, ...]:
    return tuple(
        DurabilityRule(re.compile(rf"(?:{pattern})\Z"), key.rstrip("!?"), is_event=key.endswith("!")) for pattern, key in rules
    )


_RULES = {
    "i": _compile_rules(SELF_RULES + LIFE_EVENT_RULES),
    "my": _compile_rules(POSSESSION_RULES),
    "": _compile_rules(OTHER_RULES),
}
_OCCUPATION = re.compile(
    rf"i (?:am|was) (?:an?|the) (?P<noun>(?:[\w'-]+ ){{0,3}}?(?:only-child|{JOBS}|[a-z]+(?:er|or|ian|ess|ant|"
    r"[iy]st)))(?: (?:in|at|for|by|on|with|from|of|who|and) .+|, .+)?\Z"
)
_TRAIT = re.compile(
    r"(?:fan|person|vegan|vegetarian|pescatarian|atheist|catholic|muslim|christian|buddhist|hindu|jew|feminist|vert|"
    r"insomniac|owl|bird|daughter|son|wife|husband|virgo|libra|leo|aries|taurus|gemini|scorpio|capricorn|aquarius|pisces|"
    r"child|twin|mother|father|mum|mom|dad|parent|orphan|widow|widower|refugee|immigrant|expat|native|citizen|lover|drinker|"
    r"smoker|eater|holic|sleeper|swimmer|reader|hoarder|learner|perfectionist|optimist|pessimist|sister|brother)$"
)
_MODEST = re.compile(r"I(?:'m| am) (?:(?:only|just|merely|but|simply) an? |an? (?:poor|humble|simple|mere) )", re.IGNORECASE)
"""Modest self-descriptions such as “I am only a poor musician”, which belong to a played character far more often than to
the user.
"""
_RELATIVE_PRONOUN = re.compile(r"\b(?:he|she|they|(?:his|her|their)(?= [a-z]))\b")
_PLURAL_PRONOUN = re.compile(r"\b(?:we|our|ours|us)\b")
"""Pronouns that “My wife and I … our” explains itself."""


@lru_cache(maxsize=512)  # a clause is judged by patterns, judged generally, and given its attribute
def normalize_clause(clause: str) -> str:
    """Normalise a clause for the rules: lowercase, no contractions, no adverbs around its first verbs."""
    # In lowercase “IT” would be read as the pronoun.
    text = re.sub(r"\bIT\b", "computing", clause).lower().replace("only child", "only-child")
    for contraction, expansion in _CONTRACTIONS:
        text = re.sub(contraction, expansion, text)
    words = text.split()
    kept = [
        word for index, word in enumerate(words) if not (0 < index < 6 and is_adverb(word) and word not in _MEANINGFUL_ADVERBS)
    ]
    return " ".join(kept)


_MEANINGFUL_ADVERBS = frozenset(("never", "once", "first", "basically", "kinda", "sometimes", "since", "then"))
"""Adverbs that change the meaning of a clause and are therefore kept by `normalize_clause`."""


def find_matching_rule(clause: str) -> DurabilityRule | None:
    """Return the rule by which a clause is a lasting statement about its speaker that can be understood alone; None if there
    is none.
    """
    text = normalize_clause(clause)
    first_word = text.split(" ", 1)[0] if text else ""
    if len(text) < 7 or len(text) > 180 or _HEDGED.search(text) or _INCOMPLETE_END.search(text) or _MISSING_OBJECT.search(text):
        return None
    if _is_dangling(text, first_word) or _is_not_literal(clause):
        return None
    if first_word == "i" and (occupation := _OCCUPATION.match(text)) and occupation["noun"].split()[-1] not in NOT_OCCUPATIONS:
        return DurabilityRule(_OCCUPATION, "" if _TRAIT.search(occupation["noun"]) or text.startswith("i was") else "job")
    for rule in _RULES.get(first_word, _RULES[""]):
        if match := rule.pattern.match(text):
            groups = {name: value for name, value in match.groupdict().items() if value}
            key = "" if text.startswith(("i worked", "i have worked")) else rule.key.format(**groups)
            return DurabilityRule(
                rule.pattern, key, rule.is_event or (bool(_TIMED.search(text)) and rule.key not in {"birthday", "origin"})
            )
    return None


def is_figurative(clause: str) -> bool:
    """Return whether a clause is a joke or an exaggeration."""
    return bool(_FIGURATIVE.search(normalize_clause(clause)) or _EXAGGERATED.search(clause))


def _is_not_literal(clause: str) -> bool:
    """Return whether a clause is a joke, or tells something that almost happened."""
    return bool(_MODEST.match(clause) or _ALMOST_HAPPENED.search(clause)) or is_figurative(clause)


def _is_dangling(text: str, first_word: str) -> bool:
    """Return whether a clause refers to something outside of it."""
    if first_word == "my":  # “my brother … his wife” explains itself
        text = _RELATIVE_PRONOUN.sub("", text)
        text = _PLURAL_PRONOUN.sub("", text) if " and i " in text else text
    return bool(_DANGLING.search(text) or _DANGLING_THAT.search(text))
