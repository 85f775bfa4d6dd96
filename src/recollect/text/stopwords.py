"""Words that say how something is asked or joined, not what it is about.

Only closed classes of words are listed, question words among them. The first person stays
searchable ("my dog"): in a memory it marks what users tell about themselves.
"""

_ENGLISH_CLASSES = {
    "articles": """
        a an the this that these those such same other another own each every both either neither
    """,
    "pronouns": """
        you your yours yourself yourselves he him his himself she her hers herself it its itself
        we our ours ourselves they them their theirs themselves
        someone something anyone anything everyone everything one ones
    """,
    "questions": "what which who whom whose when where why how whether",
    "auxiliaries": """
        am is are was were be been being have has had having do does did doing done
        can cannot could will would shall should might must
    """,
    "conjunctions": """
        and or but nor if because as until while than though although so then else also however
    """,
    "prepositions": """
        of at by for with about against between into onto through during before after above below
        to from up down in out on off over under since upon across along among around
        within without toward towards per via
    """,
    "amounts": "all any few more most some no not only too very much many lot lots several enough",
    "adverbs": """
        again further once here there now just ago yet already still ever never always often
        perhaps maybe
    """,
    "without apostrophe": """
        arent cant couldnt didnt doesnt dont hadnt hasnt havent isnt shouldnt wasnt werent wont
        wouldnt thats theres theyre theyve youre youve youll whats
    """,
}

ENGLISH = frozenset(word for words in _ENGLISH_CLASSES.values() for word in words.split())

# Chinese is searched by characters and pairs of characters. A term made only of these (什么, 是谁,
# 我们) is a stop word; beside any other character they count (目的, 开会).
_CHINESE_CLASSES = {
    "particles": "的地得了着过吗呢吧啊呀嘛哦么",
    "questions": "什怎哪谁几何多少如",
    "pronouns": "我你您他她它们自己咱这那此其之",
    "auxiliaries": "是有在会能要可以",
    "joining": "和与及或而但就也都还又被把从到对为于让给跟向",
    "degree": "不没很太更最个些一",
}

CHINESE = frozenset("".join(_CHINESE_CLASSES.values()))
