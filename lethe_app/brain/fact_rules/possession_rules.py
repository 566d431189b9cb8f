"""Rules for sentences about relatives and possessions (“my sister …”, “my favourite …”) and for a few other statements.

Patterns and keys as in `first_person_rules`; `{…}` in a key inserts a group of the pattern.
"""

from __future__ import annotations

from lethe_app.brain.vocabulary.entities import CONDITIONS, EVENTS, JOBS, POSSESSIONS, RELATIVES, STATES
from lethe_app.brain.vocabulary.phrases import AGE, MY_EXTENDED_RELATION, MY_RELATION, OPTIONAL_NAME, RELATIVE_OR_ANIMAL, TIME

POSSESSION_RULES: tuple[tuple[str, str], ...] = (
    (r"my (?:new )?(?P<what>[a-z]+) (?:is|are) (?:called|named) .+", "{what} name"),
    (
        (
            r"my (?:(?:left|right|lower|upper) )?(?:knees?|back|hips?|shoulders?|ankles?|wrists?|neck|heart|eyesight|"
            r"hearing|lungs|"
            r"teeth|memory|blood pressure) (?:is|are|has been|have been) (?:bad|weak|broken|fractured|arthritic|shot|"
            r"failing|poor|"
            r"terrible|ruined|high|low|not great)\b.*"
        ),
        "",
    ),
    (
        (
            rf"my (?:[\w'-]+ ){{0,3}}?{EVENTS}s? (?:(?:got|was|has been|is|is being) )?(?:moved|postponed|rescheduled|"
            rf"brought forward|"
            r"pushed back|put off|cancelled|canceled|called off)\b.*"
        ),
        "!",
    ),
    ((rf"{MY_EXTENDED_RELATION}{OPTIONAL_NAME},? (?:turned|turns|is turning|is about to turn|will be) {AGE}\b(?! (?:years|"
     rf"times)\b).*"), "!"),
    ((rf"{MY_EXTENDED_RELATION}{OPTIONAL_NAME},? (?:is not|are not|does not|do not) (?!feel|think|know|want|need|care).+ "
     rf"any ?more"), ""),
    (
        (
            rf"{MY_EXTENDED_RELATION}{OPTIONAL_NAME},? (?:hurt|broke|sprained|twisted|injured|fractured|dislocated) (?:his|"
            rf"her|their|its) "
            rf"(?:\w+ )?(?:back|knee|"
            r"ankle|wrist|arm|leg|foot|hip|shoulder|neck|hand|finger|toe|nose|rib|collarbone|elbow|paw)s?\b.*"
        ),
        "!",
    ),
    (r"my (?:full |real |first |last |middle |sur)?name is (?!not).+", "name"),
    (r"my (?:[\w-]+ )?birthday is (?!coming|soon|over|the best|ruined).+", "birthday"),
    (
        (
            r"my (?:least )?favou?rite (?P<what>[\w -]+?) (?:is|are|was|has always been|have always been) (?!that|this|it|"
            r"when|you|not|the one|one).+"
        ),
        "favourite {what}",
    ),
    (
        (
            rf"my (?:[\w-]+ ){{0,2}}?(?P<who>{RELATIVE_OR_ANIMAL}|boss|therapist|doctor|coach|landlord|landlady)(?:'s|s') "
            rf"(?:full |first )?"
            r"names? (?:is|are|was|were) .+"
        ),
        "{who} name",
    ),
    (
        (
            r"my (?:job|profession|occupation|hometown|home town|home|native language|mother tongue|first language|hobby|"
            r"hobbies|dream|biggest fear|star sign|sign|zodiac|blood type|dream job|middle name|nickname|major|pronouns|"
            r"surname|religion|ambition|speciality|instrument|eyes|hair|height|birthplace|ancestors|family) (?:is|are|"
            r"include|includes|was|were|comes? from) (?!not|a mess|tired|closed|open|wet|sore|burning|heavy|red from|so|too|"
            r"wet|on fire|going|coming|fine|gone|full|killing|still|here|out|up|what|that|it|great|good|bad|hard|boring|"
            r"ok).+"
        ),
        "",
    ),
    (
        (rf"{MY_RELATION}(?:,? (?!is |are |was |were |has |have |and i )[\w'-]+){{0,2}}?,? (?:is|are|was|were) (?:called|"
        rf"named) .+"),
        "{who} name",
    ),
    (
        (
            rf"{MY_EXTENDED_RELATION}{OPTIONAL_NAME},? (?:(?:(?:currently |also |still |both |all )?(?:lives?|works?|runs?|"
            rf"owns?|teach(?:es)?|"
            r"stud(?:y|ies)|plays?|speaks?|builds?|sells?|grows?|drives?|loves?|hates?|likes?|paints?|sings?|writes?|"
            r"bakes?|collects?|breeds?|sails?|rides?|repairs?|restores?|climbs?|knits?|dances?|skis?|fishes|hunts?|"
            r"comes? from|suffers? from|grew up|raised|served|fought|emigrated|moved|kept|retired|"
            r"built|founded|owned|ran|taught|trained|sailed|fished|farmed|drowned|"
            r"(?:bound|carved|sewed|wove|baked|painted|repaired|drove) (?=[a-z]+s\b)|worked|lived|used to|was born|were born|"
            r"came from|does not (?:eat|drink|speak|"
            r"like)|makes|farms?|married|studied|coach(?:es)?|volunteers?|manages?|speak))\b(?! (?:it|this|that|here|there|"
            r"away|off|you|too|so|late|hard|me (?:up|mad|crazy|a lot))\b).*|died\b.*|passed away\b.*)"
        ),
        "?",
    ),
    (
        (
            rf"{MY_EXTENDED_RELATION}{OPTIONAL_NAME},? (?:is|are|was|were) (?:both |also |now |currently |actually |only )"
            rf"?(?:from .+|"
            r"(?!\w+ing )(?:an? )?(?!the (?!eldest|oldest|youngest|head|owner))(?:[\w-]+ ){0,2}?"
            rf"(?:{JOBS}|[a-z]+(?:er|or|ist|ian|ess|ant))s?(?: (?:in|at|for|with|from|on|of|and) .+)?|{STATES}|"
            rf"{AGE}(?: and [a-z]+s .+)?|\d+(?:,? (?:and )?\d+)*(?: years old)?|dead|"
            r"turning \d+.*|allergic to .+|(?:moving|studying|living|working|getting married|expecting) .+|in the (?:army|"
            r"navy|police|military).*|named after .+)"
        ),
        "?",
    ),
    (
        (
            rf"{MY_EXTENDED_RELATION}{OPTIONAL_NAME},? (?:(?:has|have) (?:an? |two |three |four |five |been (?:living|"
            rf"working|married|teaching|"
            r"studying|playing) |lived |worked |never )(?!(?:\w+ )?(?:cold|headache|point|question|idea|problem|lot|bit|"
            rf"day|look)).+|had an? (?:\w+ )?(?:{POSSESSIONS}|{CONDITIONS}|accident|stroke|heart attack|baby)\b.*)"
        ),
        "?",
    ),
    (
        (
            rf"my (?:[a-z-]+ ){{0,2}}?(?:{RELATIVES})(?: \w+)? and i (?:are twins|live|have|got|met|run|own|adopted|bought|"
                r"moved|go (?!to (?:bed|sleep|the shop))|are (?:from|married|expecting|moving|getting|learning|saving|"
                r"building|renovating|restoring|adopting|"
            r"opening)|split up|"
            r"broke up(?! once)|separated|divorced|sold|have been|speak|play|grew|were|share|married|travel|work)\b.*"
        ),
        "!",
    ),
    (
        (
            rf"my (?:[\w'-]+ ){{0,3}}?{EVENTS}s? (?:is|are|was|were|starts?|will be) (?:on|in|at|next|tomorrow|this|coming|"
            r"the|from|yesterday|last|\d+|now on|now in)\b(?! the \w+ (?:floor|side|street|corner|building)\b).*"
        ),
        "!",
    ),
    (
        (
            rf"{MY_RELATION} .*\b(?:gave birth|got married|getting married|graduated?|visit(?:s|ing)?|coming (?!over)|moving|"
            rf"moved|turns?|turned|was born|had a baby|start(?:s|ed|ing)?|won|retires)\b.*{TIME}.*"
        ),
        "!",
    ),
)  # fmt: skip

OTHER_RULES: tuple[tuple[str, str], ...] = (
    (rf"the (?:launch|naming) of my [\w -]+ (?:is|will be) (?:on|in|at|next) .*{TIME}.*", "!"),
    (r"(?P<what>.{2,50}) (?:is|are|has always been|have always been) my (?:all[- ]time )?favou?rite(?: .+)?", ""),
    (
        (
            r"(?:everyone|everybody|people|friends|most people|my friends|most friends) calls? me (?!(?:an?|the|crazy|mad|"
            r"at|when|on|out|up|back|names)\b)[a-z]+(?: [a-z]+)?"
        ),
        "nickname",
    ),
    (
        (
            r"(?!that\b|this\b|these\b|those\b|it\b|here\b|he\b|she\b)(?P<what>.{3,60}) (?:is|are|has been|have been|has "
            r"always been|has become) (?:one of )?my (?:number one |"
            r"main |biggest |"
            r"greatest |big |absolute |guilty |go-to |new |real |ultimate )*(?:favou?rite .+|(?:weakness|passion|hobby|"
            r"dream|goal|love|happy "
            r"place|escape|comfort food|pleasure|fear|pet peeve|obsession|therapy|hero|role model|idol|native language|"
            r"mother tongue|"
            r"home ?town)\b.*|way (?:to|of) .+)"
        ),
        "",
    ),
    (
        (
            r"(?!being |having |seeing |knowing |doing |watching you|getting |hearing |trying )[a-z]+ing(?: (?!is |are |"
            r"was )[a-z'-]+){0,5} "
            r"(?:helps?|has helped|relaxes|calms|keeps|lets) me\b.+"
        ),
        "",
    ),
)  # fmt: skip
