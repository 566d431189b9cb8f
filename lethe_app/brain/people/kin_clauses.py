"""Clauses about a person: where they end, and lasting predicates (“is a physio”) as opposed to momentary ones (“is asleep”)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lethe_app.brain.people.acquaintances import Person
from lethe_app.brain.text.clauses import strip_fillers
from lethe_app.brain.vocabulary.entities import CONDITIONS, JOBS, STATES
from lethe_app.brain.vocabulary.kin_words import parse_name
from lethe_app.brain.vocabulary.phrases import AGE
from lethe_app.retrieval.query_terms import fold

_JUDGING_NOUN = (
    r"(?:angel|legend|star|saint|hero|pain|nightmare|joke|bit|lot|mess|idiot|fool|sweetheart|darling|delight|menace|"
    r"monster|god(?:send)?|"
    r"dream|rock|gem|treasure|liar|bitch|dick|prick|twat|bastard|arse|asshole|jerk|clown|muppet|disaster|riot|hoot|character|"
    r"good (?:one|kid|lad|girl|boy|man|woman|egg|person)|big (?:baby|softie)|baby|person|human|man|woman|girl|boy|kid|guy|"
    r"thing|one|"
    r"little (?:shit|devil|monkey|madam|terror|angel|bugger)|shark|pro footballer|handful|hard|walking|total|absolute|"
    r"complete|right|real|"
    r"proper|bit|while|joy|blessing|worry|worrier|star|diva|princess|drama|snob|genius|natural|mystery|good|bad|great|"
    r"terrible|"
    r"lovely|nice|horrible|rubbish|better|bigger|red flag|keeper|shame|pity|robot|ghost|state|wreck|sweetie|cutie)\b"
)
_NOUN_PREDICATE = re.compile(
    rf"is (?:now |also |still |actually |training to be |"
    rf"studying to be )?an? (?!(?:[\w-]+ ){{0,2}}?{_JUDGING_NOUN})(?P<what>(?:[\w'-]+ ?){{1,5}}.*)"
)
_VERB = re.compile(
    r"(?:(?:also|still|now|currently|just|only|never|always|actually|recently|both) )*(?:lives?|works?|worked|lived|"
    r"studies|studied|stud(?:y|ies)|teaches|taught|plays|"
    r"played|sings|speaks|runs|ran|owns|owned|sells|sold|builds|built|bakes|cooks|paints|writes|drives|drove|rides|"
    r"dances|collects|breeds|farms|farmed|fishes|hunts|knits|sails|surfs|swims|skis|coaches|manages|volunteers|does|loves|"
    r"hates|adores|likes|prefers|enjoys|collects|moved|moves|emigrated|retired|graduated|graduates|started|starts|"
    r"got (?:married|engaged|divorced|"
    r"promoted|fired|into|laid|a (?:new )?job|her|his|accepted)|married|broke (?:his|her|up)|hurt (?:his|her)|sprained|"
    r"had an? |had (?:her|his) |"
    r"has an? |has (?:two|three|four|five|six|\d|type|got (?:an?|two|three|type|\d)|had (?:an?|two|three|surgery|cancer|"
    r"kids)|been (?!so|very|really|a bit|great|good|there|on)|lived|worked|moved|never|just|asthma|autism|adhd|diabetes|"
    r"dementia|"
    r"alzheimer|cancer|arthritis|epilepsy|anxiety|depression)\b|suffers from|comes from|came from|grew up|was born (?=\w)|"
    r"was raised|was adopted|"
    rf"was an? (?:[\w-]+ )?(?:{JOBS}|[a-z]+(?:er|or|ist|ian))\b(?<!monster)(?<!disaster)(?<!winner)|died|passed away|"
    rf"passed (?:in|on|last|two|three|when|her|his)|joined|quit|left (?:school|home|us|his|her|for)|"
    r"goes to (?!bed|sleep|the (?:loo|toilet|shop|bathroom))|went to (?:uni|college|school|university)|won|lost (?:his|"
    r"her)|wears|drinks|smokes|vapes|quit|stopped|gave up|"
    r"can't (?:swim|drive|eat|walk|see|hear|cook|read|speak|stand)|can (?:speak|play|whistle|ride|swim|read)|"
    r"doesn't (?:eat|drink|drive|speak|like|work|smoke|live)|"
    r"don't (?:eat|drink|like)|used to|raises|raised|farms|served|fought|does (?:drums|ballet|karate|judo|gymnastics|"
    r"boxing|yoga|football)|"
    r"turned|turns|will be \d|named|eats|barks at|chases|sleeps (?:in|on)|snores|steals|fears|is (?:afraid|scared|"
    r"terrified) of|visits (?:every|on)|"
    r"comes (?:over |round |here )?(?:every|on|for)|calls (?:me )?every|rings (?:me )?(?:every|on)|helps (?:me |"
    r"out )?(?:with|at|in)|"
    r"takes care|looks after|minds|cares for|supports (?!me)|trains|competes|races|boxes|skates|climbs|gardens|sews|"
    r"crochets|acts)\b(?P<rest>.*)"
)
_STATE = re.compile(
    rf"is (?:also |still |now |currently |just |finally |already |only |actually )*(?:{STATES}|{CONDITIONS}|from .+|(?:in|"
    rf"at|near|out in|over in|up in|down in|based in|back in) "
    r"(?!a (?:mood|rush|hurry|meeting|way|huff|sulk|bad|state)|bed\b|love\b|trouble\b|it\b|the (?:shower|bath|car|kitchen|"
    r"garden|loo|middle|way|room|next|same|other|mood)|work\b|"
    r"home\b|least\b|peace\b|charge of me|my\b|shock|denial|tears|pain\b).+|(?:expecting|pregnant|due|dead|deaf|blind|"
    r"adopted|retired|"
    r"studying|training|working|living|moving|getting (?:married|divorced|engaged|treatment|chemo)|marrying|starting|"
    r"doing (?:her|his|an?)|seeing|dating|"
    r"married|engaged|divorced|separat\w+|allergic|intolerant|obsessed|afraid|scared|terrified|mad (?:about|into|on)|"
    r"really into|into|crazy about|all about|named|called|on (?:the|insulin|chemo|dialysis|medication)|"
    r"learning|raising|reading|going (?:to be|into|to (?:uni|college|school))|off to|about to (?:start|have|retire|"
    r"graduate|move))\b.*|fluent in .+|good at .+|very good at .+|great at .+|older .*|"
    r"(?:a |one |two |three |four |five |six |seven |ten |\d+ )?years? (?:older|younger)(?: than me)?|(?:vegan|vegetarian|"
    r"veggie|gay|trans|"
    r"bisexual|autistic|diabetic|disabled|tall|left-handed)\b.*)"
)
_AGE = re.compile(
    rf"(?:is|was)(?: (?:just|only|now|nearly|almost|already|about))? (?P<age>\d+ (?:months|weeks)(?: old)?|{AGE}|(?:a|one|"
    rf"two|three|four|five|six|seven) (?:months?|weeks?|and a half))(?! (?:times|minutes|hours|days|feet|foot|ft|pounds|"
    rf"kilos|lbs|stone|"
    r"of|out|people|percent|miles|down|pm|am|more|less|years (?:older|younger|clean|sober|ago|in|now|together|running)|"
    r"months (?:ago|pregnant|"
    r"sober|clean|in)))\b"
)
_TURNING_AGE = re.compile(
    rf"(?:is turning|just turned|turned|turns|will be|be|is about to turn|is going to be|"
    rf"is gonna be) (?P<age>{AGE})\b(?! (?:times|minutes|years (?:since|in)))"
)
_MOMENTARY_WORD = re.compile(
    r"\b(?:right now|at the moment|today|tonight|this (?:morning|evening|afternoon)|asleep|tired|drunk|you|your|if|maybe|"
    r"might|probably|would|could|should|"
    r"perhaps|guess|i think|it|this|that|them|they|there|here|hardly|lol|like a|as if|too|so much|enough|kidding|joking|"
    r"yesterday said)\b",
    re.IGNORECASE,
)
_DANGLING = re.compile(
    r"\b(?:with|to|for|at|of|on|from|about|like|than|near|by|loves|hates|likes|minds|adores|helps) (?:her|him|hers)(?=$|"
    r"[,.]| (?:and|in|at|on|for|"
    r"since|to|too|every)\b)",
    re.IGNORECASE,
)
_TRAILING_COMMENT = re.compile(
    r",? (?:would you believe|if you can believe it|believe it or not|god (?:rest|bless|help).*|bless (?:him|her).*|lol|"
    r"haha|ha|xd|ngl|tbh|btw|tho|though|now|"
    r"too|also|as well|already|you know|yk|these days|for my sins|i think|i know|thank god|sadly|poor thing|poor lad|"
    r"the poor \w+|and all|"
    r"and (?:she|he|it|that|they|I|we|thinks|says|wants|is so|is very|is really|never shuts).*|n (?:thinks|says|wants).*|"
    r"but .*|so .*|which .*|because .*|cause .*)$",
    re.IGNORECASE,
)
_PLACE_AFTER_VERB = re.compile(
    r"(?P<before>\b(?:lives?|living|is|moved|moving|out|over|born|comes|came|grew up|based) (?:in|from|to|"
    r"near) )(?P<place>[a-z]{3,}(?: [a-z]{4,})?)\b(?=$|,| with| and| now)"
)
_NOT_PLACES = frozenset(
    """
    uni university college school hospital prison jail bed retail tech finance care nursing construction sales law
    """.split()  # noqa: SIM905
)
_CLAUSE_BREAK = re.compile(
    r"\s*,\s*|\s+(?:and|but|so|because|cause|tho|though|n)\s+(?=(?:my|I|we|they)\b)|"
    r"\s+(?:and|but|so|because|cause|tho|though|while|till|until|since|when|n|after)\s+(?=(?:he|she|he's|she's)\b"
    r"|(?P<name>[^\W\d_][\w-]+)(?:'?s)? )|(?P<run>\s+(?=(?:he|she)(?:'s| \w)))",
    re.IGNORECASE,
)
_OPEN_CLAUSE_END = re.compile(
    r"\b(?:think|thinks|know|knows|say|says|said|that|if|when|what|how|where|why|who|hope|wish|told|than|like|as|believe|"
    r"swear|guess|"
    r"before|whether|because|cause|thought|everything|anything|all|the \w+|so|and|but|first time|last time|til|till|until|"
    r"sure|love)$",
    re.IGNORECASE,
)
_REPORTING_END = re.compile(r"\b(?:told|tell|asked|ask|show|showed|says|said) \w+(?: that)?$", re.IGNORECASE)


def extract_predicate(text: str, *, is_verb_optional: bool = True) -> str:
    """Return the lasting predicate a clause begins with, such as “is a physio”; empty if there is none.

    Unless `is_verb_optional`, it needs its own verb: “in boston” alone does not count.
    """
    predicate = strip_fillers(
        _add_verb(text) if is_verb_optional or not re.match(r"(?:an?|in|at|near|from|based|\d)\b", text) else text
    )
    previous = ""
    while previous != predicate:
        previous = predicate
        predicate = _TRAILING_COMMENT.sub("", predicate).strip(" ,.!")
    if age_match := _AGE.match(predicate) or _TURNING_AGE.match(predicate):
        age_predicate = predicate if age_match.re is _TURNING_AGE and not _MOMENTARY_WORD.search(predicate) else age_match[0]
        return re.sub(r"^be ", "will be ", age_predicate)
    if (
        not predicate
        or len(predicate) > 110
        or _MOMENTARY_WORD.search(predicate)
        or _DANGLING.search(predicate)
        or predicate.endswith((" a", " the", " to", " of", " in", " at", " and", " with", " these", " those", " this", "born"))
    ):
        return ""
    if any(pattern.match(predicate) for pattern in (_NOUN_PREDICATE, _VERB, _STATE)) and (
        " " in predicate or predicate in _ONE_WORD_PREDICATES
    ):
        return _PLACE_AFTER_VERB.sub(_capitalize_place, predicate)
    return ""


_ONE_WORD_PREDICATES = frozenset("died retired surfs sings skis farms sails races snores climbs boxes sews knits".split())  # noqa: SIM905


def _add_verb(text: str) -> str:
    """Return the predicate with its verb: “'s a nurse” as “is a nurse”, “9” and “in boston” with “is”."""
    text = re.sub(
        r"^'?s (?=(?:got|been|had|lived|worked|moved|always|never|just (?:got|started|moved|had|turned))\b)",
        "has ",
        text.strip(" ,.!"),
    )
    text = re.sub(r"^'s ", "is ", re.sub(r"^'ll be ", "will be ", text))
    text = re.sub(r"^(?:just|also|actually|still|now) (?=(?:is|has|was|'s)\b)", "", text)
    text = re.sub(r"^(?:has got|'s got|got) (?=(?:an?|two|three|type|\d)\b)", "has ", text)
    text = re.sub(r"^just (?=turned|started|moved|got|had|quit|retired|graduated)", "", text)
    text = re.sub(r"^(?:aged |age )(?=\d)", "is ", text)
    text = re.sub(r"^(?:who )?(?=an? (?!.*\b(?:lot|bit|while)\b))", "is ", text)
    text = re.sub(rf"^(?=(?:{AGE}|\d+ (?:months|weeks))(?:\W|$))", "is ", text)
    text = re.sub(r"^(?=(?:from|in|at|near|based in) \w)", "is ", text)
    return (
        re.sub(r"^(?=(?:called|named|married|engaged|retired|pregnant|allergic)\b)", "is ", text)
        if not re.match(r"married an?\b|married [A-Z]", text)
        else text
    )


def _capitalize_place(match: re.Match[str]) -> str:
    """Capitalise a place that is written in lowercase."""
    if match["place"].split()[0] in _NOT_PLACES or not parse_name(match["place"].split()[0]):
        return match[0]
    first_word, *rest = match["place"].split()
    return match["before"] + " ".join(
        [first_word.capitalize(), *(word.capitalize() if parse_name(word) else word for word in rest)]
    )


def is_contraction(contraction: str, rest: str) -> bool:
    """Return whether “jaylens 9” is short for “Jaylen is 9”, unlike “jaylens bike”."""
    return bool(
        re.match(
            r"(?:\d|an?\b|the\b|in\b|from\b|at\b|out\b|not\b|got\b|been\b|on\b|called\b|turning\b|getting\b|married\b|"
            r"pregnant\b|single\b|"
            r"allergic\b|moving\b|living\b|working\b|studying\b|expecting\b|dead\b|retired\b|nearly\b|only\b|just\b|"
            r"about\b|due\b)",
            rest,
        )
    )


def split_clauses(text: str, people_by_name: dict[str, Person]) -> Iterator[str]:
    """Split before every new subject that is a known person or a pronoun."""
    start = 0
    for match in _CLAUSE_BREAK.finditer(text):
        preceding_text = text[start : match.start()].strip()
        if match["run"] is not None and (
            not preceding_text or _OPEN_CLAUSE_END.search(preceding_text) or _REPORTING_END.search(preceding_text)
        ):
            continue
        if (
            match["name"]
            and fold(match["name"]) not in people_by_name
            and fold(match["name"].removesuffix("s")) not in people_by_name
        ):
            continue
        if preceding_text:
            yield preceding_text
        start = match.end()
    if piece := text[start:].strip(" .!"):
        yield piece
