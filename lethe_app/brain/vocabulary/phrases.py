"""Regular expressions for phrases from which the rules for lasting statements are composed: numbers, times, likings."""

from __future__ import annotations

from lethe_app.brain.vocabulary.entities import ANIMALS, RELATIVES
from lethe_app.dates.words import WEEKDAY

NUMBER = (
    r"(?:\d{1,4}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|a few|several|"
    r"many|no|some)"
)
AGE = (
    r"(?:\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ]\w+)?|ten|eleven|twelve|[a-z]+teen|one|two|"
    r"three|four|five|six|seven|eight|nine|a hundred(?: and \w+)?)(?: (?:years?|months?|weeks?) old)?"
)
DETERMINER = rf"(?:an?|{NUMBER})"
RELATIVE_OR_ANIMAL = rf"(?:(?:{RELATIVES})|(?:{ANIMALS}))"
MY_RELATION = rf"my (?:[a-z-]+ ){{0,2}}?(?P<who>{RELATIVE_OR_ANIMAL})"
MY_EXTENDED_RELATION = rf"my (?:[a-z'-]+ ){{0,2}}?(?P<who>{RELATIVE_OR_ANIMAL})"
"""Like `MY_RELATION`, but it also matches “my brother's girlfriend”, whose name must not replace that of the speaker's own
girlfriend.
"""
OPTIONAL_NAME = (
    r"(?:,? (?!me\b|calls\b|says\b|thinks\b|would\b|does\b|did\b|wants\b|always\b|told\b|said\b|just\b|made\b|gave\b|"
    r"looks\b|makes\b|keeps\b|lets\b)[\w'-]+){0,2}?"
)
"""Up to two words, usually a name, between “my sister” and her verb."""
TIME = (
    r"(?:\b(?:yesterday|today|tonight|tomorrow|ago|19\d\d|20\d\d|january|february|march|april|june|july|august|september|"
    r"october|november|december|(?:in|last|next|this) (?:may|spring|summer|autumn|winter|week|weekend|month|year|night)|"
    rf"\d(?:st|nd|rd|th)?(?: of)? may|(?:on|last|next|this) (?:{WEEKDAY})|when i was (?:an? |\d|"
    r"[a-z]+teen|[a-z]+ty|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|little|small|young|born|at)|"
    r"in the (?:spring|summer|autumn|winter)|on the \d{1,2}(?:st|nd|rd|th)|at (?:the age of )?(?:\d\d|[a-z]+teen|[a-z]+ty|"
    r"five|six|seven|eight|nine|ten|eleven|twelve)|as an? (?:child|kid|student|teenager|boy|girl|young)|in \w+ (?:days|"
    r"weeks|months|years)|in an? (?:week|month|year)|christmas|easter|new year))"
)
DURATION = (
    r"\b(?:for|since|over) (?!(?:this|today|yesterday|a (?:minute|while|moment|bit)|hours|\w+ (?:hours?|minutes?|days?)|"
    r"then|ever|once)\b).+"
)
FREQUENCY = (
    r"\b(?:every (?:single )?(?:morning|evening|night|day|week|weekend|month|year|summer|winter|spring|autumn|"
    rf"(?:{WEEKDAY})|other \w+)|each (?:day|morning|night|week)|on (?:mon|tues|wednes|thurs|fri|satur|"
    r"sun)days|at weekends|(?:once|twice|\w+ (?:times|cups?|hours|miles|books|pages|glasses|days|nights)) a (?:day|week|"
    r"month|year))\b"
)
LIKED_OBJECT_GUARD = (
    r"(?!(?:all the|both|not to|to think|it|this|that|these|those|you|your|him|her|them|us|how|when|what|where|who|why|"
    r"to (?:say|think|interrupt|admit|hear|see|know|disappoint|be (?:the|that|a))|being (?:here|with)|hearing|seeing|"
    r"talking|chatting|the (?:way|idea|thought|fact|sound of that|new|photo|picture|look|name|part|plan|story|one)|"
    r"a good \w+ too|my life|here|there|more|one|so|every|nothing|everything|something|myself|me|doing|having this|and|but|"
    r"for|with)\b)(?=[a-z])"
)
LIKED_THE_GUARD = (
    r"(?!the (?!\w+ of |sea\b|ocean|beach|mountains?|theat|outdoors|countryside|cold|dark|rain|smell|sound|taste|summer|"
    r"winter|opera|ballet|blues|dentist|thunder|lightning|(?:thunder)?storms|fog|city|forest|stars|piano|cello|snow|woods|desert|moon|sun|night|heat))"
)
