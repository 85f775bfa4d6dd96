"""English words that the rules of `extract_english` are made of."""

# ruff: noqa: E501 (one way a line)

from __future__ import annotations

from typing import Final

from recollect.text.places import english_places
from recollect.text.signal_patterns import at_words, lines, one_of

_ADVERB: Final = one_of(
    "really also just still usually generally normally mostly personally strongly much always actually"
    " currently now often typically definitely absolutely particularly quite so honestly only never"
    " simply truly especially mainly already recently finally even very pretty rather extremely super"
    " too totally completely somewhat both all almost probably certainly"
)
ADVERBS: Final = f"(?: (?:{_ADVERB}|kind of|sort of|a bit|a little)){{0,3}}"
MONTH: Final = one_of(
    "january february march april may june july august september october november december"
)
DAY: Final = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
AHEAD: Final = at_words(
    rf"""
    (?:tomorrow|tonight|later|soon)\b
    next \w
    (?:on|by|before|until|till|this|at) (?:{DAY}|\d|tomorrow|the|next|noon|week|afternoon|evening|end|{MONTH})\b
    in (?:a|an|two|three|\d+) (?:hour|day|week|month|minute)
    after (?:the|lunch|that|work)\b
    """
)
BEHIND: Final = at_words(
    rf"""
    (?:yesterday|today|recently|just now|earlier|the other day|over the weekend|this morning)\b
    last \w
    ago\b
    on (?:{DAY}|\d|{MONTH})
    in (?:{MONTH}|(?:19|20)\d\d)\b
    """
)
PAST: Final = one_of(
    "met went visited attended finished shipped deployed released launched bought sold signed completed"
    " interviewed presented demoed broke lost won passed failed started moved got fixed merged"
    " published hired joined left quit ran flew drove travelled traveled took saw watched read wrote"
    " built made found discovered reported resolved closed opened migrated rolled upgraded cancelled"
    " canceled crashed celebrated married graduated adopted received delivered ordered booked talked"
    " spoke discussed tested reviewed cooked gave told came had held hiked climbed played switched"
    " refactored rewrote added removed turned walked restored"
)
SAVED: Final = one_of(
    "saved exported written wrote generated created uploaded stored downloaded dumped produced"
)
ARTIFACT: Final = r"\w/\w|\b[\w-]+\.[a-z]{2,7}\b(?!\.)|https?://"
SQL: Final = lines(
    r"""
    select\b.{1,200}\bfrom\b \w
    insert into\b
    update \w+ set\b
    create table\b
    delete from\b
    """
)
RELATIVE: Final = one_of(
    "wife husband partner girlfriend boyfriend fianc\\w+ son daughter child children kids? baby mother"
    " father mom mum dad parents? brother sister sibling grand\\w+ aunt uncle cousin nephew niece family"
    " friend roommate boss manager colleague dog cat pet parrot horse doctor therapist"
)
OWN_FACT: Final = one_of(
    "name nickname birthday age job role profession occupation title e-?mail phone number address"
    " time-?zone zone language tongue hometown height weight size type diet allergy hobby hobbies pronouns"
    " badge locker employer school university degree major car bike laptop account username handle"
    " password pin code id team desk office salary goal dream house apartment flat wifi setup tv"
)
# What somebody is, said in one word.
STATE: Final = one_of(
    "vegetarian vegan pescatarian diabetic pregnant married single divorced engaged widowed separated"
    " retired unemployed colou?r-?blind deaf left-handed blind dyslexic jewish muslim christian hindu"
    " buddhist autistic celiac coeliac"
)
CONDITION: Final = (
    f"(?:{STATE}|"
    + one_of(
        "called named allergic intolerant from based located living working studying learning training"
        " fluent responsible \\d+ gluten lactose moving"
    )
    + ")"
)
# What those who live together say of themselves as "we".
HOUSEHOLD: Final = lines(
    rf"""
    we(?:'ve| have|'re| are)?(?: both| all| now| still| currently)? liv(?:e|ed|ing) (?:in|at|near|with|on|together)\b
    we(?:'ve| have)?(?: just| recently| finally| all| both)? (?:moved|relocated|emigrated)(?: back| over| out)? to (?:{"|".join(sorted(english_places()))})\b(?! (?:time|style|office|team|region|zone|data|servers?|cluster|branch)\b)
    we(?:'re| are)(?: both| now)? expecting (?:an?|our|twins)\b
    our (?:wedding|honeymoon|house|flat|apartment|landlord|mortgage|rent)(?! \w+ing\b) (?:is|are|was|has)\b
    we(?:'ve| have)?(?: just| recently| finally)? (?:moved (?:house|home|in together)|moved (?:in)?to (?:a|our|the) (?:[\w-]+ ){{0,2}}(?:house|flat|apartment|home|condo|place)\b)
    """
)
# How two people become or stop being a pair; "we broke up the table" is about something else.
_PAIRING: Final = lines(
    r"""
    (?:got|gotten|get|getting|are|am|'m|'re) (?:married|engaged|divorced|separated)
    (?:broke|broken|split|splitting|breaking) up(?! (?:the|a|an|our|my|this|that|these|those|into)\b)
    """
)
PAIR: Final = (
    rf"(?:i|we)(?:'ve| have|'re| are|'m| am)?(?: just| recently| finally| both)? {_PAIRING}\b"
)
HABIT: Final = one_of(
    "work live study speak teach drive own play practi[sc]e sleep commute wear attend manage volunteer"
    " collect coach program code travel cook wake drink eat take use"
)
POSSESSION: Final = one_of(
    "kids? child\\w* sons? daughters? brothers? sisters? dogs? cats? pets? allerg\\w+ diabetes asthma adhd"
    " degree phd car house twins siblings?"
)
FEELING: Final = lines(
    r"""
    frustrat|annoy|irritat|angry|mad\b|furious|upset|sad\b|depress|happy|glad|excit|thrill|delight
    tired|exhaust|stress|overwhelm|worr|anxious|nervous|afraid|scared|disappoint|proud|relieved
    confused|bored|burnt|burned|fed up|sick of|over the moon|grateful|unhappy|lonely|pleased
    ecstatic|miserable|desperate|impatient|concerned|ashamed|embarrass|optimistic|pessimistic
    hopeful|satisfied|dissatisfied|amazed|shocked|devastated|down\b|great\b|awful|terrible
    (?:good|bad) about
    """
)
MATTER: Final = one_of(
    "project apis? services? servers? client customers? team release deadline budget database db app"
    " application site website repo repository build environment staging production pipeline cluster"
    " sprint milestone launch contract schema module component backend frontend vpn system product"
    " company office feature endpoint importer exporter library package platform stack infrastructure"
    " codebase monolith gateway queue cache dashboard portal warehouse dataset table reports? scope goal"
    " stakeholders? vendor supplier migration architecture prototype beta version network licen[sc]e"
    " branch ci"
)
HOLDS: Final = one_of(
    "is are was were has have must needs? should cannot can't can may only runs? uses? depends? requires?"
    " wants? supports? lives? belongs? expects? consists? contains? starts? ends? ships? closes? opens?"
    " moves? goes will won't does doesn't don't chokes? fails? works? costs? lasts? takes? handles?"
    " follows? stores? sits? serves? covers? targets?"
)
POST: Final = one_of(
    "lead manager designer engineer developer owner architect analyst contact director head cto ceo cfo"
    " pm admin\\w* coordinator tester intern client stakeholder"
)

# First persons that tell of the work at hand or of the conversation, not of the one who speaks.
_ABOUT_THE_TALK: Final = at_words(
    rf"""
    (?:i|we)(?:'m| am|'ve| have|'ll| will|'d| was|'re| are)?(?: {_ADVERB})? (?:think|guess|see|understand|mean|hope|suppose|believe|know|wonder|tried|try|trying|test|testing|tested|get|getting|need|want|wanted|wish|stuck|looking|asking|asked|ask|said|say|paste|pasted|copied|be|agree|agreed|ran|run|running|followed|changed|clicked|opened|attached|uploaded|noticed|notice|checked|check)\b
    (?:i|we)(?:'m| am|'ve| have|'ll| will|'d| was|'re| are)?(?: {_ADVERB})? (?:late|back|here|done|ready|sure|ok|okay|fine|good|glad|sorry|curious|interested|confused|could|should|can|can't|cannot|don't|do|did|didn't|doubt|will|would|may|might|shall|must|had|heard|read|used|called|mentioned|wondered|meant|expected|failed|executed|installed|going to|not|there for)\b
    i(?:'ve| have)?(?: got)? (?:have )?(?:an?|one|another|some|no|this|the|these|two|three) (?:\w+ ){{0,2}}(?:question|problem|issue|bug|error|idea|doubt|request|task|file|list|table|function|class|string|script|warning)s?\b
    my (?:[\w.-]+ ){{0,2}}(?:question|code|problem|point|bad|mistake|apologies|guess|error|query|request|output|script|function|input|essay|text|draft|file|message|tests?|turn|screen)\b
    (?:tell|show|give|let|help|send|excuse|forgive|thanks?) me\b
    (?:good to|fine by|fine with) me\b
    (?:sorry|apolog)
    i(?:'ll| will)\b
    i (?:really |also )?(?:love|like|appreciate) (?:the idea|these|those|this|that|it|your|how)\b
    having (?:\w+ ){{0,2}}(?:issues?|trouble|problems?|difficult)
    feels? the same
    """
)
THIS_IS: Final = rf"^(?:here|this|that|it|there)\b|{_ABOUT_THE_TALK}"
