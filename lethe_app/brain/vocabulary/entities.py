"""Regular expressions and word lists for lasting statements: relatives, animals, occupations, health conditions,
possessions, skills, events.
"""

from __future__ import annotations

RELATIVES = (
    r"(?:(?:great-?)?grand(?:mother|father|parents?|ma|pa|dad|mum|sons?|daughters?|children|kids?)|gran(?:ny)?|nan|nana|"
    r"mother|mum|mom|mama|father|dad|papa|parents?|(?:half-)?(?:sisters?|brothers?)|siblings?|sons?|daughters?|child|children|"
    r"kids?|"
    r"twins?|wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|ex(?:-(?:wife|husband|girlfriend|boyfriend))?|"
    r"aunt(?:ie)?|uncle|cousins?|nephews?|nieces?|step(?:mother|father|mum|mom|dad|sisters?|brothers?|sons?|daughters?|"
    r"children)|god(?:mother|father|daughters?|sons?|child|children)|best friend|friends?|flatmate|roommate|housemate|"
    r"neighbou?rs?|mentor|teacher|colleague|family)(?:-in-law)?"
)
ANIMALS = (
    r"(?:dogs?|cats?|pupp(?:y|ies)|kittens?|rabbits?|bunn(?:y|ies)|hamsters?|guinea pigs?|parrots?|budgies?|birds?|horses?|"
    r"pon(?:y|ies)|goldfish|fish|snakes?|tortoises?|turtles?|ferrets?|ravens?|crows?|owls?|falcons?|geckos?|lizards?|rats?|"
    r"mouse|mice|hens?|chickens?|quails?|goats?|sheep|cows?|donkeys?|canar(?:y|ies)|finch(?:es)?|ducks?|goose|geese|hedgehog|"
    r"chinchillas?|"
    r"tarantula|iguana|llamas?|alpacas?|bees|pigeons?|pets?|terrier|collie|labrador|spaniel|corgi|poodle|retriever|"
    r"greyhound)"
)
POSSESSIONS = (
    r"(?:(?:motor)?bike|motorcycle|car|van|boat|ship|yacht|canoe|house|cottage|cabin|flat|apartment|garden|allotment|farm|"
    r"piano|guitar|violin|cello|collection|library|tattoos?|scar|scars|wheelchair|workshop|studio|shop|bakery|café|cafe|"
    r"restaurant|company|business|podcast|blog|channel|degree|diploma|doctorate|phd|masters?|licen[cs]e|scholarship|pension|"
    r"mortgage|telescope|camera|(?:wooden|artificial|glass|prosthetic) \w+|\w+ (?:eyes|hair)|freckles|beard|glasses|"
    r"pacemaker|hearing aids?|nickname)"
)
CONDITIONS = (
    r"(?:allerg(?:y|ies)|asthma|diabetes|epilepsy|insomnia|anxiety|depression|arthritis|adhd|autism|dyslexia|migraines?|"
    r"eczema|anaemia|anemia|tinnitus|ptsd|ocd|scoliosis|celiac|coeliac|ibs|vertigo|hay fever|high blood pressure|"
    r"a? ?bad (?:back|knee|hip|shoulder|heart)|(?:bad|weak|broken) (?:back|knees?|hips?|shoulders?|ankles?|heart|eyesight)|"
    r"phobia|stutter|limp|intolerance|disability|(?:fear|phobia) of \w+|synaesthesia|sleep apnoea|cancer)"
)
JOBS = (
    r"(?:nurse|surgeon|lawyer|judge|chef|cook|barista|pilot|vet|clerk|guide|priest|monk|nun|spy|thief|knight|captain|"
    r"sergeant|architect|student|assistant|apprentice|accountant|consultant|sergeant|therapist|tailor|coach|athlete|smith|"
    r"blacksmith|mechanic|magistrate|pharmacist|diplomat|bureaucrat|paramedic|medic|critic|academic|musician|midwife|"
    r"housewife|model|au pair|undergraduate|graduate|postgrad|freshman|sophomore|orphan|widow|widower|vegan|vegetarian|"
    r"pescatarian|atheist|catholic|muslim|christian|buddhist|hindu|jew|feminist|introvert|extrovert|insomniac|night owl|"
    r"early bird|only child|twin|mother|father|mum|mom|dad|parent|grandmother|grandfather|virgo|libra|leo|aries|taurus|"
    r"gemini|scorpio|sagittarius|capricorn|aquarius|pisces|refugee|immigrant|expat|native|citizen|veteran|civil servant|"
    r"line cook|sous chef|curator|analyst|dj|ceo|hermit|witch|wizard|mage|bard|elf|dwarf|vampire|android|robot|\w+(?:person|"
    r"people)|\w+ fan|\w{3,}(?:man|woman|ist|eer|smith|wright|monger|maker|keeper|arian|holic))"
)
NOT_OCCUPATIONS = frozenset(
    """
    beginner bother danger disaster finger goner human joker killer later letter liar loser matter monster mother's murder
    number offer order other outsider player reminder stranger sucker summer trooper wanderer winner winter wonder wreck
    over under after never ever whatever another however father sinner dreamer believer lover newcomer customer
    user member supporter progress favor actor's mirror error horror terror minor major mess
    """.split()  # noqa: SIM905
)
"""Words that end like an occupation (-er, -or) and are none."""
STATES = (
    r"(?:vegetarian|vegan|pescatarian|married(?! to (?:the|my work|my job))|divorced|single(?!-)|engaged(?! in)|widowed|"
    r"separated|pregnant|diabetic|dyslexic|asthmatic|epileptic|autistic|colou?r[- ]?blind|deaf|blind(?! without)|mute|"
    r"left-handed|right-handed|ambidextrous|adopted|retired|unemployed|self-employed|(?:lactose|gluten|dairy) ?-?intolerant|"
    r"coeliac|celiac|teetotal|sober|gay|lesbian|bisexual|bi|queer|trans|transgender|non-?binary|asexual|bilingual|"
    r"trilingual|fluent in .+|short-sighted|near-?sighted|far-sighted|religious|jewish|muslim|catholic|christian|hindu|"
    r"buddhist|agnostic|lutheran|methodist|baptist|presbyterian|mormon|quaker|anglican|protestant|orthodox|sikh|"
    r"pagan|wiccan|atheist|immortal|mortal|illiterate|homeless|orphaned|bald|red-haired|ginger|tone-deaf|"
    r"(?:half[ -])?[a-z]*(?:irish|scottish|welsh|english|british|french|german|spanish|portuguese|italian|dutch|belgian|"
    r"swiss|austrian|danish|swedish|norwegian|finnish|icelandic|polish|czech|slovak|hungarian|romanian|bulgarian|greek|"
    r"turkish|ukrainian|russian|serbian|croatian|estonian|latvian|lithuanian|american|canadian|mexican|brazilian|"
    r"argentinian|chilean|peruvian|colombian|cuban|australian|japanese|chinese|korean|vietnamese|thai|indian|pakistani|"
    r"bengali|iranian|persian|iraqi|lebanese|syrian|jordanian|egyptian|moroccan|tunisian|algerian|nigerian|ghanaian|kenyan|"
    r"ethiopian|south african|israeli|palestinian|filipino|indonesian|malaysian))(?:,? .*)?"
)
SKILLS = (
    r"(?:speak|play|juggle|read|cook|swim|ride|sail|ski|skate|surf|drive|fly|code|program|knit|sew|crochet|weave|sing|dance|"
    r"draw|paint|whistle|type|recite|bake|whittle|carve|forge|fence|dive|climb|write|bike|cycle|yodel|pick locks|use a|"
    r"count|eat|drink|digest|smell|taste|hold my breath|do a handstand|do magic|navigate|fish|hunt|garden|solder|weld)"
)
EVENTS = (
    r"(?:exam|finals?|interview|job interview|appointment|wedding|flight|surgery|operation|concert|recital|gig|trip|"
    r"conference|deadline|birthday party|graduation|audition|driving test|test|race|marathon|tournament|competition|"
    r"performance|holiday|vacation|due date|anniversary|dentist(?: appointment)?|check-?up|presentation|exhibition|move|"
    r"ceremony|thesis defen[cs]e|viva|scan|court date|hearing|play|show|premiere|match)"
)
LIFE_EVENT_VERBS = (
    r"(?:adopted|became|bought(?= an?\b| my\b| our\b| two\b| three\b| tickets)|broke(?= my)|built(?= an?\b| my\b| our\b)|"
    r"climbed|completed|divorced|donated|failed|finished(?= school| university| college| my | writing| building| a )|flew|"
    r"founded|graduated|handed in(?= my)|hiked|inherited|joined|launched|learn(?:ed|t)|left(?= home| my (?:wife|husband|job|"
    r"partner|"
    r"boyfriend|girlfriend|ex|family|country|church)| school| for )|lost(?= my (?:job|home|house|father|mother|mum|mom|dad|"
    r"brother|sister|licen)| everything| weight| \d)|married|met(?= my\b| the love|\b.* for the first)|moved|opened|painted|"
    r"passed|performed|planted|proposed|published|quit|ran|recorded|released|retired|sailed|sang|saw|sold|"
    r"started(?= an? (?:new )?(?:job|course|degree|business|band|blog|family|diet|club|company|podcast|startup|garden|"
    r"internship)| \w+ing\b| school| university| college| work| my| at )|stopped(?= \w+ing\b)|survived|swam|"
    r"travel?led|turned|visited|volunteered|"
    r"went(?= to| on| camping| hiking| skiing| surfing| through| back to| vegan| blind| deaf)|won(?= an?\b|"
    r" the\b| first| my)|wrote|gave birth|gave up|signed up|cycled|crossed|hosted|organi[sz]ed|competed|attended|"
    r"got(?= (?:an?|my|our|the) (?!bus|train|taxi|headache|cold|haircut|bit|coffee)| married| engaged| divorced| fired|"
    r" promoted| into| accepted| sober| diagnosed| two| three)|took(?= (?:an? )(?:\w+ )?(?:trip|course|class|job|exam|test|"
    r"year|gap)| my (?!bus|coat|time)| up | the kids| part)|fell(?= off| down| from| in love)|had(?= an?\b| my\b| our\b|"
    r" two\b| surgery| quite)|made(?= an? (?:film|album|game|website)| my (?:first|debut))|discovered|received|celebrated|"
    r"broke up|split up|dropped out|enlisted|emigrated|served)"
)
