"""English patterns by which a message shows its intent; `intent` decides their order."""

import re
from typing import Final

from recollect.language.words import stop_words
from recollect.recall.intent_rules import (
    ROLE,
    any_of,
    anywhere,
    as_a_whole,
    at_the_beginning,
    both,
    each,
    early_english,
    one_of,
    only_with,
)

_MAX_SHORT_CHARS: Final = 80

_NUMBER = r"(?:two|three|four|five|six|eight|ten|\d+)"
_AUXILIARY = one_of(
    "did do does is are was were will would has have had can could should might must may"
)
_POLITE = one_of("hi hello hey ok okay yes no so well then now also great good thanks please")
_GREETING = rf"(?: {_POLITE}[,!.]*){{0,3}}"
_ASKING = any_of(
    " (?:can|could|would|will) you(?: please| kindly)?(?: help (?:me|us))?(?: to)?",
    " help (?:me|us)(?: to)?",
    " (?:i|we)(?:'d| would) (?:like|love)(?: you)? to",
    " (?:i|we) (?:want|need)(?: you)? to",
    " i(?:'m| am) (?:going|trying|about|looking) to",
    " we (?:should|could)",
    " (?:let's|let us)",
)
_REQUEST = f"{_GREETING}{_ASKING}?(?: please| now| also){{0,2}}"

# Other trades have agents too: a travel agent is not a software agent.
_OTHER_TRADE = one_of(
    "travel estate insurance booking ticket user secret free federal special cleaning chemical"
    " literary talent letting leasing rental property shipping press sports gate sales purchasing"
    " reducing ai an? the my your their his her as for which every each"
)
_AGENT = rf"(?:(?!{_OTHER_TRADE} )[\w-]+ )(?:agents?|subagents?|bots?)"
_HAND = one_of(
    "ask tell let have get give hand pass delegate transfer assign forward share send sync"
    " coordinate check consult notify inform involve route escalate relay loop bring use work"
    " collaborate report"
)
CROSS_AGENT: Final = only_with(
    "agent bot @ shared",
    anywhere(
        " "
        + any_of(
            rf"{_HAND} (?:[\w'-]+ ){{0,6}}?{_AGENT}",
            rf"(?:the|our|other|all|both|another) (?:[\w-]+ )?{_AGENT}",
            each("other all which every each", " (?:sub)?agents?"),
            each("to ask tell let cc", r" @[\w-]+"),
            "subagents?",
            "shared memory",
            rf"@[\w-]{{0,20}}?{ROLE}[\w-]*",
        )
        + r"\b"
    ),
)
ADDRESSED: Final = at_the_beginning(
    _GREETING, r" @[\w-]+[,:]? (?!class |def |async |public |private |@)[a-z]"
)

_SPOKE = one_of("said mentioned discussed told agreed wrote explained described noted listed gave")
REFERENCE: Final = early_english(
    each("as like", rf" (?:i|we)(?:'ve| have)?(?: just| already)? {_SPOKE}"),
    each("you you've", rf"(?: have)? just {_SPOKE}"),
    each("said mentioned wrote listed described", " (?:above|just now|a (?:moment|minute) ago)"),
    "we(?: were|'re| are)? just (?:talk|discuss|say|said)(?:ing|ed)?",
    "where (?:we|i|you) (?:left off|stopped)",
    "your (?:last|previous) (?:answer|reply|message|response|suggestion|sentence|point)",
    "the previous (?:one|topic|answer|question|point|message|step|version)",
    each("did do", " you mean(?: by)?"),
    "back to what (?:you|i|we)",
    "do the same (?:for|with)",
    each("more another", " question about (?:this|that|it)"),
)

# Asking for a fact is no sign of another intent, whatever else the question mentions.
FACT: Final = at_the_beginning(
    r"(?: (?:and|so|but|hey|hi)[,!]?)?",
    " (?:when|where|who|whom|whose|how (?:many|much|long|often|old|far|big|tall|large))"
    rf"(?: [\w'-]+){{0,3}}? {_AUXILIARY}\b",
    r" (?:what|which|why|how)(?: (?!do\b)[\w'-]+){0,5}? (?:did|was|were|had|has|have)\b",
    r" (?:what|which) (?:is|are) (?:a|an|the)\b",
    r" (?:did|was|were|had|has|who) \w",
)
ASKED: Final = at_the_beginning(
    _GREETING,
    r" (?:what|which|who|where|when|how|is|are|do|does|will|should|am|tell me|remind me|if)\b",
    " (?:can|could|would|will) you (?!check|look|find out|see|figure)",
)

_ANSWERS = "(?:answers?|repl(?:y|ies)|summar(?:y|ies)|responses?|explanations?|messages?|emails?)"
STANDING_ORDER: Final = early_english(
    "from (?:now|today) on",
    "going forward",
    "in (?:the )?future(?=,)",
    "my (?:usual|go-to)",
    "whenever you",
    each("when if", r" you [a-z]+ (?:for|to) me"),
    each("every each", " time you"),
    "you should (?:always|never)",
    rf"in (?:your|all|each|every) {_ANSWERS}",
    rf"per {_ANSWERS}",
)
RULE_FOR_ANSWERS: Final = at_the_beginning(
    _REQUEST,
    r" (?:always|never) (?!\w+ed\b|mind)\w+",
    " (?:don't|do not|stop|avoid|no need to) "
    r"(?:us|ask|say|add|writ|send|includ|call|giv|put|explain|repeat|mention|schedul|tell"
    r"|suggest|recommend|offer|propos|remind|assum)\w*",
    rf" keep (?:your |all |the |my )?{_ANSWERS}\b",
    r" (?:speak|talk|reply|answer|respond)(?: to me| me)?(?: only)? in \w",
    r" i want (?:all|every)\b",
    r" (?:call|address) me \w",
    r" use [^.?!]{1,60} by default\b",
)

_TASTE = "(?:prefer|like|love|hate|dislike|enjoy|adore|can't stand|can't bear)"
_HABITUALLY = "(?:usually|normally|generally|typically|tend to)"
_HABIT = one_of("take eat drink wear order listen watch buy choose sit book work go use")
PREFERENCE: Final = early_english(
    rf"i (?:really |{_HABITUALLY} |also |still |do |don't |do not |much |always )?{_TASTE}"
    r"(?! (?:it|that|this|your|the idea|how you|to (?:know|ask|see))\b)",
    rf"do i (?:{_HABITUALLY} |really |always )?{_TASTE}",
    rf"do i {_HABITUALLY} \w+",
    rf"i {_HABITUALLY} (?!\w+ed\b)\w+",
    rf"i (?:always|never|only) {_HABIT}",
    rf"do i (?:always|never|only) {_HABIT}",
    each("i'd i", "(?: would)?(?: much)? (?:rather|prefer)"),
    "i (?:don't|do not) (?:eat|drink|wear)",
    "do i (?:eat|drink|wear|listen)",
    "my (?:favou?rite|preferred|preferences?|tastes?|habits?)",
    each(
        "i'm i", "(?: am)? (?:an? )?(?:vegetarian|vegan|fond of|not (?:a fan|fond|into)|allergic)"
    ),
    each("i'm i", "(?: am)? more of an?"),
    "am i (?:into|fond of|allergic)",
    "remember (?:that )?i (?:want|like|need|prefer)",
)

_IT = "(?:it|that|them|those|these|this)"
_FEW_WORDS = rf"(?: (?!{_AUXILIARY}\b)[\w'-]+){{1,6}}"
SHORT_REFERENCE: Final = as_a_whole(
    _REQUEST,
    " (?:continue|go on|go ahead|keep going|carry on|proceed|resume)"
    r"(?:,? please| with(?: [\w'-]+){1,4})?",
    rf"(?: and)? (?:what|how) (?:about|if){_FEW_WORDS}",
    rf" and{_FEW_WORDS}\?",
    rf" (?:can|could|would|will) you [a-z-]+ {_IT}(?: [\w'-]+){{0,6}}",
    r"(?: [\w'-]+){1,4} (?:these|those)(?: [\w'-]+){1,5}\?",
    " (?:do|try|make|explain|rewrite|redo|change|repeat|shorten|expand|simplify|undo|use|show|put"
    rf"|clarify|rephrase|translate|turn|say|add|remove) {_IT}(?: [\w'-]+){{0,7}}",
    r" (?:elaborate|expand)(?: on(?: [\w'-]+){1,5})?",
    r" (?:the )?same (?:thing|again|as|but|for|with)(?: [\w'-]+){0,7}",
    r"(?: sorry,?| no,?){0,2} (?:i meant?|not (?:that|this))(?: [\w'-]+){0,7}",
    longest=_MAX_SHORT_CHARS,
)
# A short message made only of such words has no subject of its own: it refers to earlier words.
_SUBJECTLESS = stop_words().union(
    *(
        line.split()
        for line in (
            "i me my i'm i'd it's that's what's don't didn't isn't doesn't can't",
            "ok okay yes no yeah sure thanks thank please hm hmm wait oh ah right good great fine",
            "well sorry really actually exactly certain serious anything nothing",
            "say saying tell explain show give go going continue mean meant ask asked repeat",
            "expand elaborate clarify rephrase rewrite shorten simplify make get understand see",
            "recommend suggest choose pick think break check double-check bit best add",
            "remove change keep put",
            "different differently example examples detail details point points step steps",
            "paragraph sentence option options answer question list version way part thing topic",
            "first second third fourth fifth last next previous earlier former latter two three",
            "shorter longer simpler clearer better less again else instead back",
        )
    )
)
_SPOKEN_WORD = re.compile("[^ ,.?!;:]+")


def without_subject(said: str) -> re.Match[str] | None:
    """Match a short message that names nothing; return its first word."""
    if len(said) > _MAX_SHORT_CHARS or not _SUBJECTLESS.issuperset(_SPOKEN_WORD.findall(said)):
        return None
    return _SPOKEN_WORD.search(said)


# A message that opens with a reaction, or greets and then tells something, continues what is under
# way. One that reacts or greets and then asks for a fact is a question.
_TO_SOMEBODY = one_of("hi hey hello g'day yeah yep nah ok okay alright thanks cheers wow whoa oh")
_REACTION = any_of(
    rf"{_TO_SOMEBODY}(?: [\w'-]+)?",
    one_of(
        "yes no right sure great good nice cool awesome amazing perfect excellent fantastic"
        " wonderful brilliant lovely ah aha phew hm+ exactly absolutely definitely true wait well"
    ),
    "good (?:morning|afternoon|evening)",
    "thank you",
    "got it",
    "sounds (?:good|great)",
    "you're (?:absolutely |so )?right",
)
_FOR_IT = "(?: so much| a lot| very much)?(?: for [^,.!?]{1,60})?"
_TELLS = (
    r"(?! (?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|has|have|had"
    r"|can|could|would|will|should)\b) \S"
)
CONTINUES: Final = at_the_beginning(
    "",
    rf"(?: {_REACTION}{_FOR_IT}[,.!;:…-]+){{1,4}}{_TELLS}",
    r" (?:that|this|those|these|that's|this is)\b[^?]{3,200}?[.!,]",
    r" (?:i'm|i am) (?:back|ready (?:to|for))\b",
    r" let's (?:get|go|keep|start|continue|move|pick|finish|do)\b",
    r"[^?]{0,400}? what's (?:the |our |my )?next\b",
    r"[^?]{0,400}? (?:should|can|shall|do) (?:i|we) (?:do|tackle|focus on|work on) next\b",
)

_NEW = rf"(?!{_IT}(?:[?.! ]*$| (?:in|to|into|as|for|a|more|less)\b)|one\b|more\b|another\b|to\b)"
_ARTIFACT = one_of(
    "scripts? functions? programs? apps? applications? websites? pages? tools? templates? reports?"
    " plans? schemas? dockerfiles? migrations? pipelines? tests? apis? endpoints? class modules?"
    " query regex chatbots? dashboards? spreadsheets? letters? emails? essays? story poems? logos?"
    " slides presentations? proposals? diagrams? components? services? plugins? library features?"
    " itinerary speech outline recipe checklist posts? song"
)
NEW_TASK: Final = at_the_beginning(
    _REQUEST,
    " (?:write|create|build|implement|generate|develop|compose|translate|refactor|migrate|automate"
    "|scaffold|prototype|prepare|produce|extract|set up|put together|whip up|come up with) "
    rf"{_NEW}\w",
    " (?:design|draft|plan|draw|sketch|convert|add|code|port|outline|configure|organi[sz]e"
    rf"|brainstorm|compile|rewrite) (?:a|an|the|me|us|my|our|some|this|these|all|new|{_NUMBER})\b",
    rf" make (?:me |us )?(?:a|an|some|{_NUMBER}) (?!note\b|copy\b|difference\b)",
    r" (?:turn|convert) (?:this|these|the|my|our) (?:[\w-]+ ){1,5}?into ",
    r" (?:start|begin) (?:on |with )?(?:a|an|the|our|my) new\b",
    " (?:new|next) (?:task|project|feature)[:,]",
    " (?:(?:i|we)(?:'m| am|'re| are)?(?: going to)? need|(?:i|we)(?:'d| would) (?:love|like)"
    rf"|give (?:me|us)) (?:a|an|some|{_NUMBER}) (?:[\w-]+ ){{0,3}}?{_ARTIFACT}\b",
)

FIX: Final = at_the_beginning(
    _REQUEST, r" (?:fix|debug|repair|troubleshoot|hotfix|patch|resolve|solve|investigate) \w"
)
BUG: Final = early_english(
    "stopped working",
    each("doesn't don't isn't aren't not", " work(?:ing)?"),
    each("exit exits exited", r"(?: with)?(?: code| status)? [1-9]\d{0,2}"),
    r"fix (?:the|this|that|a|my|our) (?:[\w'-]+ ){0,4}?(?:bug|error|issue|problem|crash|leak)",
    "how (?:do|can|to|should)(?: i| we)? (?:fix|debug|resolve|get rid of)",
    "please (?:fix|debug|repair)",
    each("something something's", "(?: is)? wrong with"),
    each("there there's", "(?: is)? an? (?:[a-z]+ )?bug"),
    "memory leak",
    "null pointer",
    "merge conflict",
    "syntax error",
    "race condition",
    "deadlock",
)
_THING: Final = early_english(
    each(
        "apps? page site website api server backend frontend endpoint build tests? ci deploy"
        " deployment script code query button dropdown menu form login checkout database printer"
        " wifi browser firefox safari chrome android ios docker container git npm pip excel css"
        " html javascript python cron worker module import compile install installer"
        " function loop cache screen laptop computer phone console requests? uploads? downloads?"
        " program plugin service pipeline package library update upgrade driver parser export"
        " macro tool file log images? video sort link password router merged? click(?:ing)?"
        " websocket camera microphone keyboard mouse scroll csv json xml gateway table columns?"
        " submit icons? tabs? window popup modal cursor sidebar session token cookies? cluster pod"
        " kubernetes redis postgres mysql nginx webpack react vue typescript java rust kernel"
        " bluetooth headphones firmware release rollout migration queue notifications? sync"
    )
)
_OPERATION = one_of(
    "load start compil render connect open install show respond build run clos sav appl updat work"
    " arriv log sync print charg turn display import access"
)
_TROUBLE: Final = early_english(
    each(
        "fail(?:s|ing|ed|ure)? crash(?:es|ing)? hangs freez(?:es|ing) broken broke bugs? defect"
        " glitch(?:es)? leak(?:s|ing) incorrect(?:ly)? wrong blank duplicated?s? refused denied"
        " corrupt(?:ed)? timeouts? flaky twice unresponsive garbled unexpected(?:ly)? errors?"
        " exceptions? stale disappear(?:s|ed)? disconnect(?:s|ed|ing)?"
    ),
    each("is gets", " stuck"),
    each("is are", " missing"),
    each("time times timed", " out"),
    each("endless infinite", " loop"),
    each("white black blue", " screen"),
    "nothing happens",
    "do(?:es)? nothing",
    "no longer",
    "not (?:detected|recogni[sz]ed|found|supported|saved|sent|received|delivered|displayed)",
    "no (?:sound|output|response|effect|message)",
    "never (?:arrives?|ends?|finish(?:es)?|stops?|returns?|loads?|runs?)",
    each(
        "doesn't isn't aren't didn't don't can't won't not",
        rf" (?:even |being )?{_OPERATION}[a-z]*",
    ),
    "cannot [a-z]+",
    "unable to [a-z]+",
    "keeps (?:[a-z]+ )?[a-z]+ing",
    r"50[0-4]s?|40[0-9]s?",
)
TROUBLE: Final = both(_TROUBLE, _THING)
