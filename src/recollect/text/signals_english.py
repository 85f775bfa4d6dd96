"""English words by which a sentence shows how it is meant; `signals` says what for."""

# ruff: noqa: E501 (one way a line)

from __future__ import annotations

from typing import Final

from recollect.text import openings
from recollect.text.signal_patterns import Signs, at_words, lines, one_of

_COURTESY: Final = one_of(
    "please also and so but now then right alright great yes yeah no just actually again next perfect"
    " sure thanks honestly good nice"
)
OPENING: Final = rf"(?:(?:{openings.ENGLISH}|{_COURTESY}|thank you|as usual)\b[,!:.]*\s+){{0,4}}"
"""What may stand before an order, a question or a wish."""

_POLITE: Final = "(?:(?:can|could|would|will) you (?:please |kindly |just |maybe )?)"
_INVERTED: Final = (
    one_of(
        "is are was were do does did can could should shall will would has have had may am isn't"
        " aren't don't doesn't didn't can't won't shouldn't"
    )
    + " "
    + one_of(
        "i you we they he she it there the this that these those my our your his her people anyone"
    )
    + r"\b"
)
_QUESTION_VERB: Final = "(?:is|are|do|does|did|can|could|should|would|will|was|were)"

ASKED: Final = Signs(
    OPENING
    + lines(
        rf"""
        {_INVERTED}
        (?:what|who|where|why|how|when|which)(?:'s|s| {_QUESTION_VERB}| many| much| about)\b
        (?:what|which|how) (?:\w+ ){{1,2}}(?:do|does|did|is|are|should) (?:i|we|you|they|the|my|our)\b
        """
    ),
    r"\?|"
    + at_words(
        """
        i wonder\\b
        (?:not sure|unsure|no idea|don't know) (?:if|whether|what|who|how|why|which|when)\\b
        """
    ),
)
SUPPOSED: Final = Signs(
    anywhere=at_words(
        r"""
        if (?:i (?:were|was|had|could|ever|won)|only)\b
        (?:had|were) i\b
        would (?:have|be (?:nice|great))\b
        i(?:'d| would) (?!rather\b|prefer\b|like you\b|love you\b|appreciate\b)[a-z]
        it would be\b
        (?:suppose|imagine|pretend|assume|hypothetically|let's say|say i|what if|as if|as though)\b
        (?:maybe|perhaps|possibly)\b
        (?:might|may)(?: no longer| not| also| just| still| well)? (?:be|have|want|need|try|switch|move|go|use|do|become)\b
        (?:not sure|who knows|one could|could argue)\b
        i(?:'m| am| was|'ve been)?(?: (?:just|also|actually|still|now|even))* (?:thinking (?:about|of)|considering|toying|tempted|leaning|guess|wish|doubt|dream)
        (?:haven't|hasn't|not|didn't|never) (?:yet )?decide
        (?:one|some) day\b
        (?:act|role-?play|behave) as\b
        in (?:my|the|this|a) (?:novel|story|game|book|script|movie|film|screenplay|dream)\b
        (?:my (?:character|protagonist)|the hero)\b
        """
    )
)
_TELLING: Final = (
    "(?:said|says|saying|tells (?:me|us)|told (?:me|us|him|her|them)|claims?|claimed|insists?"
    "|insisted|argues|argued|thinks|believes|reckons)"
)
EXPERT: Final = one_of(
    "doctor gp physician dentist optician allergist dermatologist cardiologist neurologist specialist"
    " surgeon p?aediatrician pediatrician midwife nutritionist dietitian psychiatrist therapist vet"
    " lawyer accountant"
)
"""Those whose word on it one takes for a fact about oneself."""

REPORTED: Final = Signs(
    anywhere=at_words(
        rf"""
        (?!{EXPERT} {_TELLING}(?: that)?,? (?:i|i'm|i've|my)\b)(?!(?:i|we|you|and|also|that|which|this|it|to|not|never|always) )[a-z'-]{{1,30}} (?:(?:always|often|once|also|just|has|have|had|keeps|kept) )?{_TELLING}\b
        (?:they|people|everyone|everybody|folks|some|many|others)(?: \w+){{0,2}} (?:say|think|claim|believe)\b
        according to\b
        as (?:the saying|they say)\b
        i(?:'ve)? (?:heard|read)\b
        rumou?r
        (?:docs?|documentation|article|book|manual|paper|website|post) (?:states?|recommends?|suggests?)
        """
    )
)
TAKEN_BACK: Final = Signs(anywhere=at_words("(?:kidding|joking|jk|a joke)\\b"))
JOKED: Final = Signs(
    anywhere=at_words(r"(?:kidding|joking|jk|lo{1,9}l|lmao|rofl|(?:ha){2,9})\b") + "|😂|🤣|😜|😝"
)

_ORDERS: Final = lines(
    """
    write|draft|compose|translate|rewrite|rephrase|paraphrase|proofread|polish|edit|correct
    summari[sz]e|explain|describe|tell me|show|give|list|compare|find|search|look|check|fix|debug
    run|rerun|repeat|generate|create|make (?:me|a|an|the|some)|build|implement|design|develop
    refactor|optimi[sz]e|convert|calculate|compute|plan (?:a|an|my|our|the)|suggest|recommend|book
    order|open|read|analy[sz]e|extract|continue|add|remove|delete|insert|change|rename|move|replace
    set up|install|prepare|send|help|review|test|print|plot|draw|sort|count|format|merge|act|play
    pick|choose|try|go on|go ahead|let me know
    """
)
ORDERED: Final = Signs(
    rf"{OPENING}{_POLITE}?(?:help me (?:to )?|i (?:need|want) you to |i(?:'d| would) like you to )?"
    rf"{_ORDERS}\b",
    at_words(
        rf"""
        (?<=[,:;] )please {_ORDERS}\b
        i (?:want|need|would like|'d like) (?:to write|to build|to create|to make|to implement)
        i (?:want|need|would like|'d like) an? \w+ (?:function|script|that)
        """
    ),
)

_REMEMBER_START: Final = (
    rf"{OPENING}{_POLITE}?(?:do )?remember\b(?! to\b| (?:when|how|what|where|who|the time|last))"
)
_REMEMBER_ANYWHERE: Final = r"""
    please remember\b(?! to\b)
    (?:keep|bear)(?: this| that| it)? in mind\b
    (?:make a|take) note\b
    note down\b
    for future reference\b
    don't forget (?:that|my|i\b|i'm|i've|we|our)
    """
REMEMBER: Final = Signs(_REMEMBER_START, at_words(_REMEMBER_ANYWHERE))
WISH: Final = Signs(
    rf"{_REMEMBER_START}|{OPENING}{_POLITE}?(?:always|never) [a-z]",
    at_words(
        rf"""
        {_REMEMBER_ANYWHERE.strip()}
        from (?:now|today|here|this point) (?:on|onwards?|forward)\b
        going forward\b
        henceforth\b
        in (?:the )?future\b
        as a (?:general )?rule\b
        (?:by|as (?:a|the|my)|my) default\b
        default to\b
        please (?:always|never)\b
        (?<=[,;:] )(?:always|never) [a-z]
        i(?:'ve)? (?:almost |nearly )?(?:always|never)\b
        you (?:must|should) (?:always|never)\b
        i(?:'d| would)?(?: \w+)? prefer\b
        my preference
        i(?:'d| would)(?: much)? rather\b
        (?:whenever|every time|each time|any ?time)\b
        when i (?:ask|say|tell|send|request|want)\b
        (?:call|address) me\b
        unless (?:i|otherwise|told|asked|stated|specified)\b
        """
    ),
)
POLITE: Final = Signs(
    rf"{OPENING}{_POLITE}(?:always|never|remember (?:that|my|i\b|i'm|i've|to)|keep|bear|make a note"
    r"|stop|from now|use|answer|default|call me|avoid)\b"
)
WITHHELD: Final = Signs(
    rf"{OPENING}{_POLITE}?(?:forget|disregard|ignore) (?:what|that|about|it|everything|my|all|this)\b",
    at_words(
        r"""
        (?:don't|do not|no need to|needn't|never|not to|don't (?:have|need) to|shouldn't) (?:\w+ )?(?:remember|save|store|record|keep|memori[sz]e|note|log) (?:this|that|it|what|any|my|the (?:conversation|chat))
        (?:don't|do not|no need to) remember\b
        off the record\b
        """
    ),
)
BACK: Final = Signs(
    anywhere=at_words(
        r"""
        as (?:usual|always|before|last time)\b
        last time\b
        where we (?:left|stopped)\b
        (?:as|like) (?:i|we) (?:said|discussed|agreed)\b
        the usual\b
        same as (?:before|last)\b
        """
    )
)
_TEXTS: Final = one_of(
    "essay text code logs? output error e?mail message letter draft article poem story file config"
    " trace paragraph review transcript quote lyrics data"
)
MATERIAL: Final = Signs(
    anywhere=at_words(
        rf"""
        (?:here(?:'s| is| are)|below (?:is|are)|this is|i (?:got|get|have|wrote|received)|see|the following)\b.{{0,40}}\b{_TEXTS}\b
        paste\b
        the following\b
        lyrics\b
        """
    )
)
YES: Final = (
    "(?:"
    + lines(
        """
        yes|yep|yeah|yup|sure|ok|okay|agreed|exactly|right|correct|perfect|great|good|fine|deal|done
        absolutely|definitely|of course|sounds (?:good|great|fine)|good idea|works for me|go ahead
        i agree|i like (?:it|that)|do (?:it|that|so)|please do|make it so|that works|that's fine
        let's (?:do|go with|use|take|pick|choose) (?:it|that one|that|this)|use (?:it|that|this)
        approved|confirmed|that way|like that|then|please|thanks|from now on|always|every time
        """
    )
    + "[ ,.!;]*){1,6}"
)
REMEMBER_THIS: Final = (
    "(?:(?:please|and|ok|okay|yes|great|so|could you|can you|also|thanks)[, ]*){0,3}"
    "(?:remember|keep|save|note|memori[sz]e|make a note of|don't forget) (?:this|that|it|the above)"
    "(?: one| fact| for me| for later| for next time| in mind| please| down){0,3}[.! ?]*"
)

ACKNOWLEDGES: Final = (
    "(?:"
    + lines(
        """
        yes|yep|yeah|sure|ok|okay|right|great|good|nice|cool|lovely|perfect|wonderful|excellent|wow|ah|oh
        got it|noted|understood|will do|of course|certainly|absolutely|no problem|alright|all right
        i see|i understand|makes sense|sounds (?:good|great|nice|lovely)|good to know|fair enough
        thanks|thank you|you're welcome|that's (?:great|good|nice|lovely|wonderful|fine|interesting)
        (?:i'm )?(?:glad|happy|great|nice|good) to (?:hear|know)(?: that| it| this)?
        for (?:that|this|telling me|letting me know|sharing)|choice|very|so much|then|i'll remember(?: that| it| this)?
        """
    )
    + "[ ,.!;]*){1,8}"
)
