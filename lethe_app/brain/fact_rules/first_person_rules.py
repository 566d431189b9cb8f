"""Rules for lasting statements that begin with “I”: home, occupation, possessions, likings and plans.

Each is a pattern over a clause as returned by `durability.normalize_clause`, and an attribute key, under which a newer
statement replaces an older one (“home”). A key that ends with “!” marks a single event, whose date may be completed with a
year.
"""

from __future__ import annotations

from lethe_app.brain.vocabulary.entities import ANIMALS, CONDITIONS, EVENTS, POSSESSIONS, RELATIVES, SKILLS, STATES
from lethe_app.brain.vocabulary.phrases import (
    DETERMINER,
    FREQUENCY,
    LIKED_OBJECT_GUARD,
    LIKED_THE_GUARD,
    RELATIVE_OR_ANIMAL,
    TIME,
)

SELF_RULES: tuple[tuple[str, str], ...] = (
    # home, origin
    (
        (
            r"i (?:live|am living|reside|am based|have settled) (?!by the|for the moment|in fear|off)(?:alone|apart|"
            r"just )?(?:in|on|near|at|with|above|below|outside|beside|by|next|between|alone|under|behind|far|abroad|"
            r"not far)\b.*"
        ),
        "home",
    ),
    (
        (
            r"i (?:am|come|hail) (?:originally )?from (?!work|school|bed|around|my |the (?!\w+ of |north|south|east|west|"
            r"mid|netherlands|uk\b|us\b|usa|philippines|coast|countryside|country|islands?|mountains|future|same|city)).+"
        ),
        "origin",
    ),
    (
        (
            r"i (?:was born|was raised|grew up|spent my (?:childhood|youth)|was brought up) (?:in|on|at|near|to|by|with|"
            r"without|deaf|blind|speaking|between|into|as|poor|among|around|outside|above|under|during|an? |\d|far|catholic|"
            r"jewish|muslim|[a-z]+ing|rich|bilingual|mostly|partly)\b.*"
        ),
        "origin",
    ),
    (r"i (?:am (?:named after|called)|was named after|go by)\b .+", "name"),
    # age
    (
        r"i am (?:\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\w+)?|\w+teen)(?: years? old| yo)?",
        "age",
    ),
    (
        (
            r"i (?:am (?:about to |going to )?turn(?:ing)?|turn|turned|will be|will turn) (?:\d{1,3}|twenty|thirty|forty|"
            r"fifty|sixty|seventy|eighty|ninety)(?:-\w+)?\b.*"
        ),
        "age!",
    ),
    (r"i am (?:about )?(?:\d (?:foot|feet|ft)(?: \d+)?|\d'\d+|1m\d\d|1[.,]\d\d ?m\w*|\d{3} ?cm)(?: tall)?", "height"),
    (r"i (?:take|drink|have|like) my (?:coffee|tea|steak|eggs) .+", ""),
    (
        (
            r"i (?:do not|no longer|am not|am no longer|can not|will not) (?!feel|think|know|care|understand|remember|see|"
            r"trust|miss |love you|need).+"
            r"(?<= )any ?more"
        ),
        "",
    ),
    (r"i (?:am )?no longer (?!feel|think|know|care|understand|remember|see |trust|sure|angry|afraid|worried).+", ""),
    (r"i (?:eat|drink) (?:meat|fish|dairy|gluten|alcohol|pork|sugar|eggs)", ""),
    # calling
    (
        (
            r"i (?:work|am working|worked|have worked) (?:mostly |part[- ]time |full[- ]time |nights? )?(?:as|at|for|in|"
            r"with (?!many|people|some|all|him|others|worse)|from home|nights|part|full|on a)\b(?! (?:it|this|that|now)\b).*"
        ),
        "job",
    ),
    (
        (
            r"i (?:teach|run|own|manage|coach|lead|edit|co-own) (?!nothing|my (?!own\b|family)|a tight|a risk|a fever|"
            r"a bath|away|out|late|into|on|to|this|that|it|the risk|for|after|around|back|off|up|from|over).+"
        ),
        "",
    ),
    (
        (
            r"i (?:am studying|study|studied|majored|graduated|am majoring|trained|am training|am doing|am getting|did|got|"
            r"have) (?!for (?:it|this)\b)(?:in |as |to be |to become |from |at |for |my |an? )*.*(?:\b(?:at|in|"
            r"of) .*(?:university|college|school|academy)\b|degree|apprenticeship|internship|phd|masters|doctorate|thesis|"
            r"a-levels).*"
        ),
        "",
    ),
    (
        (
            r"i (?:study|am studying|studied|majored in|major in|graduated in|trained as|am training (?:as|to|for)|"
            r"am learning|have studied) (?!hard\b|all\b|every\b|this\b|that\b|late\b|tonight\b|it\b|how\b|for\b).+"
        ),
        "",
    ),
    (
        (
            r"i (?:used to (?:be|live|work|have|play|own|smoke|drink|teach|study|sing|dance|run|swim|write|paint|collect|"
            r"date|go)|retired|am retired|am unemployed|am self-employed|am on (?:maternity|parental|sick) leave)\b.*"
        ),
        "",
    ),
    (rf"i am {STATES}", ""),
    # what one has
    (
        (
            rf"i (?:have|have got|own|keep|got|had|once had|adopted) (?:{DETERMINER} |only |twin )+(?:[\w'-]+ )"
            rf"{{0,3}}?(?:{RELATIVE_OR_ANIMAL}|"
            rf"{POSSESSIONS})\b.*"
        ),
        "",
    ),
    (
        (
            r"i (?:have|have got|had|suffer from|live with|was diagnosed with|was born with|struggle with)(?: an?| the|"
            rf" severe| mild| chronic| bad| type \w+| \w+){{0,3}}? {CONDITIONS}\b.*"
        ),
        "",
    ),
    (r"i (?:have|own|keep) an? [\w' -]+ (?:named|called) \w.*", ""),
    (r"i (?:suffer from|was diagnosed) .+", ""),
    (r"i (?:get|got|am|was) (?:seasick|carsick|airsick|travel-?sick)\b.+", ""),
    (rf"i keep (?:\w+ )?{ANIMALS}\b.*", ""),
    (
        (
            r"i (?:own(?! nothing| my (?!own))|collect|breed|restore|keep (?:bees|hens|chickens|a (?:diary|journal|garden)|"
            r"horses|goats)) ?(?!my own|it|this|that|up|this place).*"
        ),
        "",
    ),
    (
        (
            r"i had (?:an? )?(?:\w+ )?(?:heart attack|stroke|operation|surgery|accident|miscarriage|baby|transplant|"
            r"concussion|breakdown)\b.*"
        ),
        "!",
    ),
    (
        (
            r"i (?:do not|never) have (?:any |an? )?(?:[\w-]+ ){0,2}?"
            r"(?:" + RELATIVES + "|" + ANIMALS + r"|car|licen[cs]e|phone|"
            r"tv|television|religion|passport|allergies)"
        ),
        "",
    ),
    # likes and beliefs
    (
        (
            r"i (?:love|like|hate|dislike|enjoy|adore|prefer|despise|detest|loathe|can not stand|can not abide|dread|fear|"
            r"miss|love to|"
            rf"like to|collect) {LIKED_OBJECT_GUARD}{LIKED_THE_GUARD}.+"
        ),
        "",
    ),
    (
        (
            r"i do not (?:like|enjoy|believe in|trust|celebrate|eat|drink|smoke|drive|own|speak|wear|watch|use|cook|"
            r"run(?! from| away)|swim|dance|vote|sing|read|play|fly|want (?:kids|children|to (?:marry|have))|do drugs|"
            r"gamble|work on)(?! (?:that|it|this|you|your|him|her|them|what|how|when|the way|to|anything|like that|so|one|"
            r"any of)\b).*"
        ),
        "",
    ),
    (
        (
            r"i (?:am|have been|was) (?:\w+ )?(?:allergic|intolerant|afraid|scared|terrified|frightened|fond|addicted|"
            r"obsessed|passionate|interested|keen|good|bad|terrible|great|hopeless|crazy|mad|useless) ?(?:to|of|with|about|"
            r"in|on|at|by) (?!it\b|this\b|that\b|you\b|your\b|him\b|them\b|what\b|how\b|me\b|hear|see |be |the (?:idea|way|"
            r"moment|least)|a (?:bit|loss)|all\b|telling|asking|say).+"
        ),
        "",
    ),
    (r"i am (?:really |big )?(?:into|a (?:big |huge )?fan of) (?!it|this|that|you).+", ""),
    (r"i (?:believe in|support|follow|worship) (?!you|it|this|that|him|them|her|the idea|your|what)(?:.+)", ""),
    (r"i am in my (?:first|second|third|fourth|final|last) year\b.*", ""),
    (r"i (?:got|have got|have|am starting) (?:an?|my) (?:new |first )?(?:job|promotion|scholarship|internship)\b.*", "!"),
    (r"i have (?:\w+ )?(?:\w+) (?:eyes|hair)", ""),
    (
        (
            r"i (?:want|hope|plan|would love|dream) (?:to (?:be|become)|of (?:being|becoming|opening|owning|"
            r"living)) (?:an? |in ).+"
        ),
        "",
    ),
    (r"i (?:have been|was) (?:married|divorced|widowed) (?:once|twice|before|three times).*", ""),
    (r"i (?:served|spent|lived|worked) (?:\w+ ){1,3}(?:years|months|decades) .+", ""),
    (r"i am on (?:antidepressants|medication|insulin|parole|a \w+ diet|disability|beta blockers)\b.*", ""),
    (
        r"i (?:dropped out of|got into|was expelled from) (?:college|school|university|uni|medical school|law school)\b.*",
        "!",
    ),
    (r"i (?:am|was) (?:a|an) .*\bperson", ""),
    (
        (
            r"i am not an? (?:\w+ ){0,2}(?:person|fan of .+|drinker|smoker|believer|cat person|dog person|vegetarian|vegan|"
            r"native speaker)"
        ),
        "",
    ),
    # skills and habits
    (
        (
            r"i (?:speak|sing|ride|paint|write|draw|grow|knit|sew|crochet|bake|brew|volunteer|weave|practise|practice|smoke|"
            r"meditate|dance(?! like)|sculpt|compose|garden|fish(?! for comp)|hunt|surf|ski|sail|code|program|repair|"
            r"do (?:yoga|karate|judo|pilates|archery|calligraphy|pottery|ballet|gymnastics|volunteer|crosswords|puzzles|"
            r"stand-up|improv|aikido|tai chi|parkour|taekwondo|crossfit|weightlifting|theatre))\b(?! (?:it|this|that|so|not|"
            r"to (?:you|him|her)|along|old|tired|weary|cold|fond|like an?|from|near|close|off|out|away|over|the (?:part|"
            r"role|fool)|sense|you|your|sure|up|a (?:fuss|mistake|face|joke|note)|my best|fun|mistakes|plans|things|what|"
            r"believe|too|one|me|him|her|love|well|as|no|with others|my (?!own)|softly|quietly|loudly|slowly)\b).*"
        ),
        "",
    ),
    (
        (
            r"i play (?!.*\bfor (?:like |about |an? )?[\w-]* ?(?:hours?|minutes?)\b)(?!it\b|this|that|along|"
            r"dumb|games with|the (?:part|role|fool|victim|long|devil|hero|card)|"
            r"a (?:role|part|trick|joke)|god|with (?!an?\b|my\b|the\b)|tricks|hard to|dead|for time|nice|safe|fair|on\b|"
            r"both)(?=.*(?:every|in an?|for|bass|the|guitar|piano|drums|tennis|football|chess|violin|cello|\w+)).+(?<!game)"
        ),
        "",
    ),
    (
        (
            r"i (?:drive|fly|ride) (?:an?|my|for|trucks|lorries|buses|taxis|the (?:bus|tram|train|night)) ?(?!hard|long|"
            r"bit).*(?<!bargain)"
        ),
        "",
    ),
    (
        (
            r"i make (?:my own|(?:\w+ )?(?:furniture|jewell?ery|pottery|candles|cheese|soap|wine|beer|cider|music|films|"
            r"videos|games|clothes|quilts|puppets|instruments|jam|bread|pasta|hats|shoes|swords|maps|toys)|"
            r"\w+ for a living)\b.*"
        ),
        "",
    ),
    (
        (
            r"i read (?:a lot of|lots of|mostly|many|only|plenty of|\w+ novels|\w+ books|poetry|comics|manga|latin|greek|"
            r"hebrew|arabic|sanskrit|runes|tarot|braille|music) ?.*"
        ),
        "",
    ),
    (
        (
            r"i (?:deliver|sell|design|build|train|farm|translate|photograph|tutor|restore|forge|carve|tattoo|groom) (?!it|"
            r"this|that|my|you|your|the|him|her|them|myself|for|up|out|on|off|a (?:case|wall|fire))[a-z]+.*"
        ),
        "",
    ),
    (
        (
            r"i (?:served|lived|taught|sailed|fought|played|worked|stayed|studied|trained|sang|danced|travelled|wrote|"
            r"painted) .*\bfor (?:\w+ ){1,3}(?:years|months|decades)\b.*|i spent (?:\w+ )?(?:years|months|decades)\b.*"
        ),
        "",
    ),
    (rf"i was (?:at|in|on) (?:an?|the|my) (?:[\w-]+ ){{0,2}}?{EVENTS}\b.*{TIME}.*", "!"),
    (
        (
            r"i (?:can|could|can not|know how to|do not know how to|never learned (?:how )?to|"
            rf"never learnt (?:how )?to) {SKILLS}(?! (?:it|to|this|that|now|today|tonight|here|there|you|your|him|her|them|"
            r"any more|for you|with you|on|about|if|what|anything|my|a word|so|another|all of|of)\b).*"
        ),
        "",
    ),
    ((rf"i (?!do not go|go (?:a few|once|twice|every|often|there)|think|know|say|mean|see|want|feel|guess|hope|wish|dream "
     rf"of you)[a-z]+ .*{FREQUENCY}.*"), ""),
    (
        (
            r"i (?:wear|use|take) (?:glasses|contact lenses|contacts|a wheelchair|hearing aids?|a cane|a hearing aid|"
            r"insulin|medication|antidepressants|a prosthe\w+).*"
        ),
        "",
    ),
)  # fmt: skip
