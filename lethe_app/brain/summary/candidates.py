"""Finds what of a conversation its summary may tell: the facts it states, and whatever else says something."""

from __future__ import annotations

import heapq
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from lethe_app.brain.dialogue.pasted_text import has_lost_quotation
from lethe_app.brain.fact_rules.durability import is_figurative
from lethe_app.brain.fact_rules.endings import announces_change
from lethe_app.brain.fact_rules.judged_sentences import is_momentary
from lethe_app.brain.fact_rules.sentence_classifier import probability
from lethe_app.brain.fact_rules.sentence_features import features
from lethe_app.brain.fact_rules.third_person import rewrite
from lethe_app.brain.people.introductions import asks_memory, compares
from lethe_app.brain.question_answers.completion import complete
from lethe_app.brain.summary.reported_facts import NAMES, QUOTATIONS, ReportedFact
from lethe_app.brain.summary.retelling import is_statement, leans, leans_on_person, marked, retell, retell_after, shows
from lethe_app.brain.summary.salience import ConversationVocabulary, SentenceSigns, answers_nothing, salience
from lethe_app.brain.summary.title_events import News
from lethe_app.brain.text.fingerprint import content_words
from lethe_app.brain.text.reported_speech import LONGEST, Quote, exchange, quote
from lethe_app.brain.text.sentences import Sentence, words
from lethe_app.domain.chat import Role
from lethe_app.retrieval.assertions import FIRST_PERSON

MOST_CANDIDATES = 1000
"""Of an endless conversation only so many sentences, the most telling, are weighed against each other."""
LEAST_SHARE = 0.3
"""Of the most telling report's salience, up to 2; what has less is only filler beside it."""
FLEETING = 0.5
"""What a sentence that nobody would note counts in a summary against one to be remembered."""
AS_FACT = 1.5
"""What a fact counts in a summary against the sentences that state it."""
LEAST_WORTH = 0.5
"""What the sentences that state a fact count at least."""
SHARED = 0.5
"""Share of the content words of a sentence that a fact must have for the sentence to state it."""
REPEATED = 0.75
"""Share of the words of a report with which another one of its message says it too."""
RETOLD = 0.8
"""Share of the words of a fact with which a sentence told in the third person says it better than the fact by itself."""
JOINED = 0.6
"""And with an earlier sentence that names whom a pronoun means: the question a fact quotes is not part of it."""
LONGEST_RETOLD = 200
"""Characters of such a sentence."""
BESIDE = 0.6
"""What a sentence of the user counts where facts tell of the conversation."""
GENERAL = 0.3
"""And of that one which says nothing of the user's own life."""
OTHERS = 0.3
"""What a sentence of the persona counts there."""
ENOUGH = 4
"""Facts that tell most of a conversation by themselves. Beside them no scene is told, beside so many reports of the user's
words nothing of the persona's."""
MOST_QUESTIONS = 2
"""Questions of the user in a summary of a conversation in which they did nothing but ask."""
SHORT_ANSWER = 6
"""Words; so short an answer does not stand without its question."""
_EMPTY = re.compile(
    r"^\W*(?:(?:awesome|great|nice|good|amazing|wonderful|fantastic) (?:job|work|idea|going|to (?:hear|see)|that)|sounds|"
    r"congrat\w*|wish (?:me|us)|"
    r"I (?:knew|hope|bet) you|let me know|just let me|I can (?:help|give|show) you|you(?:'re| are|'ve|'ll)?|your|"
    r"I (?:\S+ )?agree|i kn?ow? right|myself [A-Z]|kindly)\b|"
    r"\b(?:this|that|these) (?:pic|photo|picture|moment|app|one|song)s?\b",
    re.IGNORECASE,
)
"""Assent, or something that was shown."""
_CATCHES_UP = re.compile(
    r"\bsince we(?:'ve)? (?:last )?(?:talked|spoke|chatted|met)(?: last)?\W*$|\bI(?:'m| am) off to\b(?! [A-Z])(?!.*\b(?:on|in|"
    r"next|for) )|"
    r"\b(?:I(?:'ll| will) (?:have|need) to|I must|I have to|gotta) (?:go|run)\b(?! (?:to|for|on|through|back)\b)|"
    r"^\W*I remember (?:that|it)\W*$|"
    r"\b(?:good ?night|sleep on it|talk (?:to you )?(?:soon|later|tomorrow))\b",
    re.IGNORECASE,
)
"""Opens or closes a conversation."""
_OF_EVERYBODY = re.compile(
    r"\W*(?:and |so |but )?(?:we (?:all|can)\b|it's (?:so |really |such )?(?:important|great|amazing|nice|good|a blessing)|"
    r"(?:life|family|love|kindness|music|nature)(?:'s| is| can| has)\b|(?:making|seeing|sharing|staying|investing|working|"
    r"having|"
    r"taking|being|spending) |(?:tough|good|hard) (?:times|food)|(?:stay|keep|find|remember|believe|let's)\b)",
    re.IGNORECASE,
)
"""How a piece of wisdom begins."""
_PERSON = re.compile(r"\b(?:he|she|he's|she's|him|her|his)\b", re.IGNORECASE)
_INTENDS = re.compile(r"\b(?:going to|gonna|moving|flying|want to|wanna|planning)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SummaryCandidate:
    """A candidate for a summary."""

    quote: Quote
    speaker: str
    place: float
    """Where in the conversation it is, from 0 to below 1."""
    words: frozenset[str]
    """Its words that say something."""
    salience: float
    sources: tuple[int, ...] = ()
    """Places of the sentences it tells."""
    is_fact: bool = False
    is_unclear: bool = False
    """It is understood only with what was said before."""

    @property
    def cost(self) -> int:
        """Characters it takes, with its line break."""
        return len(self.quote.alone) + 1


@dataclass(frozen=True)
class Material:
    """A conversation as it is read for its title and summary."""

    sentences: list[Sentence]
    signs: list[SentenceSigns]
    news: list[News | None]
    """What each sentence tells of an event."""
    facts: list[ReportedFact]
    """What the user states that still holds at the end."""
    vocabulary: ConversationVocabulary


def candidates(material: Material, longest: int) -> tuple[list[SummaryCandidate], list[SummaryCandidate]]:
    """Return the facts of a conversation as reports, and whatever else of it is worth reporting.

    A question comes only together with its answer, a pronoun only with the sentence it leans on.
    """
    reporter = _Reporter(material.sentences, material.signs, material.vocabulary, min(longest, LONGEST))
    stating = _stating(material)
    stated = {place for places in stating for place in places}
    facts = _facts(material, reporter, stating)
    told = {place for report in facts for place in report.sources}
    return facts, reporter.report(_worth(material, stated | told), told)


def _stating(material: Material) -> list[list[int]]:
    """Return for each fact the places of the sentences that state it."""
    of_line: dict[int, list[int]] = {}
    said: list[frozenset[str]] = []
    for place, sentence in enumerate(material.sentences):
        said.append(content_words(sentence.text) if material.facts else frozenset())
        if sentence.role is Role.USER and not sentence.in_story:
            of_line.setdefault(sentence.line, []).append(place)
    return [
        [
            place
            for line in sorted(fact.lines)
            for place in of_line.get(line, ())
            if said[place] and len(said[place] & fact.words) >= SHARED * min(len(said[place]), len(fact.words))
        ]
        for fact in material.facts
    ]


def _facts(material: Material, reporter: _Reporter, stating: Sequence[Sequence[int]]) -> list[SummaryCandidate]:
    """Return the facts, each in the words of a sentence that states it where that can be told in the third person."""
    values = [
        AS_FACT * fact.weight * max([LEAST_WORTH, *(_telling(material, place) for place in places)])
        for fact, places in zip(material.facts, stating, strict=True)
    ]
    worth: dict[int, float] = {}
    for value, places in zip(values, stating, strict=True):
        worth |= {place: max(value, worth.get(place, 0.0)) for place in places}
    retold = {report.sources[-1]: report for report in reporter.report(dict(sorted(worth.items())))}
    count = max((sentence.line for sentence in material.sentences), default=0) + 1
    found: dict[str, SummaryCandidate] = {}
    taken_along: set[int] = set()
    for fact, places, value in zip(material.facts, stating, values, strict=True):
        report = next((retold[place] for place in places if place in retold and _says(retold[place], fact)), None)
        earlier = set(report.sources[:-1]) if report else set()
        if report is None or (earlier & taken_along and report.quote.text not in found):
            line, telling = max(fact.lines), frozenset(material.vocabulary.telling(words(fact.text)))
            report = SummaryCandidate(Quote(line, "", fact.text), fact.speaker, line / count, telling, value, tuple(places))
            report = replace(report, is_unclear=fact.is_unclear)
            earlier = set()
        taken_along |= earlier
        found.setdefault(report.quote.alone, replace(report, is_fact=True))
    return _without_parts(list(found.values()))


def _without_parts(found: Sequence[SummaryCandidate]) -> list[SummaryCandidate]:
    """Return the reports without those that another one says too: with every sentence, or most of their words."""
    most: dict[int, int] = {}
    of_line: dict[int, list[tuple[frozenset[str], SummaryCandidate]]] = {}
    for report in found:
        of_line.setdefault(report.quote.line, []).append((content_words(report.quote.text), report))
        for place in report.sources:
            most[place] = max(most.get(place, 0), len(report.sources))
    return [
        one
        for line in of_line.values()
        for said, one in line
        if not (one.sources and all(most[place] > len(one.sources) for place in one.sources))
        and not any(len(said) < len(other) and len(said & other) >= REPEATED * len(said) for other, _report in line)
    ]


def _says(report: SummaryCandidate, fact: ReportedFact) -> bool:
    """Return whether a report says a fact in the third person, not at length.

    One that takes an earlier sentence along is wanted only where the fact names nobody whom its pronouns may mean.
    """
    made = report.quote
    is_told = not made.frame and '"' not in made.text and len(made.text) <= LONGEST_RETOLD
    is_joined = len(report.sources) > 1
    if not is_told or (not _needs_more(fact.text) if is_joined else fact.is_quoted):
        return False
    return len(content_words(made.text) & fact.words) >= (JOINED if is_joined else RETOLD) * len(fact.words)


def _needs_more(fact: str) -> bool:
    """Return whether the quotations of a fact have a “he” or “she” before anybody is named."""
    said = " ".join(QUOTATIONS.findall(fact))
    pronoun = _PERSON.search(said)
    return pronoun is not None and not NAMES.search(said[: pronoun.start()])


def _telling(material: Material, place: int) -> float:
    sentence, told = material.sentences[place], material.news[place]
    value = salience(sentence, material.signs[place], material.vocabulary) * lasting(sentence, FLEETING)
    return value + (told.weight if told else 0.0)


def _worth(material: Material, stated: set[int]) -> dict[int, float]:
    """Return the places of the sentences worth reporting beside those `stated` as facts, with what they are worth."""
    sentences, signs, vocabulary = material.sentences, material.signs, material.vocabulary
    worth: dict[int, float] = {}
    questions: dict[int, float] = {}
    left_out = outdated(sentences, signs, vocabulary)
    played = [index for index, sentence in enumerate(sentences) if sentence.in_story and sentence.role is Role.USER]
    lone = played[0] if len(played) == 1 else None  # a figure of speech
    for index, sentence in enumerate(sentences):
        if index in stated or index in left_out or index == lone or not sentence.standing or says_nothing(sentence.text):
            continue
        if sentence.in_story and len(material.facts) >= ENOUGH:
            continue
        told = salience(sentence, signs[index], vocabulary) * (lasting(sentence, FLEETING) if vocabulary.is_english else 1.0)
        asked = _question_before(sentences, index)
        if asked is not None and vocabulary.telling(asked.words) and vocabulary.telling(sentence.words):
            told = max(told, 0.5 + 2 * salience(asked, signs[index - 1], vocabulary))
        if told > 0:
            of_user = sentence.role is Role.USER and (sentence.asks or asks_memory(sentence.text))
            own = BESIDE * _particular(sentence.text, signs[index])
            beside = 1.0 if not stated else own if sentence.role is Role.USER else OTHERS
            if not (of_user and FIRST_PERSON.search(sentence.text)):  # what somebody asks about themselves tells nothing
                (questions if of_user else worth)[index] = told * sentence.standing * beside
    by_user = [index for index in worth if sentences[index].role is Role.USER]
    if len(by_user) + len(material.facts) >= ENOUGH:
        worth = {index: worth[index] for index in by_user}
    if not worth and not stated:  # nothing but questions was said
        worth = {index: questions[index] for index in heapq.nlargest(MOST_QUESTIONS, questions, key=questions.__getitem__)}
    best = heapq.nlargest(MOST_CANDIDATES, worth, key=lambda index: (worth[index], -index))
    least = LEAST_SHARE * min(2.0, worth[best[0]]) if best else 0.0
    return {index: worth[index] for index in sorted(best) if worth[index] >= least}


def _particular(text: str, sign: SentenceSigns) -> float:
    """Return what a sentence counts as one of its speaker's life; less if it holds of everybody."""
    is_particular = sign.own or sign.kin or sign.named or sign.when
    return 1.0 if is_particular and not _OF_EVERYBODY.match(text) else GENERAL


def outdated(sentences: Sequence[Sentence], signs: Sequence[SentenceSigns], vocabulary: ConversationVocabulary) -> set[int]:
    """Return the places of plans that a later message of the same speaker changes."""
    lines = {sentence.line for sentence in sentences if sentence.role is Role.USER and announces_change(sentence.text)}
    last: dict[tuple[str, str], int] = {}
    for sentence in sentences:
        if sentence.line in lines:
            last |= {(sentence.name, word): sentence.line for word in vocabulary.telling(sentence.words)}
    return {
        index
        for index, sentence in enumerate(sentences)
        if (signs[index].plan is not None or _INTENDS.search(sentence.text))
        and any(last.get((sentence.name, word), -1) > sentence.line for word in vocabulary.telling(sentence.words))
    }


def says_nothing(text: str) -> bool:
    """Return whether a sentence is said in jest, is of the moment, or has lost what it quotes."""
    if is_figurative(text) or compares(text) or has_lost_quotation(text) or is_momentary(text):
        return True
    return bool(_EMPTY.search(text) or _CATCHES_UP.search(text))


def lasting(sentence: Sentence, least: float) -> float:
    """Return what a sentence is worth as one to be remembered, from `least` to 1; speech of a scene counts in full."""
    if sentence.in_story or sentence.narrates:
        return 1.0
    return least + (1 - least) * probability(features(sentence.text))


class _Reporter:
    """Puts sentences into the words of a report."""

    def __init__(
        self, sentences: Sequence[Sentence], signs: Sequence[SentenceSigns], vocabulary: ConversationVocabulary, longest: int
    ) -> None:
        self._sentences = sentences
        self._signs = signs
        self._vocabulary = vocabulary
        self._longest = longest

    def report(self, kept: Mapping[int, float], told: Collection[int] = ()) -> list[SummaryCandidate]:
        """Return the sentences at these places with what they are worth; one that leans on an earlier one takes that along.

        One that leans on a sentence that is `told` already is left out.
        """
        found: list[SummaryCandidate] = []
        joined: set[int] = set()
        for index in reversed(list(kept)):
            if index in joined:
                continue
            earlier = self._leant_on(index)
            if earlier in told:
                continue
            together = self._together(index, earlier) if earlier is not None else None
            if together is not None and earlier is not None:
                joined.add(earlier)
                found.append(self._made(index, together, (earlier, index), kept[index] + kept.get(earlier, 0.0) / 2))
            elif (alone := self._alone(index)) is not None:
                asked = _question_before(self._sentences, index)
                found.append(self._made(index, alone, (index,) if asked is None else (index - 1, index), kept[index]))
        return found[::-1]

    def _made(self, index: int, made: Quote, places: Sequence[int], worth: float) -> SummaryCandidate:
        sentence, last = self._sentences[index], self._sentences[-1]
        said = (word for place in places for word in self._sentences[place].words)
        telling = frozenset(self._vocabulary.telling(said))
        return SummaryCandidate(made, sentence.name, sentence.line / (last.line + 1), telling, worth, tuple(places))

    def _leant_on(self, index: int) -> int | None:
        """The place of the speaker's sentence just before that names whom or what a pronoun means."""
        sentence = self._sentences[index]
        if not self._vocabulary.is_english or sentence.narrates or sentence.asks or not leans(sentence.text):
            return None
        of_person, nearest = leans_on_person(sentence.text), None
        for place in range(index - 1, -1, -1):
            before = self._sentences[place]
            if before.line < sentence.line - (4 if of_person else 0):
                break
            if of_person and before.name != sentence.name and before.line < sentence.line and self._names_somebody(place):
                return None  # the other one brought up whom the pronoun means
            fits = before.name == sentence.name and before.in_story == sentence.in_story
            if fits and not (before.narrates or before.asks):
                nearest = place if nearest is None else nearest
                if not of_person or self._names_somebody(place):
                    return place
        return nearest

    def _names_somebody(self, place: int) -> bool:
        return self._signs[place].kin or self._signs[place].named

    def _together(self, index: int, earlier: int) -> Quote | None:
        sentence = self._sentences[index]
        told = retell_after(sentence, self._sentences[earlier], self._vocabulary.other(sentence.name))
        return Quote(sentence.line, "", told) if told else None

    def _alone(self, index: int) -> Quote | None:
        """A statement where it can be told as one, else in quotation marks; neither fragments nor what only leans."""
        sentence, asked = self._sentences[index], _question_before(self._sentences, index)
        other = self._vocabulary.other(sentence.name)
        if not self._vocabulary.is_english:
            return exchange(asked, sentence) if asked is not None else quote(sentence, self._longest)
        if asked is not None:
            full = complete(asked.text, sentence.text)
            told = rewrite(full[0], sentence.name, "") if full is not None else None
            return Quote(sentence.line, "", marked(told, sentence)) if told else exchange(asked, sentence)
        if sentence.narrates:
            return quote(sentence, self._longest)
        if shows(sentence.text):
            return None
        if (told := retell(sentence, other)) is not None:
            return Quote(sentence.line, "", told)
        is_firm = not leans(sentence.text) or self._signs[index].tells or self._signs[index].kin
        return quote(sentence, self._longest) if is_firm and is_statement(sentence.text) else None


def _question_before(sentences: Sequence[Sentence], index: int) -> Sentence | None:
    """The question that a short answer answers: the last sentence of the message before, by somebody else."""
    answer = sentences[index]
    if len(answer.words) > 2 * SHORT_ANSWER or len(answer.text.split()) > SHORT_ANSWER or answer.asks or not index:
        return None
    before = sentences[index - 1]
    if before.narrates or answer.narrates:
        return None
    fits = (
        before.asks
        and before.in_story == answer.in_story
        and before.name != answer.name
        and before.line != answer.line
        and not answers_nothing(answer)
    )
    return before if fits else None
