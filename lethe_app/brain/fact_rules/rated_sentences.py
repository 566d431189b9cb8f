"""Rating of the sentences of a user message: the probability that each is worth keeping, and which ones are understood only
together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lethe_app.brain.dialogue.pasted_text import has_lost_quotation
from lethe_app.brain.fact_rules import sentence_classifier
from lethe_app.brain.fact_rules.durability import is_figurative
from lethe_app.brain.fact_rules.first_person_clauses import add_subject
from lethe_app.brain.fact_rules.sentence_features import extract_features
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.spelling import correct_spelling
from lethe_app.brain.vocabulary.verbs import is_past
from lethe_app.dates.words import MONTH, WEEKDAY
from lethe_app.domain.facts import FactKind
from lethe_app.retrieval.query_terms import STOP_WORDS, WORD

KEEP_THRESHOLD = 0.5
"""Probability from which a sentence is kept."""
CONTENT_THRESHOLD = 0.12
"""Probability below which a sentence is a mere reaction, to which no other sentence refers."""
MAX_ANTECEDENT_DISTANCE = 3
"""Number of preceding sentences among which the antecedent is searched."""
_LEADING_FILLERS = re.compile(
    r"^(?:(?:oh|and|also|so|but|well|ok|okay|anyway|anyways|btw|by the way|(?:ha)+h?|heh|lol|lmao|yes|yeah|yep|ya|hey|hi|hello|"
    r"ugh|omg|wow|fair|true|thanks|thank you|sorry|tbh|honestly|actually|hmm+|um+|uh+|er|right|cool|great|nice|sure|exactly|"
    r"see|look|listen|plus|aw+|ah|aye|god|damn|anyhow|grand|like|dude|bro|girl|man|then|though|tho|cause|cuz|because|bc|"
    r"since (?:we|I) (?:last )?(?:talked|spoke|chatted)|I (?:forgot|meant|wanted) to (?:say|mention|tell you)|wait|"
    r"scratch that|"
    r"(?:small )?(?:change of plans?|new plan|update)|(?:we|I)(?:'ve| have)? changed (?:my|our) minds?(?! (?:about|on)))\b"
    r"[\s,.!;:…-]*|\W+(?=\w))+(?=\S)",
    re.IGNORECASE,
)
_TRAILING_FILLERS = re.compile(
    r"(?:[\s,.!?;:…-]*\b(?:lol|lmao|(?:ha){2,}h?|xd+|btw|tho|though|tbh|fr|ngl|you know|yk|innit|anyway|i guess|pls|plz|please|"
    r"no fuss|imagine(?: that)?|wh(?:at|o) (?:do|did|else do) I expect|go figure|don't (?:laugh|judge|ask)(?: me)?|who knew|"
    r"as you do|"
    r"fingers crossed|wish me luck|so yeah|if that makes sense)\b|"
    r"[\s\u2600-\u27bf\ufe0f\u200d\U0001f300-\U0001faff]+)+[\s.!]*$",
    re.IGNORECASE,
)
_INNER_FILLERS = re.compile(r",? \b(?:btw|tbh|ngl|imo|lol|lmao|pls|plz)(?=[,.!?])", re.IGNORECASE)
REFERRING_WORD = re.compile(
    r"\b(?:he|she|they|him|her|them|his|their|theirs|hers|he's|she's|they're|he'll|she'll|he'd|she'd)\b|"
    r"^(?:it|its|it's|that|that's|this|those|these|there|both|one|which|who|where)\b|"
    r"\bit(?!'s| is| was| has| will| would)\b|\b(?:that|this|those|there)$|\bin one\b",
    re.IGNORECASE,
)
"""Words that may refer to something before the sentence."""
_CONTINUATION_WORD = re.compile(r"(?:not|same|only|just|since|until|till|for|with|in|at|on|to|from)\b", re.IGNORECASE)
"""Words that begin a part of a sentence, if there is no subject."""
_DUMMY_SUBJECT = re.compile(
    r"^(?:it's|its|it is|it was|that's|this is) (?:my|a|an|the|our|been|so|too|in|on|at|\d)\b|"
    r"^(?:there's|there is|there are|there was|there were) \w",
    re.IGNORECASE,
)
_DESCRIPTION = re.compile(r"(?:it's|it is|it was|she's|he's|they're) (?:an?|the|\d)\b", re.IGNORECASE)
"""Sentence that describes what was just mentioned: “It's a 2009 Octavia”."""
PERSON_OR_THING = re.compile(
    r"\b(?:my|our|an?|the|some|two|three|\d+) [\w'-]{2,}|(?<!^)(?<![.!?] )\b[A-Z][a-z]+|"
    r"\b(?:have|got|had) (?:twins|triplets|kids|children|siblings|brothers|sisters|sons|daughters|cats|dogs)\b"
)
LEADING_TIME = re.compile(
    r"^(?:(?:last|next|this|every|on|in|at|by) (?:[\w']+ ){0,5}?(?:\d+(?:st|nd|rd|th)?|mornings?|afternoons?|evenings?|nights?|"
    r"days?|weeks?|weekends?|months?|years?|summer|winter|autumn|fall|spring|christmas|xmas|easter|"
    rf"(?:{WEEKDAY})s?|{MONTH})|yesterday|today|tomorrow|tonight|recently|currently|now|sometimes|"
    r"usually),? (?=(?:I|I'm|I've|I'd|I'll|my)\b)",
    re.IGNORECASE,
)
"""Time at the beginning, as in “Last Friday I …”."""
_ANNOUNCEMENT = re.compile(
    r"\bsomething\b(?! (?:to|for|about|with|on)\b)|"
    r"\b(?:an?|one more|another|some|the (?:most|best))(?: [\w-]+){0,2}? (?:experience|hobby|games?|thing|news|ideas?|"
    r"surprise|opportunity|milestone|project|adventure|decision|place|show|book|movie)\b"
    rf"(?! (?:called|about|of|in|at|with|for|to|by)\b| on (?!(?:{WEEKDAY})))",
    re.IGNORECASE,
)
"""Announcement of something that the next sentence names: “I have a new hobby. I look for coins on the beach”."""
_NAME_OF_RELATION = re.compile(r"^my (?:[\w'-]+ ){1,2}name\W*$", re.IGNORECASE)
SUBJECT = re.compile(
    r"\b(?:I|I'm|I've|I'd|I'll|my|we|we're|we've|our|she|he|they|he's|she's|it's|they're|there's)\b|^(?:it|there)\b",
    re.IGNORECASE,
)
_OTHER_SUBJECT = re.compile(
    r"(?!(?:who|which|where|what|that|this|those|these|there|it|both|one|some|same|only|not|just)\b)[\w'-]+(?: [\w'-]+){0,3}? "
    r"(?:is|isn't|are|aren't|was|wasn't|were|has|hasn't|had|will|won't|works|lives|plays|got|moved|died|left)\b",
    re.IGNORECASE,
)
"""Subject other than a pronoun, as in “Saoirse's sister is a pilot”."""
_MAX_SHORT_WORDS = 6
"""Words up to which a sentence without a subject is read as the rest of the one before."""
_EMPTY_ANSWER = re.compile(
    r"(?:(?:I|i'm|i am|i've|well|honestly|still|just|really|actually|have|got|there's)[ ,]+)*(?:(?:do not|don't) (?:really )?"
    r"(?:know|remember|recall|care|mind)|dunno|idk|no idea|no clue|not (?:too |quite |really )?sure|(?:can't|cannot) (?:say|"
    r"tell|remember|recall)|won't (?:say|tell)|not telling(?: you)?|rather not say|haven't decided|(?:you )?guess|secret|"
    r"(?:it )?depends|forgot|no comment|none of your business)(?:[ ,]+(?:yet|really|tbh|honestly|actually|any ?more|either|"
    r"sorry|to be honest|though|again|exactly|at all|right now))*\W*|(?:I )?(?:gtg|g2g|brb|ttyl|bbl|(?:have|got) to (?:go|"
    r"run))\b.{0,40}",
    re.IGNORECASE,
)
"""Answer without content."""
_MOMENTARY = re.compile(
    r"(?:(?:so|really|just|kinda|bit|a bit|totally) )*(?:bored|tired|exhausted|knackered|hungry|starving|sleepy|hungover|drunk|"
    r"lonely|stressed|annoyed|excited|gutted|buzzing|freezing|sweating|shattered|wrecked)\b(?!.*\b(?:since|for (?:a|two|\w+)"
    r" (?:years?|months?)|always|every)\b)|"
    r"(?:I )?(?:had|did|took|made|answered|sent|drank) (?:\d+|two|three|four|five|six|several|a few|a couple of) [\w-]+ "
    r"(?:before|by) (?:noon|lunch|breakfast|dinner|\d+|[a-z]+ o'?clock|eight|nine|ten|eleven)\b|"
    r"(?:I(?:'ve| have|'m| am)? )?(?:now |finally |only )?just (?:now )?(?:sat (?:down|back)|lay down|laid down|got (?:in|"
    r"home|back|up|comfy|"
    r"cosy|changed)|came (?:in|home|back)|woke up|woken up|put the kettle on|"
    r"made (?:myself )?(?:an?|some|the) (?:\w+ )?(?:brew|tea|coffee|cuppa|cocoa)|(?:having|had|finished|ate|eating) "
    r"(?:an?|some|my)? ?(?:\w+ )?(?:brew|tea|coffee|cuppa|cocoa|breakfast|lunch|dinner|supper|snack)|"
    r"having a (?:smoke|break|bath|shower))\b(?! (?:from|with|for) \w+)|"
    r"(?:I(?:'m| am)? )?(?:(?:going to|about to|will|should|shall|need to|let me) (?:just |quickly )?(?:put the kettle on|"
    r"make (?:an?|some) "
    r"(?:\w+ )?(?:brew|tea|coffee|cuppa)|grab (?:an?|some) (?:\w+ )?(?:bite|snack|brew|tea|coffee|drink)))\b|"
    r"(?:I(?:'m| am)? )?(?:back(?: again| now)?|here(?: again| now)?|off(?: now)?|off to (?:bed|sleep)|(?:going|"
    r"heading) to bed|"
    r"(?:must|gotta|have to|should|need to|better|will have to|shall have to) (?:go|dash|run|sleep|be off)(?: (?:now|soon|"
    r"to bed|and \w+))?)\W*$",
    re.IGNORECASE,
)
"""Mood or triviality of the day."""
_REMINDER = re.compile(
    r"(?:I did (?:not )?(?:mention|tell|say)|(?:have|did) I (?:not )?(?:mention(?:ed)?|tell|told|said?))\b.*"
    r"\b(?:right|yeah|yes|no|eh)\W*$|I(?:'m| am) (?:just |only )?an? (?:AI|bot|chatbot|robot|language model)\b",
    re.IGNORECASE,
)
"""Question whether something was mentioned before, or denial of being a person."""
_REMINDER_REQUEST = re.compile(
    r"(?:please )?(?:(?:can|could|would|will) you (?:please )?)?"
    r"(?:remind me\b|set (?:me )?a reminder\b|don'?t let me forget\b)",
    re.IGNORECASE,
)
"""Request to be reminded: a task for the persona, and no fact."""
_SHORT_REACTION = re.compile(
    r"\b(?:freaks? me out|scares? me|terrif(?:y|ies) me|gives? me the (?:creeps|ick|shivers|heebie\S*)|makes? me (?:gag|sick|"
    r"sneeze|itch|"
    r"dizzy|heave)|tastes? like \w+ to me|brings? me out in \w+|(?:can't|cannot|can not) (?:stand|bear|abide))\b",
    re.IGNORECASE,
)
"""Liking or fear in few words: “lifts freak me out”."""
_SOME_PERSON = re.compile(
    r"\b(?:some|an?|the|this|that) (?:[\w-]+ )?(?:woman|man|girl|boy|guy|lady|bloke|kid|person|colleague|doctor|neighbou?r)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class RatedSentence:
    """Sentence the user utters as themselves, with its rating."""

    text: str
    clean_text: str
    """Text with corrected spelling and without introduction and trailing fillers."""
    features: Mapping[str, float]
    probability: float
    """Probability that it is worth keeping, 0 to 1."""

    @property
    def kind(self) -> FactKind:
        """Most likely kind of the sentence."""
        return sentence_classifier.predict_kind(self.features)

    @property
    def is_kept(self) -> bool:
        """True if it is worth keeping."""
        return self.probability >= KEEP_THRESHOLD


def strip_fillers(text: str) -> str:
    """Remove introductory and trailing fillers."""
    return _TRAILING_FILLERS.sub("", _LEADING_FILLERS.sub("", text))


def rate_sentence(text: str, question: str, index: int) -> RatedSentence:
    """Rate a sentence of a message. `index` is its index in the message; the first one may answer a `question`."""
    feature_values = extract_features(text, question, index)
    clean_text = strip_fillers(_INNER_FILLERS.sub("", correct_spelling(text)))
    is_question = text.rstrip("\"”’') ").endswith("?")
    is_empty = is_question or any((_EMPTY_ANSWER.fullmatch(clean_text), is_momentary(clean_text), _REMINDER.match(clean_text)))
    is_empty = is_empty or bool(_REMINDER_REQUEST.match(clean_text)) or is_figurative(clean_text)
    is_empty = is_empty or has_lost_quotation(clean_text)
    probability = 0.0 if is_empty else sentence_classifier.predict_probability(feature_values)
    if not is_empty and _SHORT_REACTION.search(clean_text):
        # Fears and dislikes in few words (“lifts freak me out”) are kept whatever the classifier says.
        probability = max(probability, KEEP_THRESHOLD)
    return RatedSentence(text, clean_text, feature_values, probability)


def is_momentary(text: str) -> bool:
    """Return whether a sentence states a mood or a triviality, or that its speaker comes or goes."""
    return bool(_MOMENTARY.match(strip_fillers(_INNER_FILLERS.sub("", correct_spelling(text)))))


def group_sentences(sentences: Sequence[RatedSentence]) -> Iterator[tuple[int, list[RatedSentence]]]:
    """Yield groups of sentences that are kept together with those they refer to, each with the index of its first sentence."""
    start, group, last_index = 0, list[RatedSentence](), -1
    for index, sentence in enumerate(sentences):
        is_announced = last_index == index - 1 and len(group) == 1 and _is_announced(sentence, announcement=group[0])
        is_about_joke = index > 0 and needs_antecedent(sentence) and is_figurative(sentences[index - 1].clean_text)
        if is_about_joke or not (sentence.is_kept or is_announced):
            continue
        member_indexes = [index] if is_announced else _find_referred_indexes(sentences, index)
        is_continuation = needs_antecedent(sentence) or bool(_DESCRIPTION.match(sentence.clean_text))
        if group and (
            is_announced or last_index in member_indexes or (last_index + 1 == member_indexes[0] == index and is_continuation)
        ):
            group += [sentences[one] for one in member_indexes if one > last_index]
        else:
            if group:
                yield start, group
            start, group = member_indexes[0], [sentences[one] for one in member_indexes]
        last_index = index
    if group:
        yield start, group


def _is_announced(sentence: RatedSentence, announcement: RatedSentence) -> bool:
    """Return whether a sentence names what the one before only announced."""
    is_telling = sentence.probability >= CONTENT_THRESHOLD and not sentence.text.rstrip().endswith("?")
    return is_telling and bool(_ANNOUNCEMENT.search(announcement.clean_text))


def _find_referred_indexes(sentences: Sequence[RatedSentence], index: int) -> list[int]:
    """Return the index of a sentence, preceded by those of the sentences it refers to.

    Mere reactions are left out, unless there is nothing else it can refer to.
    """
    indexes = [index]
    for earlier in range(index - 1, max(-1, index - 1 - MAX_ANTECEDENT_DISTANCE), -1):
        if not (needs_antecedent(sentences[indexes[0]]) or _DESCRIPTION.match(sentences[indexes[0]].clean_text)):
            break
        if sentences[earlier].probability >= CONTENT_THRESHOLD or _SOME_PERSON.search(sentences[earlier].text):
            indexes.insert(0, earlier)
    if len(indexes) == 1 and index and needs_antecedent(sentences[index]) and _has_antecedent(sentences[index - 1]):
        indexes.insert(0, index - 1)
    return indexes


def _has_antecedent(sentence: RatedSentence) -> bool:
    """Return whether a sentence mentions somebody or something to which the next one may refer."""
    return bool(PERSON_OR_THING.search(sentence.text)) or len(content_words(sentence.clean_text)) > 1


def _has_verb(text: str) -> bool:
    """Return whether a past verb follows a noun at the beginning: “Göztepe lost again”."""
    first_word, *other_words = WORD.findall(text)[:4] or [""]
    return (
        len(first_word) > 3
        and first_word.lower() not in STOP_WORDS
        and not is_past(first_word)
        and any(map(is_past, other_words[:2]))
    )


def needs_antecedent(sentence: RatedSentence) -> bool:
    """Return whether a sentence is understood only with the one before."""
    text = LEADING_TIME.sub("", sentence.clean_text)
    if _NAME_OF_RELATION.match(text):
        return True
    if _SHORT_REACTION.search(text) and not REFERRING_WORD.search(text):
        return False
    has_omitted_subject = add_subject(text) != text
    if not SUBJECT.search(text) and not has_omitted_subject and not _OTHER_SUBJECT.match(text) and not _has_verb(text):
        return len(text.split()) <= _MAX_SHORT_WORDS or bool(_CONTINUATION_WORD.match(text))
    match = REFERRING_WORD.search(text)
    return bool(match) and not _DUMMY_SUBJECT.match(text) and not PERSON_OR_THING.search(text[: match.start()] if match else "")
