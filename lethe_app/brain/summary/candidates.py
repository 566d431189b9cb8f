"""Candidates for a summary: the facts a session states, and the other sentences worth reporting."""

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
"""Maximum number of sentences of a very long session, the most salient ones, that are compared with each other."""
LEAST_SHARE = 0.3
"""Share of the highest salience (counted up to 2) below which a sentence is left out as filler."""
FLEETING = 0.5
"""Weight in a summary of a sentence that is not worth remembering, against 1 of one that is."""
AS_FACT = 1.5
"""Weight of a fact in a summary against the sentences that state it."""
LEAST_WORTH = 0.5
"""Minimum salience of the sentences that state a fact."""
SHARED = 0.5
"""Share of the content words of a sentence (or of the fact, if it has fewer) that both must have in common for the sentence
to state the fact.
"""
REPEATED = 0.75
"""Share of a report's words that another report of the same message must contain to make it redundant."""
RETOLD = 0.8
"""Share of a fact's words that a sentence retold in the third person must contain to replace the fact's own wording."""
JOINED = 0.6
"""The same share for a report joined with an earlier sentence that names whom a pronoun refers to. It is lower, because such
a report does not contain the question that a fact quotes.
"""
LONGEST_RETOLD = 200
"""Maximum characters of such a report."""
BESIDE = 0.6
"""Weight of a user's sentence where facts cover the session already."""
GENERAL = 0.3
"""Further weight of such a sentence that says nothing about the user's own life."""
OTHERS = 0.3
"""Weight of a persona's sentence where facts cover the session already."""
ENOUGH = 4
"""Number of facts that cover most of a session by themselves. Beside so many facts no scene is reported, and beside so many
reports of the user's words nothing of the persona's.
"""
MOST_QUESTIONS = 2
"""Maximum number of the user's questions in the summary of a session in which the user did nothing but ask."""
SHORT_ANSWER = 6
"""Number of words up to which an answer is reported only with its question."""
_EMPTY = re.compile(
    r"^\W*(?:(?:awesome|great|nice|good|amazing|wonderful|fantastic) (?:job|work|idea|going|to (?:hear|see)|that)|sounds|"
    r"congrat\w*|wish (?:me|us)|"
    r"I (?:knew|hope|bet) you|let me know|just let me|I can (?:help|give|show) you|you(?:'re| are|'ve|'ll)?|your|"
    r"I (?:\S+ )?agree|i kn?ow? right|myself [A-Z]|kindly)\b|"
    r"\b(?:this|that|these) (?:pic|photo|picture|moment|app|one|song)s?\b",
    re.IGNORECASE,
)
"""Assent, praise, or remarks about a picture that was shown."""
_CATCHES_UP = re.compile(
    r"\bsince we(?:'ve)? (?:last )?(?:talked|spoke|chatted|met)(?: last)?\W*$|\bI(?:'m| am) off to\b(?! [A-Z])(?!.*\b(?:on|in|"
    r"next|for) )|"
    r"\b(?:I(?:'ll| will) (?:have|need) to|I must|I have to|gotta) (?:go|run)\b(?! (?:to|for|on|through|back)\b)|"
    r"^\W*I remember (?:that|it)\W*$|"
    r"\b(?:good ?night|sleep on it|talk (?:to you )?(?:soon|later|tomorrow))\b",
    re.IGNORECASE,
)
"""Phrases that open or close a conversation."""
_OF_EVERYBODY = re.compile(
    r"\W*(?:and |so |but )?(?:we (?:all|can)\b|it's (?:so |really |such )?(?:important|great|amazing|nice|good|a blessing)|"
    r"(?:life|family|love|kindness|music|nature)(?:'s| is| can| has)\b|(?:making|seeing|sharing|staying|investing|working|"
    r"having|"
    r"taking|being|spending) |(?:tough|good|hard) (?:times|food)|(?:stay|keep|find|remember|believe|let's)\b)",
    re.IGNORECASE,
)
"""Beginnings of general wisdom."""
_PERSON = re.compile(r"\b(?:he|she|he's|she's|him|her|his)\b", re.IGNORECASE)
_INTENDS = re.compile(r"\b(?:going to|gonna|moving|flying|want to|wanna|planning)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SummaryCandidate:
    """Report that may become a line of a summary."""

    quote: Quote
    speaker: str
    place: float
    """Relative position in the session, from 0 to below 1."""
    words: frozenset[str]
    """Its content words."""
    salience: float
    sources: tuple[int, ...] = ()
    """Indexes of the sentences it reports."""
    is_fact: bool = False
    is_unclear: bool = False
    """True if it is understood only with the preceding context."""

    @property
    def cost(self) -> int:
        """Its characters, including the line break."""
        return len(self.quote.alone) + 1


@dataclass(frozen=True)
class Material:
    """Session prepared for its title and summary."""

    sentences: list[Sentence]
    signs: list[SentenceSigns]
    news: list[News | None]
    """The event that each sentence reports, or None."""
    facts: list[ReportedFact]
    """Facts about the user that still hold at the end of the session."""
    vocabulary: ConversationVocabulary


def candidates(material: Material, longest: int) -> tuple[list[SummaryCandidate], list[SummaryCandidate]]:
    """Return the facts of a session as reports, and the other sentences worth reporting.

    A question is reported only with its answer, and a pronoun only with the sentence that holds its noun.
    """
    reporter = _Reporter(material.sentences, material.signs, material.vocabulary, min(longest, LONGEST))
    stating = _stating(material)
    stated = {place for places in stating for place in places}
    facts = _facts(material, reporter, stating)
    told = {place for report in facts for place in report.sources}
    return facts, reporter.report(_worth(material, stated | told), told)


def _stating(material: Material) -> list[list[int]]:
    """Return for each fact the indexes of the sentences that state it."""
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
    """Return the facts as reports, each in the words of a sentence that states it if that can be put into the third person."""
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
        # An earlier sentence is joined with one fact only; a further fact is reported in its own wording.
        if report is None or (earlier & taken_along and report.quote.text not in found):
            line, telling = max(fact.lines), frozenset(material.vocabulary.telling(words(fact.text)))
            report = SummaryCandidate(Quote(line, "", fact.text), fact.speaker, line / count, telling, value, tuple(places))
            report = replace(report, is_unclear=fact.is_unclear)
            earlier = set()
        taken_along |= earlier
        found.setdefault(report.quote.alone, replace(report, is_fact=True))
    return _without_parts(list(found.values()))


def _without_parts(found: Sequence[SummaryCandidate]) -> list[SummaryCandidate]:
    """Remove reports that another one contains: by all of their sentences, or by most of their words."""
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
    """Return whether a report states a fact in the third person and briefly.

    A report joined with an earlier sentence is accepted only where the fact has a pronoun before anybody is named.
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
    """Return the weights of the sentences worth reporting, by index, without those `stated` as facts."""
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
    """Return 1 for a sentence about the speaker's own life, and `GENERAL` for one that is true of everybody."""
    is_particular = sign.own or sign.kin or sign.named or sign.when
    return 1.0 if is_particular and not _OF_EVERYBODY.match(text) else GENERAL


def outdated(sentences: Sequence[Sentence], signs: Sequence[SentenceSigns], vocabulary: ConversationVocabulary) -> set[int]:
    """Return the indexes of plans that a later message of the same speaker changes."""
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
    """Return whether a sentence is a joke, holds for the moment only, or has lost the text it quotes."""
    if is_figurative(text) or compares(text) or has_lost_quotation(text) or is_momentary(text):
        return True
    return bool(_EMPTY.search(text) or _CATCHES_UP.search(text))


def lasting(sentence: Sentence, least: float) -> float:
    """Return the weight of a sentence by its probability of being worth remembering, from `least` to 1; sentences of a scene
    get 1.
    """
    if sentence.in_story or sentence.narrates:
        return 1.0
    return least + (1 - least) * probability(features(sentence.text))


class _Reporter:
    """Convert sentences into reports."""

    def __init__(
        self, sentences: Sequence[Sentence], signs: Sequence[SentenceSigns], vocabulary: ConversationVocabulary, longest: int
    ) -> None:
        self._sentences = sentences
        self._signs = signs
        self._vocabulary = vocabulary
        self._longest = longest

    def report(self, kept: Mapping[int, float], told: Collection[int] = ()) -> list[SummaryCandidate]:
        """Return the sentences of these indexes as reports with their weights, each joined with an earlier sentence that it
        refers to. A sentence that refers to one in `told`, which is reported already, is left out.
        """
        found: list[SummaryCandidate] = []
        joined: set[int] = set()
        # From the end, so that a sentence already joined with a later one is not reported again by itself.
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
        """Return the index of the same speaker's earlier sentence that names whom or what a pronoun refers to; None if there
        is none.
        """
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
        """Return the sentence as a statement if possible, else as a quotation; None for fragments and sentences that depend
        on others.
        """
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
    """Return the question that a short answer answers: the last sentence of the other speaker's message before it; None if
    there is none.
    """
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
