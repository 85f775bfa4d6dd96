"""English words that show what a clause is worth remembering as; the first rule decides.

A clause is lower case, and is told: questions, suppositions and quotes are gone before. A line is
one way to say it.
"""

# ruff: noqa: E501 (one way a line)

from __future__ import annotations

from typing import Final

from recollect.text.signal_patterns import Signs, at_words, lines
from recollect.text.signals_english import OPENING
from recollect.writing.extract_english_words import (
    ADVERBS,
    AHEAD,
    ARTIFACT,
    BEHIND,
    CONDITION,
    DAY,
    FEELING,
    HABIT,
    HOLDS,
    HOUSEHOLD,
    MATTER,
    MONTH,
    OWN_FACT,
    PAIR,
    PAST,
    POSSESSION,
    POST,
    RELATIVE,
    SAVED,
    SQL,
    STATE,
    THIS_IS,
)
from recollect.writing.extract_rule import Rule

RULES: Final[tuple[Rule, ...]] = (
    Rule(
        "feedback",
        Signs(
            anywhere=at_words(
                r"""
                i(?: really)? (?:like|love|appreciate|hate|dislike|prefer)(?: it)? (?:how|when|the way|that) you\b
                i (?:like|love|appreciate|hate|dislike) your\b
                """
            )
        ),
        label="feedback",
    ),
    Rule(
        "sentiment",
        Signs(
            anywhere=at_words(
                rf"""
                i(?:'m| am|'ve been| have been| was| feel| felt)(?: feeling| getting| kinda)?{ADVERBS} {FEELING}
                driv(?:es|ing) me (?:crazy|mad|nuts|insane|up the wall)
                (?:this|it|that) is (?:so |really |very |super )?(?:frustrating|annoying|exhausting|infuriating|stressful|depressing|exciting|amazing)\b
                i (?:really )?(?:hate|can't stand) (?:this|it|that)\b(?! \w+ (?:mode|theme))
                i(?:'m| am) (?:losing patience|at my wits|losing my mind)
                can't wait\b
                what a (?:relief|shame|pity|nightmare|mess|day|joy|disaster)\b
                (?:close|about|ready|want) to (?:giv(?:e|ing) up|cry|scream|quit)
                i can't take\b
                had enough\b
                makes me (?:so |really |very )?(?:happy|sad|angry|mad|nervous|anxious|smile|cry|sick)\b
                """
            )
        ),
        unless=r"\b(?:glad|happy|excited|pleased) (?:you|that you|to (?:hear|help|see|know|learn|try))",
    ),
    Rule(
        "follow-up",
        Signs(
            OPENING
            + lines(
                r"""
                (?:remember|don't forget|make sure) to\b
                (?:todo|to do|to-do|action items?|next steps?|follow[- ]up)\b
                (?:need|have|got|must) to\b
                """
            ),
            at_words(r"(?:remind|ping|nudge|poke|chase) me\b"),
        ),
        label="todo",
    ),
    Rule(
        "follow-up",
        Signs(
            anywhere=at_words(
                r"""
                (?:i|we) still (?:need|have|must|owe|want)\b
                i owe\b
                waiting (?:for|on)\b
                still (?:pending|open|outstanding|to be done|missing|due|unfinished|in review)\b
                """
            )
        ),
    ),
    Rule(
        "follow-up",
        Signs(
            anywhere=at_words(
                r"""
                (?:i|we)(?:'ve| have)?(?: also| really)? (?:need|have|got|must|ought)(?: to)?\b
                (?:has|needs) to\b
                (?:let's|we should) (?:come back|revisit|get back|return|continue|pick|follow up|circle back|discuss|talk|meet|review|finish|look)\b
                (?:i|we)(?:'ll| will|'m going to|'re going to) (?:meet|review|check|call|send|talk|discuss|look|follow|get|finish|write|update|let|come|do|ask|email|present|test|try)\b
                """
            )
        ),
        also=AHEAD,
        unless=r"\bhave (?:an?|the|two|\d)\b",
    ),
    Rule(
        "decision",
        Signs(
            anywhere=at_words(
                r"""
                (?:i|we|they|team|board|group|management|committee)(?:'ve| have| has)?(?: (?:all|finally|also|just|now|unanimously|jointly|recently))? (?:decided|agreed|chose|chosen|settled|picked|selected|opted|went with|voted|committed|rejected|approved)\b
                (?:i|we)(?:'re| are|'m| am)? (?:going|sticking|staying) (?:with|for|ahead with)\b
                it(?:'s| is| was| has been)(?: been)? (?:decided|settled|agreed|final:)(?!\w)
                adr[- ]?\d+ is\b
                (?:the|our|my|final) (?:final )?(?:decision|choice) (?:is|was)\b
                we(?:'ll| will) (?:use|go with|keep|drop|postpone|stick|switch|move to|adopt|build|skip|support|stop|start|replace|migrate|host|stay)\b
                is (?:hereby )?(?:accepted|approved|rejected|cancelled)\b
                """
            )
        ),
        confidence=0.85,
    ),
    Rule(
        "decision",
        Signs(
            OPENING
            + lines(
                r"""
                (?:final )?decision\b
                settled:
                let's (?:use|go with|stick|keep|switch|drop|ditch|scrap|replace|swap|adopt|pick|choose|stay|build it|make it|skip|call it|name it|settle|do it with|move to)\b
                (?:[\w.+#-]+ ){1,3}it is(?: then)?(?:[.!,]| *$)
                """
            ),
            at_words("decision:"),
        ),
        label="decision",
    ),
    Rule(
        "domain-facts",
        Signs(
            lines(
                r"""
                [\w '"-]{2,40} (?:is|are) (?:the|an?) (?:share|number|ratio|percentage|amount|sum|total|average|count|rate|set|list|group|period|proportion|difference|measure|term|metric|internal)\b
                """
            ),
            at_words(
                r"""
                (?:means|stands for|refers to|denotes|equals|we mean)\b
                is (?:short for|shorthand|another name for|the same as|what we call)\b
                is an? (?:abbreviation|acronym|alias|synonym)\b
                is (?:defined|calculated|computed|measured|counted|understood) (?:as|by|from|per)\b
                we call (?:it|this|that|them)\b
                (?:excludes|includes|does not include|doesn't include|counts only|doesn't count)\b
                """
            ),
        ),
    ),
    Rule("tool-effects", Signs(anywhere=at_words(SAVED)), also=ARTIFACT, event=True),
    Rule("tool-effects", Signs(anywhere=at_words(SQL)), event=True),
    Rule(
        "task-traces",
        Signs(
            r"(?:in )?conclusion\b|(?:result|outcome|findings?|summary)s?:",
            at_words(
                r"""
                root cause\b
                (?:the|our|my|final) (?:conclusion|finding|result|takeaway|outcome) (?:is|was)\b
                in the end\b
                it turn(?:ed|s) out\b
                (?:we|i) (?:found|figured|concluded) (?:out )?that\b
                """
            ),
        ),
        event=True,
    ),
    Rule(
        "preference",
        Signs(
            anywhere=at_words(
                rf"""
                my (?:(?:all[- ]time|absolute|personal) )?favou?rite\b
                i(?:'d| would)?{ADVERBS} (?:prefer|rather)\b
                my prefer(?:ence|red)
                i{ADVERBS} (?:like|love|enjoy|adore|fancy|hate|dislike|detest|loathe|despise|avoid|favou?r) (?!(?:it|this|that|these|those|you|how|when|your|the idea|to (?:know|see|ask|get|have|hear))\b)
                i(?: do not| don't| didn't| never|{ADVERBS} don't){ADVERBS} (?:like|enjoy|love|want|need|care for|appreciate)\b
                i can(?:'t|not) (?:stand|bear)\b
                i(?:'m| am)(?: not)?{ADVERBS} (?:(?:a )?(?:big |huge |great )?fan of|into\b|fond of|keen on|partial to|obsessed with|crazy about|used to \w+ing)
                """
            )
        ),
        confidence=0.85,
    ),
    Rule(
        "user",
        Signs(rf"{OPENING}(?:you (?:can|may|could) |please )?(?:just )?(?:call|address) me\b"),
        confidence=0.9,
    ),
    Rule(
        "preference",
        Signs(
            rf"{OPENING}(?:(?:could|can|would|will) you |please ){{0,2}}(?:always|never) [a-z]",
            at_words(
                r"""
                please (?:always|never)\b
                (?<=[,;:] )(?:always|never) [a-z]
                from (?:now|today|here|this point) (?:on|onwards?|forward)\b
                (?:going forward|henceforth|default to)\b
                in (?:the )?future\b
                as a (?:general )?rule\b
                (?:by|as (?:a|the|my)|my) default\b
                you (?:must|should) (?:always|never)\b
                unless (?:i|we|otherwise|told|asked|stated|specified)\b
                every time\b
                """
            ),
        ),
        label="asks",
        confidence=0.9,
    ),
    Rule(
        "feedback",
        Signs(
            OPENING
            + lines(
                r"""
                (?:stop|quit|don't|do not|avoid|no more|refrain from|cut out|drop the) (?!worry|bother|you|forget|know|think|hesitate|mind|hold|let|be (?:shy|sorry))\w
                no (?!(?:problem|worries|need|one|idea|thanks|thank|rush|way|doubt|wonder|matter)\b)[\w' -]{2,40}[.! ]*$
                (?:keep|make|limit|shorten) (?:your |the |all |it |them |my |me )?(?:answers?|replies|responses?|it|them|explanations?|messages?|emails?|summar\w+|code|comments?|posted|informed|\w+ing)\b
                (?:less|fewer|more|shorter|longer|simpler) [\w' ,-]{2,60}$
                wrong \w+
                not (?:the|that|this) \w+,
                please use\b
                """
            ),
            at_words(
                r"""
                you (?:should(?:n't| not)?|must(?:n't| not)?|need to|needn't|don't need|don't have to|always|keep|kept|forgot|missed|used|ignored|never|again|still)\b
                you(?:'re| are) (?:too|still|again|always)\b
                your (?:\w+ ){1,3}(?:is|are|was|were) (?:too|not|way|much|far|perfect|great|good|exactly|wrong)\b
                (?:that's|that is|this is|it's) (?:wrong|incorrect|not (?:right|correct|true|what|how))\b
                i (?:asked|told you|meant|wanted)\b
                next time\b
                (?:exactly|perfect|great|right)\b.{0,40}\b(?:keep|like (?:that|this)|same way|again|i want|i need)\b
                (?:was|is|were) (?:perfect|exactly|great|spot on|what i (?:want|need)).{0,40}\b(?:again|keep|same|do|every|want|continue)
                this is (?:exactly )?(?:the|what|how) .{0,30}\bi (?:want|need|like)
                i (?:want|need|'d like) you to\b
                more (?:like|of) (?:this|that|these)\b
                i was (?:hoping|looking|asking) for\b
                instead of (?:what you|your)\b
                (?:too|so) (?:long|verbose|wordy|short|formal|informal|technical)\b
                good (?:catch|call|point)\b.{0,60}\b(?:keep|continue|do|always)\b
                """
            ),
        ),
        unless=r"\b(?:hope|thank|congrat|welcome)",
        label="feedback",
    ),
    Rule(
        "user",
        Signs(
            rf"{OPENING}(?:my|our) {RELATIVE}\b",
            at_words(
                rf"""
                my (?:[\w-]+ ){{0,3}}{OWN_FACT}(?: \w+){{0,3}} (?:is|are|was|has)\b
                (?:is|are) my \w
                i(?:'m| am)(?: \w+){{0,2}} {CONDITION}\b
                i(?:'m| am) (?:the|an?) (?!(?:bit|little|lot|few|tad|bad|huge|big|fan|one|idiot|king|queen|fool|mess|same|only|kind|sort|while|second|minute)\b)\w
                i{ADVERBS} {HABIT}\b
                i (?:run (?:a|my|the)|get up|go to)\b
                i have (?:an? |two |three |four |\d+ |no )?(?:\w+ ){{0,2}}{POSSESSION}\b
                i(?:'ve| have) (?:been|got|lived|worked|had)\b
                i was (?:born|raised)\b
                i grew up\b
                i used to (?:be|live|work|have|own|play|drink|smoke|eat|run|drive|study|teach|love|like|hate)\b
                i (?:usually|normally|typically|always|never|often|mostly|can only|only|rarely|generally) \w
                i (?:don't|do not|no longer|can't|cannot) (?:eat|drink|use|work|drive|smoke|speak|have|own|travel|live|watch|read|take|fly|do)\b
                every (?:morning|day|evening|week|night|month|weekend),? i\b
                i graduated\b
                i(?: just| recently)? (?:started|joined|moved|switched jobs|retired)\b
                {PAIR}
                i can(?: now| finally)? (?:eat|drink|drive|walk|run|swim|hear|see|work|speak) (?:\w+ ){{0,4}}(?:again|now)\b
                i(?:'m| am)(?: now)? (?:up|down) to \d
                i(?:'m| am)(?: still| currently| now)? (?:looking for (?:an? )?(?:new )?(?:job|work|flat|apartment|house|flatmate|roommate)|between jobs)\b
                i(?:'m| am) (?:going|flying|travell?ing|driving|heading) to (?:the )?[\w-]+(?: [\w-]+)? (?:in|on|this|next|for) (?:{MONTH}|{DAY}|\d|the|an?|two|three|summer|winter|spring|autumn|fall|week|month|year|christmas|easter)\b
                i [a-z]+ (?:[\w'-]+ ){{0,4}}every (?:morning|day|evening|week|night|month|weekend|{DAY})\b
                {HOUSEHOLD}
                i(?:'ve| have)?(?: just| recently)? (?:left|quit) [^,;]{{2,40}},? (?:and|to) (?:i |now |then |just |recently )*(?:work|join|joined|start|started (?:at|as|a new|working)|moved to)\b
                """
            ),
        ),
        unless=r"^(?:here|this|that|it|there)\b",
    ),
    Rule("task-traces", Signs(anywhere=at_words(PAST)), also=BEHIND, event=True),
    Rule(
        "task-traces",
        Signs(
            anywhere=at_words(
                r"""
                we(?:'ve| have)?(?: just| finally| already)? (?:shipped|deployed|released|launched|fixed|merged|finished|completed|migrated|signed|published|rolled (?:out|back)|resolved|closed|hired|lost|won)\b
                went (?:really |very )?(?:well|badly|fine|great|wrong|smoothly|down)\b
                got (?:accepted|rejected|approved|cancelled|promoted|fired|hired|married)\b
                (?:fixed|resolved|merged|reverted) (?:it|this|that|the)\b.{0,60}\b(?:commit|pr|pull request|in v?\d)
                """
            )
        ),
        event=True,
    ),
    Rule(
        "project",
        Signs(
            lines(
                r"""
                (?:each|every|all|both) (?:[\w'-]+ ){1,4}?(?:\w+s|have|are|get|must|log|use|go|run|need|come|share)\s
                """
            )
            + rf"|{MATTER}(?: (?:for|of|in|on) [\w' -]{{2,40}})? (?:is|are|was|will be) (?=\S)",
            at_words(
                rf"""
                (?:known issue|constraint|requirement|sprint goal|goal|convention|rule|heads[- ]up|status|milestone|assumption|limitation|deadline|scope)s?(?: (?:this|for|of|in) [\w -]{{1,20}})?:
                our (?:[\w'-]+ ){{1,4}}{HOLDS}\b
                our (?:[\w'-]+ )?{MATTER}\b
                (?:the|this|fyi,?|client's|customer's) (?:[\w'-]+ ){{0,4}}?{MATTER}(?:'s)?(?: [\w'-]+){{0,6}}? {HOLDS}\b
                we(?:'re| are)? (?:use|using|run|running|host|hosting|deploy|have|support|sell|build|building|follow|store|log|target|maintain|own|a (?:small |big )?(?:team|company|startup)|can't|cannot|must|only|don't)\b
                (?:leads|owns|manages|maintains|heads|reports to|works on)\b
                is (?:responsible for|in charge of|the one who)\b
                is (?:our|the) (?:[\w-]+ ){{0,3}}{POST}\b
                (?:approves|handles|reviews|signs off|takes care of|looks after|coordinates|supervises|decides) (?:the|our|all|on)\b
                (?:deadline|due date|release|launch|go-live|kick-?off|demo)\b.{{0,30}}\b(?:is|was|on|ships)\b.{{0,30}}\d
                """
            ),
        ),
    ),
    # What speakers say of themselves beyond these words is still told, if it is not about the talk.
    Rule(
        "preference",
        Signs(
            anywhere=at_words(
                r"""
                my go-to\b
                works? best for me\b
                over [\w -]{2,40},? any (?:day|time)\b
                easier (?:for me|to read)\b
                i(?:'d| would) appreciate\b
                i find (?!it\b|that\b|out\b|the\b)\w
                """
            )
        ),
        confidence=0.7,
    ),
    Rule(
        "task-traces",
        Signs(anywhere=at_words(rf"(?:i|we) (?:{PAST}|(?!need\b)[a-z]{{2,}}ed)\b")),
        unless=THIS_IS,
        confidence=0.6,
        event=True,
    ),
    Rule(
        "user",
        Signs(r"my\b", at_words(r"(?:i|i'm|i've)\b" + "\n" + r"(?:for|with|to|of) me\b")),
        unless=THIS_IS,
        confidence=0.6,
    ),
    Rule(
        "feedback",
        Signs(r"you\b"),
        unless=r"\b(?:welcome|hope|thank|know|can|could|great|amazing|kidding)\b|\bare (?:right|funny|an? )",
        label="feedback",
        confidence=0.6,
    ),
)

# A whole fact in two words: "I'm vegan".
BRIEF: Final = rf"i(?:(?:'m| am) {STATE}| (?:smoke|vape))[.! ]*"
ABOUT_PROJECT: Final = r"\b(?:our|we|us|the)\b"
ABOUT_SPEAKER: Final = r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine)\b"
ABOUT_US: Final = r"\b(?:we|our|us)\b"
# That something is wrong, and not what would be right.
MERE_COMPLAINT: Final = lines(
    r"""
    (?:(?:that|this|it)(?:'s| is| was) )?(?:still |just )?(?:wrong|incorrect|not (?:right|correct|true|it|what i (?:asked(?: for)?|want(?:ed)?|meant|said|need(?:ed)?)))[.! ]*
    you (?:misunderstood|misread|got|understood)(?: me| it| that| this)?(?: wrong)?[.! ]*
    """
)
