"""Translation of basic requests for a time from German, French, Spanish and Japanese into the English words that
`time_requests` parses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lethe_app.dates.words import MONTHS, WEEKDAYS

_Replacement = str | Callable[[re.Match[str]], str]


@dataclass(frozen=True)
class _Language:
    asks: re.Pattern[str]
    """Matches a question for what was said before, or for how the user was."""
    words: Sequence[tuple[re.Pattern[str], _Replacement]]
    """Patterns of time expressions, each with its English form."""


def translate_to_english(sentence: str) -> str:
    """Return the time expressions of a request in one of these languages in English; empty if the sentence is no such
    request.
    """
    lowered = sentence.lower()
    for language in _LANGUAGES:
        if language.asks.search(lowered):
            times: list[str] = []
            for pattern, english in language.words:
                found = pattern.finditer(lowered)
                times += [match.expand(english) if isinstance(english, str) else english(match) for match in found]
                # A matched time is removed, so that a later, shorter pattern does not match part of it again.
                lowered = pattern.sub("\0", lowered)
            if times:
                return ", ".join(times)
    return ""


def _build_language(
    asks: str, months: str, weekdays: str, month_day: str, weekday: str, others: Sequence[tuple[str, str]]
) -> _Language:
    """Compile the patterns of one language. `month_day` and `weekday` contain `{names}` where the names are inserted."""
    month_of = dict(zip(months.split(), MONTHS, strict=True))
    day_of = dict(zip(weekdays.split(), WEEKDAYS, strict=True))

    def translate_month_day(match: re.Match[str]) -> str:
        year = f" {match['year']}" if match["year"] else ""
        return f"{match['day']} {month_of[match['name']]}{year}" if match["day"] else f"in {month_of[match['name']]}{year}"

    def translate_weekday(match: re.Match[str]) -> str:
        return f"last {day_of[match['name']]}"

    rules: list[tuple[str, _Replacement]] = [
        (month_day.format(names="|".join(month_of)), translate_month_day),
        *others,
        (weekday.format(names="|".join(day_of)), translate_weekday),
    ]
    return _Language(re.compile(asks), tuple((re.compile(pattern), english) for pattern, english in rules))


_LANGUAGES = (
    _build_language(
        r"\b(?:worüber|über was|wovon|von was|was) (?:haben|hatten|hast|habe|hab|hatte) (?:wir|ich|du)\b|\berinnerst du dich\b|"
        r"\bweißt du noch\b|\bwie (?:ging(?:'?s)? (?:es )?mir|war ich|habe? ich mich|war mein)\b|\bwann haben wir\b|"
        r"\bwas war (?:bei|in|mit) (?:uns|unser)|\bworum ging(?: e|')s\b|\bwo waren wir\b|\bfass\b.*\bzusammen\b",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
        r"\b(?:(?P<day>\d{{1,2}})\. ?|(?:im|letzten) )(?P<name>{names})\b(?: (?P<year>20\d\d))?",
        r"\b(?:am|letzten|vergangenen) (?:letzten )?(?P<name>{names})\b",
        [
            (r"\bvorgestern\b", "the day before yesterday"),
            (r"\bgestern abend\b|\bletzte nacht\b", "last night"),
            (r"\bgestern\b", "yesterday"),
            (r"\bheute (?:morgen|früh|vormittag)\b", "this morning"),
            (r"\bvorletzte woche\b", "the week before last"),
            (r"\b(?:letzte|vergangene|vorige)[rn]? woche\b", "last week"),
            (r"\b(?:letzten|vergangenen) monat\b", "last month"),
            (r"\b(?:letztes|am letzten|vergangenes) wochenende\b", "last weekend"),
            (r"\bvor (\d{1,3}) tagen\b", r"\1 days ago"),
            (r"\bvor (\d{1,3}) wochen\b", r"\1 weeks ago"),
            (r"\bvor zwei tagen\b", "two days ago"),
            (r"\bvor drei tagen\b", "three days ago"),
            (r"\bvor einer woche\b", "a week ago"),
            (r"\bvor zwei wochen\b", "two weeks ago"),
            (
                r"\b(?:beim )?(?:letzten? mal|letztes mal)\b|\bzuletzt\b|\bletzte[sn]? (?:gespräch|unterhaltung|chat)\b",
                "last time",
            ),
            (r"\berste[sn]? (?:gespräch|unterhaltung|chat|mal)\b|\bkennengelernt\b", "our first conversation"),
        ],
    ),
    _build_language(
        r"\bde quoi (?:avons|a-t-on|on a|nous avons|est-ce qu|parlions)|\bqu'(?:est-ce (?:que|qu')|ai-je|avons-nous)|"
        r"\b(?:tu te|te) (?:souviens|rappelles)\b|\b(?:souviens|rappelles)-tu\b|\brappelle-moi\b|\bquand (?:avons|est-ce qu)|"
        r"\bcomment (?:j'allais|j'étais|étais-je|allais-je|je me sentais|me sentais-je)\b|\bde quoi parlait\b|\brésume\b",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        r"\b(?:(?P<day>\d{{1,2}})(?:er)? |en )(?P<name>{names})\b(?: (?P<year>20\d\d))?",
        r"\b(?P<name>{names})\b(?: dernier)?",
        [
            (r"\bavant[- ]hier\b", "the day before yesterday"),
            (r"\bhier soir\b|\bla nuit dernière\b", "last night"),
            (r"\bhier\b", "yesterday"),
            (r"\bce matin\b", "this morning"),
            (r"\bla semaine (?:dernière|passée)\b", "last week"),
            (r"\ble mois (?:dernier|passé)\b", "last month"),
            (r"\ble week-?end (?:dernier|passé)\b", "last weekend"),
            (r"\bil y a (\d{1,3}) jours\b", r"\1 days ago"),
            (r"\bil y a (\d{1,3}) semaines\b", r"\1 weeks ago"),
            (r"\bil y a deux jours\b", "two days ago"),
            (r"\bil y a trois jours\b", "three days ago"),
            (r"\bil y a une semaine\b", "a week ago"),
            (r"\bil y a deux semaines\b", "two weeks ago"),
            (r"\bla dernière fois\b|\bdernière (?:conversation|discussion)\b", "last time"),
            (r"\bla première fois\b|\bpremière (?:conversation|discussion)\b", "our first conversation"),
        ],
    ),
    _build_language(
        r"\bde qué (?:hablamos|hablábamos|charlamos|estuvimos)|"
        r"\bqué (?:te )?(?:dije|conté|dijimos|hicimos|me dijiste|hablamos)\b|"
        r"\b(?:te acuerdas|recuerdas|acuérdate|recuérdame)\b|\bcómo (?:estaba|estuve|me sentía|me encontraba)\b|"
        r"\bcuándo (?:hablamos|fue)\b|\bresume\b",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "lunes martes miércoles jueves viernes sábado domingo",
        r"\b(?:(?P<day>\d{{1,2}}) de |en )(?P<name>{names})\b(?: (?:de |del )?(?P<year>20\d\d))?",
        r"\bel (?P<name>{names})\b(?: pasado)?",
        [
            (r"\b(?:anteayer|antes de ayer|antier)\b", "the day before yesterday"),
            (r"\banoche\b|\bayer por la noche\b", "last night"),
            (r"\bayer\b", "yesterday"),
            (r"\besta mañana\b", "this morning"),
            (r"\bla semana pasada\b", "last week"),
            (r"\bel mes pasado\b", "last month"),
            (r"\bel fin de semana pasado\b", "last weekend"),
            (r"\bhace (\d{1,3}) días\b", r"\1 days ago"),
            (r"\bhace (\d{1,3}) semanas\b", r"\1 weeks ago"),
            (r"\bhace dos días\b", "two days ago"),
            (r"\bhace tres días\b", "three days ago"),
            (r"\bhace una semana\b", "a week ago"),
            (r"\bhace dos semanas\b", "two weeks ago"),
            (r"\bla última vez\b|\búltima (?:conversación|charla)\b", "last time"),
            (r"\bla primera vez\b|\bprimera (?:conversación|charla)\b", "our first conversation"),
        ],
    ),
    _build_language(
        r"(?:何|なに|どんな|誰|どこ).*(?:話|言|喋|しゃべ|した|決め)|覚えて(?:い)?(?:る|ます|ない|ません)|(?:話|会話|言った|調子|気分).*(?:教えて|[?？]|っけ)|"
        r"どうだった|元気だった",
        "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月",
        "月曜 火曜 水曜 木曜 金曜 土曜 日曜",
        r"(?<!\d)(?:(?P<year>20\d\d)年)?(?P<name>{names})(?:(?P<day>\d{{1,2}})日)?",
        r"(?P<name>{names})日?",
        [
            (r"一昨日|おととい", "the day before yesterday"),
            (r"昨日の(?:夜|晩)|昨夜|昨晩|ゆうべ", "last night"),
            (r"昨日|きのう", "yesterday"),
            (r"今朝|けさ", "this morning"),
            (r"先々週", "the week before last"),
            (r"先週の(?=[月火水木金土日]曜)", ""),
            (r"先週末", "last weekend"),
            (r"先週", "last week"),
            (r"先月", "last month"),
            (r"(\d{1,3})日前", r"\1 days ago"),
            (r"(\d{1,3})週間前", r"\1 weeks ago"),
            (r"二日前|ふつか前", "two days ago"),
            (r"三日前", "three days ago"),
            (r"前回|この前|この間|こないだ|最後に", "last time"),
            (r"最初に|最初の(?:会話|話)|初めて", "our first conversation"),
        ],
    ),
)
