"""Markers of negation, possibility, intention and person in the languages whose facts are checked by rules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lethe_app.retrieval.query_terms import WORD, fold

_KANA = re.compile("[\u3040-\u30ff]")
_MIN_FUNCTION_WORD_SHARE = 0.2
"""Minimum share of function words for a text to count as written in a language; below it the language is unknown."""


@dataclass(frozen=True)
class Language:
    """Patterns of one language that the rules use; all ignore case."""

    code: str
    function_words: frozenset[str]
    """Frequent function words, folded; they identify the language and carry no content."""
    negation: re.Pattern[str]
    hedge: re.Pattern[str]
    """Markers of possibility, wish, intention or condition, and of what is only nearly or no longer so."""
    hedged_fact: re.Pattern[str]
    """Markers of a fact that itself states a possibility, wish or intention."""
    first_person: re.Pattern[str]
    second_person: re.Pattern[str]
    possessed_person: re.Pattern[str]
    """Clause whose subject is a relative or acquaintance of the speaker, captured as `who`."""
    letters: str = ""
    """Letters that identify the language of texts with few function words."""
    has_capitalized_names: bool = True
    """True if a capital letter within a sentence marks a name; false for German, where every noun has one."""


def detect_language(text: str) -> Language | None:
    """Return the language of a text; None if it is unknown or the text is too short."""
    if _KANA.search(text):
        return JAPANESE
    words = [fold(word) for word in WORD.findall(text.replace("'", " ").replace("’", " "))]
    if not words:
        return None
    letters = set(text.lower())
    counts = {
        language.code: sum(word in language.function_words for word in words) + (not letters.isdisjoint(language.letters))
        for language in SPACED_LANGUAGES
    }
    best = max(SPACED_LANGUAGES, key=lambda language: counts[language.code])
    is_tied = sum(counts[language.code] == counts[best.code] for language in SPACED_LANGUAGES) > 1
    return None if is_tied or counts[best.code] < _MIN_FUNCTION_WORD_SHARE * len(words) else best


def _word_set(text: str) -> frozenset[str]:
    return frozenset(map(fold, text.split()))


def _compile(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


ENGLISH = Language(
    "en",
    _word_set(
        "the a an i im ive my me we our is was are am have has had been and but or of to in on at for with that this "
        "it its you "
        "your he she they his her their not do dont did be will would just so as from about what when who how there can if "
        "by no"
        " any all some them then up out more only one very over after before she's"
        " s t ll ve re d m"
    ),
    negation=_compile(
        r"\b(?:not|never|no(?! longer a problem\b)|none|nothing|nobody|without|cannot|neither|nor|hardly|barely|dont|"
        r"doesnt|didnt"
        r"|cant|wont|isnt|wasnt|arent|havent|hasnt|wouldnt|couldnt|aint)\b|n't\b"
    ),
    hedge=_compile(
        r"\b(?:might(?:'ve)?|maybe|perhaps|possibly|probably|(?:i|we|he|she|they|it|who|that) may|unsure|(?:not|n't) (?:\w+ )?"
        r"(?:sure|certain)|undecided|wonder(?:ing)?|consider(?:ing)?|(?:think(?:ing)?|thought) (?:about|of)|toying|tempted|"
        r"could|"
        r"want(?:s|ed|ing)? (?:to|a|an)|wanna|would|(?:i|we|he|she|they|it|you)'d (?!say|suggest|recommend)|hop(?:e|es|"
        r"ed|ing)|wish(?:es|ed|ing)?|"
        r"dream(?:s|ed|ing|t)?|plan(?:s|ned|ning)? (?:to|on)|planning|going to (?=[a-z]+\b)(?!the\b|my\b|an?\b)|gonna|"
        r"will(?! always)|(?:i|we|he|she|they|it)'ll|intend(?:s|ing)?|looking to|aim(?:s|ing)? (?:to|for)|tr(?:y|ies|"
        r"ying|ied) to|"
        r"need(?:s|ed)? to|should|ought|supposed to|meant to|someday|one day|eventually|if|unless|suppose|imagine|pretend"
        r"(?:ed|ing)?|as though|in case|whether|almost|nearly|used to (?!(?:the|it|this|that|my|being|having)\b)|debating|"
        r"i guess)\b"
    ),
    hedged_fact=_compile(
        r"\b(?:might|may|maybe|perhaps|possibl\w+|probabl\w+|consider\w*|think\w*|thought|contemplat\w*|unsure|uncertain|"
        r"(?:not|n't) (?:\w+ )?(?:sure|certain)|undecided|wonder\w*|could|hop(?:e|es|ed|ing|eful)|want\w*|wish\w*|would|plans?|"
        r"planned|planning|"
        r"interest\w*|explor\w*|idea|tempted|if|toy\w*|debat\w*|guess\w*|suspect\w*|believ\w*|seem\w*|open to|curious|dream\w*|"
        r"looks? (?:forward|to|for|into)|looking (?:forward|to|for|into)|intend\w*|intention\w*|aim\w*|goals?|will|"
        r"going to|excited|eager\w*|keen|needs?|should|ha(?:s|ve) to|next|upcoming|soon|future|about to|prepar\w*|schedul\w*|"
        r"tr(?:y|ies|ying|ied)|desire\w*|determined|ready|commit\w*|promis\w*|agree\w*|offer\w*|expect\w*|invit\w*|deci\w+|"
        r"strive\w*|striving|seek\w*|long(?:s|ing)? (?:to|for)|yearn\w*|almost|nearly|used to|formerly|once|"
        r"previously|no longer|anymore|until|supposed|ought|suggest\w*|like to|love to|"
        r"aspir\w*|pretend\w*|imagin\w*)\b"
        r"|\b(?:is|are|be) (?:\w+ly )?[a-z]+ing\b|'d\b|'ll\b"
    ),
    first_person=_compile(r"\b(?:I|I'm|I've|I'd|I'll|me|my|mine|myself|we|us|our|ours|im|ive)\b"),
    second_person=_compile(r"\b(?:you|your|yours|yourself|you're|u|ur)\b"),
    possessed_person=_compile(r"\b(?:my|our) (?P<who>(?:[\w-]+ ){0,3}?[\w-]+)"),
)
GERMAN = Language(
    "de",
    _word_set(
        "der die das den dem des ein eine einen einem einer ich mich mir mein meine meinen meinem meiner wir uns unser ist war"
        " bin sind habe hab hat haben und oder aber zu in im am an auf fur mit dass es du dein er sie ihr nicht kein keine wird"
        " werde wurde nur so als von vom bei beim seit wenn was wie auch nach noch schon gern"
    ),
    negation=_compile(r"\b(?:nicht|nie|niemals|kein\w*|nichts|niemand\w*|ohne|weder|kaum|ohne)\b"),
    hedge=_compile(
        r"\b(?:vielleicht|eventuell|möglicherweise|wahrscheinlich|vermutlich|könnte\w*|würde\w*|möchte\w*|wünsch\w*|hoffe\w*|"
        r"hätte\w*|wäre\w*|will|wollen|wollte\w*|plane\w*|vorhabe|überlege\w*|denke\w* (?:darüber|daran)|soll\w*|werde\w*|wird|"
        r"wenn|falls|ob|fast|beinahe|irgendwann|eines tages|träum\w*|nicht mehr|früher)\b"
    ),
    hedged_fact=_compile(
        r"\b(?:vielleicht|eventuell|möglicherweise|wahrscheinlich|könnte\w*|würde\w*|möchte\w*|wünsch\w*|hofft?\w*|"
        r"hätte\w*|wäre\w*"
        r"|will|wollen|wollte|plant\w*|hat vor|vor,|überleg\w*|denkt (?:darüber|daran)|erwäg\w*|soll\w*|wird|werden|"
        r"wenn|falls|ob|"
        r"fast|beinahe|irgendwann|träum\w*|nicht mehr|früher|ehemal\w*|war|hatte|\d{4}|nächste\w*|geplant)\b"
    ),
    first_person=_compile(r"\b(?:ich|mich|mir|mein\w*|wir|uns|unser\w*)\b"),
    second_person=_compile(r"\b(?:du|dich|dir|dein\w*|ihr|euch|euer|eure\w*)\b"),
    possessed_person=_compile(
        r"\b(?:mein\w*|unser\w*) (?P<who>(?:\w+ )?(?:\w*mutter|\w*vater|mama|papa|eltern|\w*schwester|\w*bruder|brüder|"
        r"schwestern|"
        r"geschwister|\w*sohn|söhne|\w*tochter|töchter|kind\w*|frau|mann|freund\w*|partner\w*|oma|opa|tante|onkel|"
        r"cousin\w*|neffe|"
        r"nichte|\w*hund\w*|\w*katze\w*|kater|pferd|chef\w*|nachbar\w*|kolleg\w*|ex\w*))"
    ),
    letters="äöüß",
    has_capitalized_names=False,
)
FRENCH = Language(
    "fr",
    _word_set(
        "le la les un une des du de d l j je me m moi mon ma mes nous notre nos est suis etait ai as a ont et ou mais "
        "pour avec que"
        " qui ce c cette il elle ils ne n pas plus dans en au aux sur par y tu ton ta vous votre se s depuis tres "
        "aussi chez quand"
    ),
    negation=_compile(r"\b(?:ne|n['’]?|pas|jamais|rien|personne|sans|aucune?|ni)\b"),
    hedge=_compile(
        r"\b(?:peut[- ]être|probablement|sûrement|éventuellement|\w{2,}r(?:ais|ait|ions|aient)|voudrais|aimerais|pourrais|"
        r"veux|voulais|voudrait|espère|souhaite|rêve\w*|envisage\w*|pense (?:à|peut)|songe\w*|réfléchi\w*|compte|vais \w+r|"
        r"va \w+r|si|presque|un jour|ne \w+ plus|n['’]\w+ plus|avant je)\b"
    ),
    hedged_fact=_compile(
        r"\b(?:peut[- ]être|probablement|éventuellement|\w{2,}rait|voudrait|aimerait|pourrait|veut|voulait|espère|"
        r"souhaite|rêve\w*|envisage\w*|pense|songe\w*|réfléchi\w*|compte|prévoit|va \w+r|si|presque|un jour|plus|"
        r"\d{4}|prochain\w*|projet\w*|\w{3,}ra)\b"
    ),
    first_person=_compile(r"\b(?:je|j['’]|me|m['’]|moi|mon|ma|mes|nous|notre|nos)\b|\bj['’]|\bm['’]"),
    second_person=_compile(r"\b(?:tu|te|toi|ton|ta|tes|vous|votre|vos)\b|\bt['’]"),
    possessed_person=_compile(
        r"\b(?:mon|ma|mes|notre|nos) (?P<who>(?:\w+ )?(?:mère|père|maman|papa|parents|sœur\w*|soeur\w*|frère\w*|fils|"
        r"filles?|enfants?|"
        r"femme|mari|copine?|copain|amie?s?|compagn\w+|grand[- ]mère|grand[- ]père|mamie|papi|tante|oncle|cousine?s?|"
        r"neveu|nièce|"
        r"chiens?|chiennes?|chats?|chattes?|cheval|patronn?e?|chef|voisine?s?|collègues?|ex))"
    ),
    letters="àâçèêëîïôùûœ",
)
SPANISH = Language(
    "es",
    _word_set(
        "el la los las un una unos unas de del al yo me mi mis nosotros nuestro nuestra es soy era estoy esta fue he "
        "ha hay tengo"
        " y o pero para por con que en se no lo le su sus tu te muy tambien cuando desde como mas este ya donde porque a"
    ),
    negation=_compile(r"\b(?:no|nunca|jamás|nada|nadie|sin|ningun[oa]?|ningún|ni|tampoco)\b"),
    hedge=_compile(
        r"\b(?:quizás?|tal vez|a lo mejor|probablemente|posiblemente|puede que|podría\w*|me gustaría|gustaría|quisiera|"
        r"quiero|quería|espero|ojalá|sueño|deseo|planeo|pienso|pensando en|considero|considerando|voy a|vamos a|va a|"
        r"\w{3,}ría\w*|si|casi|algún día|ya no|antes)\b"
    ),
    hedged_fact=_compile(
        r"\b(?:quizás?|tal vez|probablemente|posiblemente|podría\w*|gustaría|quisiera|quiere|quería|espera|ojalá|sueña|desea|"
        r"planea|piensa|pensando|considera\w*|va a|\w{3,}ría\w*|si|casi|algún día|ya no|antes|\d{4}|próxim\w+|plan\w*|"
        r"\w{3,}rá)\b"
    ),
    first_person=_compile(
        r"\b(?:yo|me|mí|mi|mis|nosotr[oa]s|nuestr[oa]s?|nos|soy|estoy|tengo|he|vivo|trabajo|voy|quiero|puedo|hago|fui|nací|"
        r"llevo|juego|estudio|toco|crecí|odio|compré|adopté|\w{3,}é)\b"
    ),
    second_person=_compile(r"\b(?:tú|te|ti|tu|tus|usted|ustedes|vosotr[oa]s|eres|estás|tienes|vives|trabajas)\b"),
    possessed_person=_compile(
        r"\b(?:mi|mis|nuestr[oa]s?) (?P<who>(?:\w+ )?(?:madre|padre|mamá|papá|padres|herman[oa]s?|hij[oa]s?|niñ[oa]s|"
        r"espos[oa]|marido|"
        r"mujer|novi[oa]|pareja|amig[oa]s?|abuel[oa]s?|tí[oa]s?|prim[oa]s?|sobrin[oa]s?|perr[oa]s?|gat[oa]s?|caballo|jef[ea]|"
        r"vecin[oa]s?|colegas?|ex))"
    ),
    letters="áíóúñ¿¡",
)
JAPANESE = Language(
    "ja",
    frozenset(),
    negation=_compile(r"ない|ません|なかっ|なく|ぬ(?:。|$)|嫌い|苦手|できず"),
    hedge=_compile(
        r"かも|たぶん|多分|おそらく|だろう|でしょう|たい(?!へん)|たく|つもり|予定|ようと思|と思っています|考えて|検討|もし|なら|たら|れば|ほとんど|いつか|"
        r"はず|ほしい|欲しい|夢|昔は|以前は"
    ),
    hedged_fact=_compile(
        r"かも|たぶん|多分|可能性|だろう|たい(?!へん)|たがっ|つもり|予定|ようと|考えて|検討|もし|なら|たら|れば|いつか|はず|ほしい|欲しがっ|夢|望ん|希望|"
        r"昔|以前|かつて|迷って|悩んで|計画"
    ),
    first_person=_compile(r"私|わたし|僕|ぼく|俺|おれ|うち|自分"),
    second_person=_compile(r"あなた|君|きみ|お前"),
    possessed_person=_compile(
        r"(?P<who>お母さん|母親?|お父さん|父親?|両親|姉|兄|妹|弟|兄弟|姉妹|娘|息子|子供|妻|夫|旦那|彼女|彼氏|恋人|祖母|祖父|おばあちゃん|おじいちゃん|"
        r"叔母|叔父|いとこ|友達|友人|親友|犬|猫|馬|上司|同僚|隣人|先生)(?:の[^。、]{1,8})?(?:は|が|も|って)"
    ),
)
SPACED_LANGUAGES = (ENGLISH, GERMAN, FRENCH, SPANISH)
LANGUAGES: Mapping[str, Language] = {language.code: language for language in (*SPACED_LANGUAGES, JAPANESE)}
