"""Rules for statements about everyday life: shifts, homes, money, health, wishes, and what does not apply to the speaker.

Patterns and keys as in `first_person_rules`.
"""

from __future__ import annotations

from lethe_app.brain.vocabulary.entities import ANIMALS, CONDITIONS, RELATIVES, STATES
from lethe_app.brain.vocabulary.phrases import DURATION, LIKED_OBJECT_GUARD, TIME

_COUNT = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|a few|several)"
_PAIN = (
    r"(?:migraines?|headaches?|panic attacks?|nosebleeds?|seizures?|heartburn|cold sores|hives|anxiety|nightmares|cramps|hot "
    r"flushes|vertigo|palpitations|back ?ache|back pain)"
)
_MEDICINE = (
    r"(?:blood (?:thinners|pressure (?:tablets|pills|meds|medication))|warfarin|statins|metformin|insulin|antidepressants|"
    r"anti-?depressants|steroids|meds|medication|tablets|chemo\w*|dialysis|the pill|beta blockers|inhalers?|an inhaler|"
    r"sertraline|citalopram|prozac|ritalin|painkillers|sleeping (?:pills|tablets)|methadone|hrt|pills|crutches|a walking stick|"
    r"a waiting list[\w ]*|the waiting list[\w ]*|a (?:\w+ ){0,2}diet|benefits|universal credit|disability|furlough|jury duty|"
    r"maternity leave|paternity leave|sick leave|a zero hours contract|the dole|a pension)"
)

EVERYDAY_RULES: tuple[tuple[str, str], ...] = (
    # work
    (
        (
                r"i (?:work|do|have|am on|am doing|am working) (?:mostly |only )?(?:the |an? )?(?:permanent |rotating "
                r")?(?:nights?|days|"
            r"night ?shifts?|day ?shifts?|early shifts?|late shifts?|(?:early|late|back|swing|graveyard|morning|split|"
            rf"weekend) shifts?|shifts|shift work|earlies|lates|weekends|{_COUNT}[- ]hour (?:shifts|days|weeks)|part[- ]time|"
            r"full[- ]time|on call)\b(?! (?:tonight|this|today|tomorrow)).*"
        ),
        "",
    ),
    (rf"i (?:work|do) {_COUNT} (?:hours|days|shifts|nights) (?:a|per|each|every) (?:week|day|month)\b.*", ""),
    ((
        rf"my shifts? (?:starts?|finish(?:es)?|ends?|begins?|is|are) (?:at )?(?:from )?(?:{_COUNT}|midnight|noon|half|on|"
        rf"nights|\d).*"
    ), ""),
    ((
        r"i (?:earn|make|get paid|am paid) (?:about |around |roughly |only )?(?:£|\$|€)?\d[\d,.]*k?\b.*(?:an?|per) "
        r"(?:hour|week|month|year)\b.*"
    ), ""),
    ((
        r"i am (?:unemployed|out of work|between jobs|on the dole|self[- ]employed|freelance|a freelancer|off sick|"
        r"signed off(?: .+)?|semi-retired)"
    ), "job"),
    (
        (
            r"i (?:was|have been|got|am being) (?:made redundant|furloughed|suspended|demoted|transferred|headhunted|evicted|"
            r"deported|adopted|fostered|baptised|confirmed|sectioned|burgled|mugged|scammed|signed off)\b.*"
        ),
        "!",
    ),
    ((
        r"i (?:drive|haul|fly|cook|clean|sew|paint|write|teach|drove|play|deliver|sell) for (?!fun|a while|hours|you|\d|"
        r"a bit|me\b|free).+"
    ), ""),
    ((r"i (?:fix|repair|service|install|lay|build|deliver|clean|sell|teach|drive|cut|do|make|groom|walk|train|mind) "
     r"(?:[\w-]+ )?(?:boilers|cars|roofs|bikes|lorries|trucks|buses|houses|kitchens|bricks|carpets|windows|parcels|hair|nails|"
     r"dogs|lifts|elevators|computers|phones|pipes|floors|tiles|engines|planes|trains|offices|schools|cakes|weddings|children|"
     r"insurance|flats|shoes|watches|clocks|fences|gardens|hotels)(?: (?:for|in|at|on|as) .+)?"), ""),
    (r"i (?:am|was) an? [\w -]+ by (?:trade|training|profession)", "job"),
    ((
        r"i am (?:in|with|at) the (?:army|navy|police|military|air force|raf|fire service|fire brigade|civil service|"
        r"merchant navy|territorials|reserves)\b.*"
    ), "job"),
    ((r"i have been (?:driving|teaching|nursing|working|farming|fishing|cooking|welding|cleaning|building|selling|"
     rf"coding|cutting hair|delivering|baking|writing|doing) .*(?:{DURATION}|all my life|{_COUNT} (?:years|months))"), ""),
    ((
        rf"i have been (?:married|together|single|sober|vegan|vegetarian|clean|retired|divorced|widowed) (?:for "
        rf")?(?:about |almost |nearly )?{_COUNT} (?:years|months).*"
    ), ""),
    ((
        rf"i have been (?:with|at|in) (?:the )?[a-z][\w' -]+? (?:for )?(?:about |almost |nearly )?{_COUNT} (?:years|"
        rf"months).*"
    ), ""),
    # home
    (
        (
                r"i (?:rent|share|sublet|own|bought|have bought|am renting|am buying|am sharing) (?:an?|my|half an?|the "
                r"top) (?:[\w-]+ ){0,3}?"
            r"(?:flat|house|room|studio|apartment|place|bungalow|cottage|caravan|bedsit|farmhouse|trailer|condo|maisonette|"
            r"terrace|attic|basement)\b.*"
        ),
        "",
    ),
    (r"i (?:stay|dwell) (?:in|with|at) (?!touch|bed|contact|the (?:car|house|bath)|my room|home|it|work).+", "home"),
    (r"i (?:am|will be) (?:moving|leaving home|leaving|emigrating) (?:out|away|abroad|home|to .+|from .+|in with .+)\b.*", "!"),
    # health
    (rf"i (?:get|suffer|keep getting|used to get) (?:\w+ ){{0,2}}{_PAIN}\b.*", ""),
    (rf"i (?:am|have been|was put|have been put) on (?:\w+ )?{_MEDICINE}\b.*", ""),
    ((
        rf"i (?:have to )?(?:take|need|use|inject) (?:\w+ )?(?:{_MEDICINE}|glasses|a hearing aid|a stick|a cane|crutches|"
        rf"a walker|a cpap[\w ]*)\b.*"
    ), ""),
    ((
        r"i (?:can not|am not allowed to|am not supposed to|must not) (?:eat|drink|have|digest|handle|take|climb|drive|"
        r"lift|fly|run|swim|play) (?!it|that|this|anything|more|any more).+"
    ), ""),
    (
        (r"i (?:had|am having|am getting|got|will have|need|am due) my (?:[\w-]+ ){0,2}(?:appendix|tonsils|gallbladder|"
        r"wisdom teeth|teeth|hip|knees?|"
     r"cataracts?|braces|stitches|tooth|eyes) (?:out|removed|done|replaced|off|fitted|pulled|lasered|fixed)\b.*"), "!"),
    ((
        r"i (?:need|am getting|got|had|am having|am due) an? (?:new |second )?(?:hip|knee|kidney|heart valve|root canal|"
        r"filling|pacemaker|stent|biopsy|mri|c-section|hysterectomy|vasectomy|crown|bypass|scan)\b.*"
    ), "!"),
    ((
        rf"i (?:have|had) (?:a |an )?(?:\w+ )?(?:{CONDITIONS}|scoliosis|endometriosis|pcos|crohn's|lupus|fibromyalgia|"
        rf"gout|sciatica|lactose intolerance|reflux|angina|a hernia|a slipped disc|a heart murmur|thyroid[\w ]*)\b.*"
    ), ""),
    (r"i am (?:about |nearly |\w+ )?(?:\d+|two|three|four|five|six|seven|eight|nine) (?:weeks|months) pregnant\b.*", ""),
    ((
        r"i have been (?:deaf|blind|disabled|diabetic|epileptic|ill|in remission|off work|on (?:insulin|medication|"
        r"benefits)|in recovery) .+"
    ), ""),
    ((
        r"i (?:have|have got) (?:an? )?(?:stammer|lisp|squint|tics?|tourette's|glaucoma|cataracts?|prosthetic .+|"
        r"colostomy)\b.*"
    ), ""),
    # what one is, and is not
    (r"i identify as .+", ""),
    (
            (r"i (?:have |always )?(?:voted|lived|worked|been|played|supported|wanted|loved|hated|sung|farmed|fished|had) "
            r".*(?:all my life|my "
        r"whole life|since (?:birth|childhood|school))"),
        "",
    ),
    ((
        r"i had to (?:drop out of|give up|sell|quit|leave|move|retire|put down|have my) (?!it\b|this|that|early|now|work "
        r"early|the (?:party|room)).+"
    ), "!"),
    (rf"i am not (?:very |particularly |really |at all )?(?!married to (?:the|my)|trans fat|single-minded){STATES}", ""),
    (r"i (?:am|come) (?:the|an?) (?:oldest|eldest|youngest|middle|only)(?: child)?(?: (?:of|in) .+)?", ""),
    ((
        rf"i (?:do not|never) have (?:any |an? )?(?:{RELATIVES}|{ANIMALS}|car|tv|garden|driving licence|licence|kids|"
        rf"pets|siblings)\b.*"
    ), ""),
    (rf"i have no (?:{RELATIVES}|{ANIMALS}|car|tv|religion|sense of smell|garden|pets)\b.*", ""),
    (
        (r"i (?:have never|never) (?:been (?:to|on|in|abroad|married|skiing|camping)|seen (?:the sea|snow|star wars)|"
        r"flown|smoked|driven|"
         r"learn(?:t|ed) to|owned|had an?|liked|drunk|voted|tasted|broken a|travelled)\b(?! (?:it|that|this|so|such|more|"
         r"a chance|any)).*"), ""),
    (
        (
                r"i (?:quit|gave up|have given up|have quit|stopped|have stopped|cut out|packed in|have packed in|went "
                r"off|got rid of|handed in|"
                r"dropped|resigned from) (?!it\b|that\b|this\b|you\b|him\b|her\b|them\b|trying|reading|caring|thinking|"
                r"worrying|listening|"
                r"on\b|in\b|at\b|my (?:keys?|phone|bag|wallet|room|desk)|early|late|around|about|everything|what|home\b|"
                r"talking|looking|"
                r"for\b|to\b|when|some|off|out|by|the (?:car|bus|game|chat|ball|phone|plate|call))(?:the |my |a |all "
                r")?[a-z][a-z'-]+.*"
        ),
        "!",
    ),
    (
(
            rf"i (?:have )?(?:took|taken|went|been|visited|flew|flown|ran|climbed|seen|won|failed|moved|crossed|sailed) "
            rf".*(?:twice|{_COUNT} times)\b.*"
        ),
        "",
    ),
    (r"i (?:really |always )?get (?:very |so |really |terribly )?(?:seasick|carsick|airsick|travel[- ]?sick)(?: .+)?", ""),
    (r"i had been (?:married|together|divorced|widowed) (?:for )?(?:almost |nearly )?(?:\d+|[a-z-]+(?: [a-z]+)?) years.*", ""),
    # wishes and plans
    ((
        rf"i (?:fly|travel|leave|set off|sail|go|depart|am back|return) (?:out |back |home |away )?(?:to|from|for|with|"
        rf"on) .*{TIME}.*"
    ), "!"),
    (
        (
            r"i (?:want|would love|would like|hope|plan|am hoping|am planning|am going|intend|aim|am trying|have always wanted|"
                r"always wanted|am saving up|am applying|have decided|decided) to (?:learn|visit|open|buy|study|become|"
                r"move|run|write|adopt|"
                r"travel|apply|get (?:a|an|my|married|into|fit)|retire|quit|lose|build|start (?:a|an|my|at)|train|marry|"
                r"see (?!if|how|you|what|that|it|the (?:rest|end))|climb|sail|"
                r"go (?:to|back to|on)|join|drive|do a|do my|take up|give up|stop (?:smoking|drinking)|have (?:kids|"
                r"children|a baby|another)) ?"
                r"(?!(?:it|that|this|you|something|there|the (?:shop|store|loo|toilet|bathroom|gym|pub)|bed|sleep|work|"
                r"home|them)\b).+"
        ),
        "",
    ),
    (r"i (?:have applied|applied|am applying|am going to apply) (?:to|for|as) (?!it\b|that\b|this\b|one\b|them\b).+", "!"),
    (rf"i (?:have|have got) (?:to be|to go|to take|to sit|to pass|to hand in|to see) .*{TIME}.*", "!"),
    ((
        r"i (?:am|have) (?:got |been )?(?:booked|signed up|registered|enrolled|entered|invited) (?:in |on |in for |on to "
        r"|to |for ).+"
    ), "!"),
    # tastes and habits
    ((
        rf"i (?:do not (?:really )?(?:like|eat|drink|watch|enjoy)|could never eat|can not stand|can not bear|can not abide|"
        rf"am not keen "
        rf"on|am not (?:a fan of|into)|have gone off|went off) {LIKED_OBJECT_GUARD}(?!the (?:new|way|idea|look)).+"
    ), ""),
    (
        (r"i (?:vape|jog|cycle|swim|knit|run|box|fence|row|bowl|busk|paraglide|freedive|skateboard|birdwatch|geocache|dj|"
        r"cosplay|scrapbook|"
         r"forage|upcycle|bird watch|stargaze|do (?:\w+ )?(?:boxing|jiu[- ]jitsu|karate|yoga|pilates|salsa|zumba|spin|"
         r"parkrun|ballet|judo|"
     r"crosswords?|jigsaws?|sudoku|wordle|stand[- ]up|cross[- ]stitch|calligraphy|origami|woodwork|pottery|crossfit))(?:"
     r" (?:in|at|on|with|every|to|most|now|a lot|for|twice|once|three|before|after) .+)?"), ""),
    ((
        r"i (?:read|watch|listen to|play|eat|drink) (?:mostly|mainly|only|nothing but|a lot of|lots of|too many|loads "
        r"of) (?!it\b|that\b|this\b).+"
    ), ""),
    ((
        r"i (?:follow|support|am a supporter of|have a season ticket (?:for|at|to)) (?!you|it|this|that|him|them|her|the "
        r"(?:rules|idea|recipe|plan|logic|news|path|leader)|your|what|your|my heart).+"
    ), ""),
    ((
        r"i (?:always |never )?(?:take|have|drink) (?:my (?:tea|coffee)|tea|coffee|"
    ) + _COUNT + r" (?:sugars?|coffees|teas))(?: .+)?", ""),
    (
        (r"i (?:go|have been going) (?:to (?:church|mass|mosque|synagogue|therapy|bingo|the (?:gym|pool|pub quiz|bookies)|"
        r"choir|aa|night school|evening classes)|"
         r"swimming|climbing|fishing|running|dancing|hunting|riding|camping|hiking|birdwatching) .*(?:every|each|on "
         r"\w+days|once|twice|most|"
     r"a week|regularly|with my|at weekends).*"), ""),
    (
        (
                r"i (?:am in|am part of|belong to|am a member of|joined|have joined|go to|attend|sing in|play in|play "
                r"for|volunteer (?:at|for|"
                r"with|in)|started|help (?:out )?at) (?:an?|the|my) (?:[\w-]+ ){0,3}(?:club|choir|band|team|society|"
                r"class|group|orchestra|league|"
                r"church|troupe|quartet|gym|union|committee|shelter|food bank|library|charity shop|hospice|allotment|"
                r"lifeboat)\b(?! (?:it|that|"
            r"this|today|tonight|tomorrow|yesterday)).*"
        ),
        "",
    ),
    (
        (r"i (?:usually |always )?(?:get up|wake up|start work|finish work|start|finish|go to bed) at (?:\d|half|midnight|"
        r"five|six|seven|four|"
     r"three|noon|dawn)[\w: ]*(?: (?:every|most|on \w+days).*)"), ""),
    ((
        r"i make (?:an? )?(?:mean|great|decent|killer|good|lovely|proper) (?!point|team|couple|day|time|pair|"
        r"entrance|fuss|case)[a-z][\w -]+"
    ), ""),
    ((
        r"i do (?:all|most|half) (?:of )?the (?:cooking|cleaning|driving|housework|gardening|shopping|baking|childcare|"
        r"school runs?)\b.*"
    ), ""),
    ((
        r"i have (?:always )?(?:loved|hated|liked|disliked|feared|collected|adored) (?!it\b|that|this|you|him|her|them|"
        r"how|when|the (?:way|idea|look)|every|being|seeing|talking)[a-z].+"
    ), ""),
    # possessions
    (
        (r"i (?:drive|ride|have|own|had|bought|sold|crashed|have sold|got rid of|wrote off|totalled) (?:an?|my|the|my "
        r"old) (?:[\w-]+ ){0,3}?(?:micra|fiesta|corsa|golf|polo|yaris|"
     r"astra|vespa|harley|tractor|campervan|camper van|caravan|narrowboat|motorbike|moped|scooter|e-?bike|pick-?up|land rover|"
     r"landrover|kayak|drum kit|piano|telescope|kiln|allotment)\b(?! (?:test|lesson)).*"), ""),
)  # fmt: skip
