"""Words for relatives, friends and pets: colloquial forms with their standard ones, and which pronoun can refer to them."""

from __future__ import annotations

import re

from lethe_app.brain.vocabulary.common_words import (
    FEELINGS,
    LIFE_EVENT_WORDS,
    NON_TOPIC_WORDS,
    RELATIVE_WORDS,
    TIME_WORDS,
    VERB_CUES,
)
from lethe_app.brain.vocabulary.entities import ANIMALS, RELATIVES
from lethe_app.brain.vocabulary.verbs import BASE_VERBS, is_adverb, is_past, third_person_form
from lethe_app.dates.words import MONTHS, WEEKDAYS
from lethe_app.retrieval.query_terms import STOP_WORDS, fold

_COLLOQUIAL = {
    "mother": "mam|mammy|mommy|mummy|momma|mumma|mama",
    "father": "pops|pappy|daddy|papa",
    "parents": "folks",
    "wife": "missus|missis|wifey|old lady|better half|other half",
    "husband": "hubby|hubs|old man",
    "partner": "fella|feller|bloke|bae",
    "boyfriend": "bf",
    "girlfriend": "gf",
    "fiancé": "fiance",
    "best friend": "bff|bestie|best mate|best bud|bestest friend|best pal",
    "friend": "mate|pal|buddy|bud|homie",
    "brother": "bro|brudder",
    "sister": "sis",
    "son": "lad|boy|wee lad",
    "sons": "lads|boys",
    "daughter": "wee girl|little girl",
    "daughters": "girls|wee girls|little girls",
    "grandmother": "oma|nani|dadi|nonna|abuela|yaya|yiayia|babcia|ajji|halmoni|lola|grandmom|nanny|gran|nanna|gramma",
    "grandfather": "opa|nana ji|dada|nonno|abuelo|ajja|dziadek|lolo|grampa|gramps|grandpop|granda",
    "eldest child": "eldest|oldest",
    "youngest child": "youngest",
    "middle child": "middle one",
    "baby": "wee one|newborn",
    "mother-in-law": "mil",
    "father-in-law": "fil",
    "neighbour": "next-door neighbour|next door neighbour",
    "dog": "doggo|pup|pooch|mutt",
    "cat": "kitty|moggy|moggie",
}
_STANDARD_WORDS = {word: plain for plain, words in _COLLOQUIAL.items() for word in words.split("|")}
_UNAMBIGUOUS_WORDS = (
    "missus|missis|wifey|hubby|hubs|mam|mammy|momma|mumma|bff|bestie|bf|gf|better half|other half|best mate|best bud"
)
_COLLOQUIAL_RELATION = re.compile(
    rf"\b(?P<whose>my|our|me|the|his|her) (?P<who>{_UNAMBIGUOUS_WORDS}|oma|nani|dadi|nonna|abuela|yiayia|babcia|ajji|halmoni|"
    r"opa|nonno|abuelo|dziadek|pops|"
    r"daddy|folks)(?P<of>'s|s)?(?![\w-])",
    re.IGNORECASE,
)
_RELATION_WITH_THE = re.compile(
    r"\b(?:the|me) (?P<who>wife|husband|mother|father|mum|dad|mother-in-law|in-laws)\b(?! of\b)", re.IGNORECASE
)
_RELATION_WITHOUT_MY = re.compile(
    r"(?:(?<=^)|(?<=[.!?] )|(?<=\n))(?P<who>(?:mum|mom|mam|dad|mother|father|wife|husband|missus|hubby|boss|sister|"
    r"brother|sis|bro|gran|grandma|grandad|"
    r"nan|mother-in-law|father-in-law|bf|gf|girlfriend|boyfriend|flatmate|roommate|landlord|landlady))(?= (?:is|has|was|"
    r"works?|worked|lives?|lived|hates|"
    r"loves|died|wants|made|cried|cooks|drives|teaches|turned|turns|passed|got|had|plays|runs|owns|and (?:dad|mum|"
    r"mom) (?:are|live))\b)",
    re.IGNORECASE,
)
"""Relative without a possessive at the beginning of a sentence, as in “Mum works nights”."""
_MY_WORDS = frozenset(("my", "our", "me", "the"))

DOGS = (
    r"(?:(?:border |golden |english |springer |cocker |king charles |black |yellow |chocolate |miniature )?(?:springer|"
    r"spaniel|labrador|lab|beagle|dachshund|poodle|collie|terrier|retriever|corgi|greyhound|whippet|lurcher|husky|"
    r"pug|bulldog|boxer|rottweiler|shih tzu|chihuahua|pitbull|pit bull|staffy|alsatian|german shepherd|shepherd|dalmatian|"
    r"great dane|setter|pointer|mastiff|cockapoo|labradoodle|cavapoo|schnauzer|maltese|pomeranian|sheepdog|yorkie|westie|"
    r"jack russell|cavalier|bichon|sausage dog|vizsla|malamute|samoyed|akita|basset|bloodhound|rescue mutt|mongrel))"
)
CATS = r"(?:tabby|tomcat|siamese|persian cat|maine coon|ragdoll|bengal cat|ginger tom|calico|british shorthair)"
SNAKES = r"(?:ball python|python|corn snake|boa)"
PETS = rf"(?:{DOGS}|{CATS}|{SNAKES}|{ANIMALS})"
_OTHER_ROLES = (
    r"(?:boss|landlady|landlord|coach|doctor|gp|therapist|dentist|vet|manager|supervisor|co-?worker|workmate|classmate|"
    r"teammate|"
    r"tutor|instructor|midwife|hairdresser|barber|priest|pastor|baby|partner in crime|bandmate|training partner|pen ?pal|"
    r"carer|nanny|childminder|babysitter|professor|advisor|ex-(?:wife|husband))"
)
_COLLOQUIAL_PATTERN = "|".join(sorted(map(re.escape, _STANDARD_WORDS), key=len, reverse=True))
ROLES = rf"(?:{_OTHER_ROLES}|(?:{RELATIVES})|{_COLLOQUIAL_PATTERN}|{PETS})"
AGE_ADJECTIVE = (
    r"(?:older|younger|big|little|lil|elder|twin|late|oldest|youngest|eldest|new|old|other|baby|kid|former|first|second|"
    r"third|ex|"
    r"good|dear|great|elderly|middle|half|closest|oldest|favou?rite|black|white|ginger|rescue|tabby|wee|crazy|beautiful|"
    r"lovely)"
)
PERSON_PHRASE = rf"(?:{AGE_ADJECTIVE} ){{0,2}}?{ROLES}"

_FEMALE = re.compile(
    r"(?:mother|mum|mom|grandma|gran|granny|nan|nana|grandmother|sister|daughter|granddaughter|wife|girlfriend|fiancée|"
    r"aunt|auntie|"
    r"niece|landlady|midwife|girl)(?:-in-law)?\Z"
)
_MALE = re.compile(
    r"(?:father|dad|grandpa|grandad|granddad|grandfather|brother|son|grandson|husband|boyfriend|uncle|nephew|landlord|boy)"
    r"(?:-in-law)?\Z"
)
_NOT_NAMES = frozenset(
    fold(word)
    for word in (
        *STOP_WORDS,
        *NON_TOPIC_WORDS,
        *FEELINGS,
        *LIFE_EVENT_WORDS,
        *RELATIVE_WORDS,
        *VERB_CUES,
        *TIME_WORDS,
        *BASE_VERBS,
        *map(third_person_form, BASE_VERBS),
        *WEEKDAYS,
        *MONTHS,
        *"""
        i im ok okay yes yeah yep no nope nah so oh sorry thanks wow hey hi hello haha lol lmao god jesus christ well anyway
        and n or but who whose that this it he she they we you my our me the a an is was are were will would can could does
        did do has have had just also still then now never always too tho though btw from in on at of for with by to as like
        about after before since when while until till cause because cos says said thinks thought went goes gone came comes
        got gets took takes lives works plays loves hates likes wants needs made makes gave gives keeps kept left turned turns
        moved passed died dead born called named married pregnant sick ill fine good bad old young new big little great nice
        lovely sweet cute crazy amazing awesome cool happy sad mad angry tired busy home here there back away over out up down
        off today tomorrow yesterday tonight yet again ever even only really very quite both all some any none one two three
        four five six seven eight nine ten next last first second third not dont isnt aint wont cant her him his their them us
        ours mine yours what where why how which than more most much many few lot bit kind sort thing things stuff way day
        days week year years month months hour hours time times night nights morning evening school work job uni college house
        kitchen dog dogs cat cats pet pets kid kids baby mum mom dad mother father sister brother son daughter wife husband
        friend boss food name names birthday wedding party visit visiting visits calls calling text texts rings ringing phone
        phoned texted told tell tells asked asks think know knows knew seems looks looked feels felt being been be am bought
        buys brought brings eats ate cooks cooked sings snores snored barks barked ran runs stays stayed starts started
        stopped stops helps helped walked walks single divorced engaged retired separated widowed vegan vegetarian english
        irish scottish welsh british french german spanish polish american australian canadian indian chinese japanese italian
        mr mrs ms miss dr prof sir lady king queen story place town city country person people man woman guy girl boy everyone
        everybody someone somebody nobody something everything nothing anything christmas easter lord hell damn shit fuck
        fucking bloody literally honestly basically actually apparently obviously probably maybe perhaps guess hope wish love
        hate want need mind sure right true yay ugh hmm um er ah aw aww omg wtf tbh ngl idk rn irl imo plus minus per via aka
        etc eg ie vs v w x xx xoxo brb afk gtg omw tmi smh imho ikr lmk nvm obvs def defo prob probs rly srsly ofc thx ty pls
        plz soz dunno thats shes hes its theyre ive id youre dats dis dat em
        """.split(),  # noqa: SIM905 - a list of quoted words cannot be read
    )
)
_NAMES_LIKE_WORD_FORMS = frozenset(
    """
    emily kelly holly sally billy molly polly lily milly willy carly shelly nelly ally elly kimberly beverly ted fred jared ed
    ned reed zed mohammed ahmed drew rose hope joy
    """.split()  # noqa: SIM905
)
"""Names that look like an adverb or a past form."""
_NAMES_ALSO_WORDS = frozenset(
    """
    will mark may grace faith dawn bill summer autumn april june august angel king hunter chase star miss art pearl precious
    """.split()  # noqa: SIM905
)
"""Names that are an everyday word as well. They count with a capital and where nothing but a name is possible."""
_ADJECTIVES_BEFORE_NAME = frozenset(("big", "little", "wee", "old", "young", "baby", "lil"))
_TITLE = r"(?:(?:mr|mrs|ms|miss|dr|prof|pastor|father|sister|auntie?|uncle|big|little|wee|old|young|baby|lil) )"
NAME = rf"(?:{_TITLE}\.?)?[^\W\d_][^\W\d_'’-]+(?:-[^\W\d_]+)?"


def standardize_relations(text: str) -> str:
    """Replace colloquial words for relatives by standard ones: “the missus” by “my wife”, “me mam” by “my mother”."""
    replaced = _COLLOQUIAL_RELATION.sub(_standardize_match, _RELATION_WITHOUT_MY.sub(r"my \g<who>", text))
    return _RELATION_WITH_THE.sub(r"my \g<who>", replaced)


def _standardize_match(match: re.Match[str]) -> str:
    whose = match["whose"].lower()
    my_word = ("My" if match["whose"][0].isupper() else "my") if whose in _MY_WORDS else match["whose"]
    return f"{my_word} {_STANDARD_WORDS[match['who'].lower()]}{chr(39) + 's' if match['of'] else ''}"


def standardize_role(role: str) -> str:
    """Return the standard form of a role: “best friend” for “bestie”, “dog” for “springer”. Adjectives that distinguish two
    relatives, such as “older”, stay.
    """
    role = role.lower().strip()
    # Longest first, so that “best mate” is not replaced as “mate”.
    for word in sorted(_STANDARD_WORDS, key=len, reverse=True):
        if re.search(rf"(?:^| ){re.escape(word)}\Z", role):
            role = role.removesuffix(word) + _STANDARD_WORDS[word]
            break
    for breeds, animal in ((DOGS, "dog"), (CATS, "cat"), (SNAKES, "snake")):
        if re.search(rf"(?:^|\b){breeds}\Z", role):
            return animal
    role = re.sub(
        r"\b(?:new|good|dear|great|crazy|beautiful|lovely|wee|other|old|black|white|elderly|favou?rite|ex) (?=\w)", "", role
    )
    return re.sub(r"\b(?:lil|baby|kid) (?=brother|sister)", "little ", role)


def is_own_relation(role: str) -> bool:
    """Return whether “a … called Tom” belongs to the speaker, such as a brother or a cat, and not a vet."""
    return not re.search(rf"(?:^|\b){_OTHER_ROLES}\Z", role.lower())


def find_breed(pet_word: str) -> str:
    """Return the breed named by a word for a pet, such as “springer”; empty for other words."""
    match = re.search(rf"(?:{DOGS}|{CATS}|{SNAKES})\Z", pet_word.lower())
    return match[0] if match and match[0] not in {"lab", "rescue mutt"} else ""


def possible_pronouns(relation: str) -> frozenset[str]:
    """Return which of “he” and “she” can refer to this relative or pet."""
    last_word = relation.rsplit(" ", 1)[-1]
    if _FEMALE.match(last_word):
        return frozenset(("she",))
    return frozenset(("he",)) if _MALE.match(last_word) else frozenset(("she", "he"))


def parse_name(word: str, *, is_certain: bool = False) -> str:
    """Return the word as a name, with capitals; empty if it is more likely an everyday word.

    A lowercase word counts as a name only if it is not known as a word. `is_certain` states that its position allows no other
    reading.
    """
    parts = word.strip(" '’").split()
    if not parts:
        return ""
    parts = parts[1:] if len(parts) > 1 and parts[0].lower() in _ADJECTIVES_BEFORE_NAME else parts
    last_word = parts[-1]
    folded = fold(last_word)
    is_also_word = folded in _NOT_NAMES and folded not in _NAMES_LIKE_WORD_FORMS
    if len(last_word) < 2 or (is_also_word and not (is_certain and last_word[0].isupper() and folded in _NAMES_ALSO_WORDS)):
        return ""
    is_word = folded not in _NAMES_LIKE_WORD_FORMS and (
        is_adverb(folded) or is_past(folded) or folded.endswith(("ing", "ness", "tion"))
    )
    if is_word and not last_word[0].isupper():
        return ""
    return " ".join(part if part[0].isupper() else part.capitalize() for part in parts)
