"""English words by what they say in a claim: signs, people, and how often something is.

The key of an entry names the pieces its phrases stand for: `verb live` is the concept *live*,
`not + verb like` denies what it names, `change + verb work` also says that it is new. A key of one
word that is no sign names a class, of which each phrase is another member (`colour`). Phrases are
compared by the stems of their words; only irregular forms are listed besides.
"""

from typing import Final

SIGNS: Final = {
    "not": """not, never, no, without, cannot, hardly, rarely, seldom, nor, neither, none, nobody,
        no one, nothing, unable to, be unable to, be not able to, refuse to, refuse, avoid, except,
        excluding, must not, instead of ever, lack, free of, stay away from, steer clear of, be
        against, skip, by no means, not at all, fail to, decline to, leave out, be devoid of, far
        from, in no way, under no circumstances, on no account, not any, not ever, be incapable of,
        be without""",
    "over": "any longer, anymore, any more",
    "end": """no longer, not any longer, stop, quit, give up, cease, end up without, be over with,
        be done with, discontinue, drop, abandon, get rid of, leave, retire from, cancel, deprecate,
        be gone from, move away from, move out of, be back from, return from, come back from, call
        off, axe, do away with, put an end to, phase out, sunset, give away the, kick the habit of,
        withdraw from, drop out of, turn my back on, break with, be called off""",
    "now": """now, nowadays, these days, currently, at the moment, at present, presently, from now
        on, going forward, as of now, as of today, lately, recently, since then, already, this time,
        starting today, starting now, starting next week, henceforth, at this point, instead, by
        now, meanwhile, in the meantime, since recently, for the time being, as of this week, as of
        this month, as from now, from today on, from this week on, at the time being, of late""",
    "formerly": """used to, use to, formerly, previously, in the past, once upon a time, back then,
        years ago, as a child, as a kid, in childhood, before that, when young, earlier in life, in
        former times, in my youth, at one time, in earlier days, back in the day""",
    "correct": """actually, correction, to correct, in fact, i was wrong, i made a mistake, sorry i
        meant, i meant, i misspoke, to be precise, rather than what i said, contrary to, correcting
        myself, i misremembered, to set the record straight, my mistake, i got that wrong, let me
        correct that, i stand corrected""",
    "change": """change to, change, switch to, switch over to, switch, swap to, become, turn into,
        convert to, migrate to, migrate, transition to, rename to, rename, reschedule to, reschedule
        for, reschedule, push to, reassign to, reassign, end up with, go from, update to, update,
        adjust to, revise to, set to, now set to, change my mind, adopt, redo, move, be moved to, be
        replaced by, be replaced with, replace by, replace with, push to, make the switch to, be now
        called, shift to""",
    "now + weak again": "again, once more, once again",
    "change + direction up": """go up to, be up to, rise to, increase to, increase, raise to, raise,
        double to, grow to, upgrade to, upgrade, bump to, promote to, promote, extend to, extend, go
        up, rise, climb to, jump to, expand to, have risen to, have grown to""",
    "change + direction down": """go down to, be down to, fall to, decrease to, reduce to, reduce,
        cut to, cut, lower to, shrink to, downgrade to, downgrade, demote to, shorten to, drop to,
        go down, fall, decrease, shrink, lower, have fallen to, have dropped to""",
    "change + direction later": """postpone to, postpone until, postpone, push back to, delay to,
        delay until, delay, slip to, put off until, put off, push out to, defer to, defer until""",
    "change + direction earlier": "bring forward to, bring forward, move up to, move forward to",
    "change + verb live": """move to, move into, move in, move back to, relocate to, relocate,
        settle in, settle down in, emigrate to, move house to, have moved to, have relocated to,
        move over to, move out to, resettle in, take up residence in""",
    "change + verb work": """join, start working at, start a job at, start working for, take a job
        at, took a job at, get a job at, got a job at, land a job at, get hired by, got hired by, be
        hired by, change jobs to, go to work for, went to work for, get a new job at, get a new job
        with, start a new job at, have a new job at, land a new job at, work now at, start a new job
        with, begin a new job at, sign on with, go to work at, take a position at, take a position
        with, take up a post at, be now employed at, be now with, find a job at, found a job at, get
        a position at, move jobs to, get a job as, got a job as, get a job, find a job, found a job
        as, find a job as, land a job""",
    "change + verb study": "transfer to, enroll at, enrol at",
    "change + verb manage": """take over, take charge of, take the lead of, take over from, take on
        the role of, be put in charge of, inherit, have taken over, be now in charge of, be now
        responsible for""",
    "change + taken": "replace, trade, trade in, exchange, swap out, swap",
    "from": "from, out of, away from",
    "instead": "instead of, rather than, in place of, as opposed to",
    "joint": """to, into, towards, toward, or, plus, as well as, &, as, on, at, in, of, with, via,
        per, about, until, till, since, between, among, under, onto, upon, during, within, if,
        such as, when, where, who, which, that, whose, especially, mainly, mostly""",
    "and": "and",
    "for": "for",
    "by": "by",
    "than": "than, compared to, compared with",
    "is": "be, equal",
    "be": """work as, work as a, have, possess, get, do, take place, happen, occur, be held, hold,
        exist, fall on, go, come, contain, include, consist of, there is, there are, remain, stay,
        keep, seem, look, feel, act, serve, make, be set to, be set at, amount to, be located, be
        situated, be called for, take, be found at, come to, get to be, be scheduled for, be
        scheduled on, be scheduled, schedule, be planned for, plan for, be planned, be set for, take
        effect, must be, should be, owns, owned, owning, lasts, lasted, lasting, go to, need to be,
        take place at, be fixed for, be arranged for, be down for, be slated for, be due to take
        place, last for, go on for, have got, be in possession of, be equipped with, be fitted with,
        be composed of, comprise, be made up of""",
    "request": """please, should, must, always, has to, have to, need to, make sure, ensure, be sure
        to, want you to, would like you to, ought to, from now on please, remember to, could you,
        can you, would you, will you, when answering, in replies, be supposed to, be obliged to,
        never fail to, see to it that, it be required to, be required to""",
    "verb prefer": "prefer, would rather, rather have, rather, favor over, favour over",
    "order + order": "then, afterwards",
    "break": "but, however, while, whereas, although, though, because, since it",
    "ongoing": """still, in progress, be in progress, ongoing, be ongoing, under way, be under way,
        underway, pending, be pending, under negotiation, under discussion, under review, under
        construction, in the middle of, be outstanding, be unpaid, be overdue, remain unpaid, be
        still open, be unresolved, remain open, be undecided""",
}

PEOPLE: Final = {
    "self user": "i, me, my, mine, myself, user, the user, users",
    "self team": "we, us, our, ours, ourselves, our team",
    "weak team": "team, the team",
    "pronoun he": "he, him",
    "pronoun she": "she",
    "kin wife": "wife",
    "kin husband": "husband",
    "kin partner": "spouse, partner, significant other, better half",
    "kin girlfriend": "girlfriend",
    "kin boyfriend": "boyfriend",
    "kin fiance": "fiance, fiancee",
    "kin son": "son",
    "kin daughter": "daughter",
    "kin child": "child, children, kid",
    "kin baby": "baby, infant, newborn",
    "kin mother": "mother, mom, mum, mama, mommy",
    "kin father": "father, dad, papa, daddy",
    "kin parent": "parent, mother and father, father and mother, mom and dad, mum and dad",
    "kin brother": "brother",
    "kin sister": "sister",
    "kin sibling": "sibling",
    "kin grandmother": "grandmother, grandma, granny, nana",
    "kin grandfather": "grandfather, grandpa, granddad",
    "kin grandparent": "grandparent",
    "kin uncle": "uncle",
    "kin aunt": "aunt, auntie",
    "kin cousin": "cousin",
    "kin nephew": "nephew",
    "kin niece": "niece",
    "kin friend": "friend, buddy, pal, mate",
    "kin boss": "boss, manager, supervisor, line manager",
    "kin colleague": "colleague, coworker, co-worker, teammate, workmate",
    "kin roommate": "roommate, flatmate, housemate",
    "kin neighbour": "neighbor, neighbour",
    "kin client": "client, customer",
    "kin landlord": "landlord, landlady",
    "kin assistant": "assistant, secretary",
    "kin family": "family, relatives",
}

PHRASES: Final = {
    "where production": "production, prod, live environment",
    "where staging": "staging, staging environment, test environment",
    "season autumn": "autumn, fall season",
    "diet vegetarian": """do not eat meat, not eat meat, eat no meat, never eat meat, not eat any
        meat, do not eat any meat, eat meat-free""",
    "diet omnivore": "eat meat",
    "be + marital married": "marry, be married, get married, wed, tie the knot, husband and wife",
    "marital single": "be single, be unmarried, unmarried, not be married, be not married",
    "weak every + period day": "daily, every day, each day, day by day, a day, per day",
    "weak every + daypart night": "nightly, every night, each night",
    "weak every + period week": "weekly, every week, each week, a week, per week",
    "weak every + period month": "monthly, every month, each month, a month, per month",
    "weak every + period year": "yearly, annually, annual, every year, each year, a year, per year",
    "weak every + period hour": "hourly, every hour, an hour, per hour",
    "weak every + daypart morning": "every morning, each morning, in the mornings, mornings",
    "weak every + daypart evening": "every evening, each evening, in the evenings",
    "number 1 + weak time": "once",
    "number 2 + weak time": "twice",
    "number 2": "couple, couple of, a couple of, pair of",
    "number 12": "dozen, a dozen",
    "number 0.5": "half a, half an",
    "period year": "year, years",
    "when yesterday": "yesterday",
    "when today": "today, tonight",
    "when tomorrow": "tomorrow",
    "when last week": "last week, the week before",
    "when last month": "last month",
    "when last year": "last year",
    "when next week": "next week",
    "when next month": "next month",
    "when next year": "next year",
    "when this week": "this week",
    "when this month": "this month",
    "when this year": "this year",
}

_ANNOUNCING: Final = (
    r"please|kindly|(?:please |kindly )?(?:remember|don't forget|do not forget|be aware|note|know|"
    r"keep in mind)|by the way|btw|fyi|for your information|for the record|just so you know|"
    r"to be honest|as you know|as far as i know|as a reminder|in my opinion|according to the user|"
    r"(?:i )?(?:just )?(?:want|wanted|would like|'d like) (?:to|you to) "
    r"(?:let you know|mention|say|tell you|know|remember|note|add)|"
    r"i should (?:mention|say|add)|let me (?:tell you|add|say)|"
    r"i (?:think|believe|guess|suppose|assume|must say|have to say|'d say|would say)|"
    r"it (?:seems|appears|looks like|turns out)|the (?:fact|thing) is"
)
_GREETING: Final = (
    r"hi|hello|hey|ok|okay|well|so|oh|yes|yeah|right|sure|also|and|honestly|frankly|note|ps|"
    r"reminder|one more thing|quick note|heads up|remember this|for me|"
    r"(?:the )?user (?:has )?(?:said|says|mentioned|mentions|stated|states|noted|notes|told me|"
    r"told us|confirmed|confirms|reported|reports|explained|explains|indicated|indicates|added)"
)
POLITE: Final = (
    rf"(?:(?:{_ANNOUNCING})(?: that)?[,:!. -]+|(?:{_GREETING})(?: that |[,:!.-]+ *)|"
    rf"(?:(?:oh|and|also|ok|okay|so|hey|well) )+(?=(?:{_ANNOUNCING})\b))+(?:that )?"
)
"""How a claim is introduced without saying anything itself; some words only before a comma."""

POLITE_ENDINGS: Final = (
    r"(?:[,.!? -]+(?:please|thanks|thank you|thanks a lot|thank you very much|thx|by the way|btw|"
    r"if possible|if you can|for your information|fyi|just so you know|as you know|to be honest)|"
    r"[,.!?-]+ *(?:cheers|ok|okay|you know|right|i think|i believe|i guess|haha|lol))+[.!? ]*$"
)

# Who does something shares a stem with what is done: a manager is not "manage".
_DOERS: Final = (
    "manager developer designer programmer engineer teacher writer photographer researcher trainer "
    "lawyer reader speaker player driver runner leader owner user customer partner server printer "
    "computer speaker container editor calendar"
)

IRREGULAR: Final = {form: doer for doer in _DOERS.split() for form in (doer, doer + "s")} | {
    form: base
    for base, forms in {
        "be": "am is are was were been being",
        "have": "has had having",
        "do": "does did done doing",
        "go": "goes went gone going",
        "get": "got gotten getting",
        "take": "took taken taking",
        "make": "made making",
        "give": "gave given giving",
        "keep": "kept",
        "hold": "held",
        "come": "came coming",
        "leave": "left leaving leaves",
        "lose": "lost losing",
        "sell": "sold",
        "buy": "bought",
        "send": "sent",
        "lead": "led",
        "teach": "taught",
        "choose": "chose chosen choosing",
        "write": "wrote written writing",
        "eat": "ate eaten",
        "drink": "drank drunk",
        "drive": "drove driven driving",
        "run": "ran running",
        "swim": "swam swum",
        "wake": "woke woken waking",
        "sleep": "slept",
        "fly": "flew flown flies",
        "break": "broke broken",
        "begin": "began begun beginning",
        "speak": "spoke spoken",
        "know": "knew known",
        "see": "saw seen",
        "meet": "met",
        "win": "won",
        "build": "built",
        "pay": "paid",
        "grow": "grew grown",
        "rise": "rose risen rising",
        "fall": "fell fallen",
        "feel": "felt",
        "wear": "wore worn",
        "sit": "sat",
        "bring": "brought",
        "spend": "spent",
        "shrink": "shrank shrunk",
        "become": "became",
        "child": "children",
        "person": "people",
        "use": "using used uses",
        "stop": "stopped stopping",
        "quit": "quitting",
        "teeth": "tooth",
    }.items()
    for form in (base, *forms.split())
}
"""Forms of which the stem is not that of their word."""
