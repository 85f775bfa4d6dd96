"""Passwords and lock codes, which only the words around them reveal.

They stand in configuration files, addresses and commands, or are told in sentences; the words of
those are in `data/*/secrets.toml`.

All functions take text in plain spelling (half-width letters and signs) and give places in it.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import chain

from recollect.domain.context import Tongue
from recollect.language.lexicon import lexicon
from recollect.language.privacy.personal_numbers import Span

_IN_ADDRESS = re.compile(r"(?<=://)[^\s:/@]{0,64}+:(?P<value>[^\s/@]{3,128}+)@")
_IN_COMMAND = re.compile(
    r"(?:\s(?:-u|--user)[ =]['\"]?[^\s:'\"]{1,64}+:|\bsshpass -p ?['\"]?"
    r"|\bmysql [^\n]{0,60}?-p['\"]?)(?P<value>[^\s'\"]{3,128}+)",
    re.ASCII,
)

_ANNOUNCED = re.compile(
    r"""
    (?:(?P<phrase>passphrase|助记词)
        |(?P<code>\bPIN(?:\ ?code|\ number|码)?|\bOTP
            |(?:verification|one-time|security)\ code|验证码|校验码)
        |passw(?:or)?d|passcode|pwd|密码|口令|授权码
        |(?P<short>(?<![A-Za-z])pass(?![A-Za-z])))
    (?P<link>
        (?P<sign>["']?\ ?(?::=|=>|==?|:)\ ?)
        |(?P<verb>\ (?:is|was)(?:\ now)?:?\ |\ (?:changed|set|reset)\ to:?\ )
        |\ ?[就还]?(?:是|为|已?[改设换][成为]?了?):?\ ?
        |\ ?)
    (?:(?P<mark>["'`])(?P<quoted>[^"'`\n]{3,64}+)(?P=mark)
        |(?P<bare>[!#$%&*+\-./0-9:=?@A-Z^_a-z|~]{4,64}+)(?![(\[{<]))
    """,
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
# What every pattern above needs: a line without any is not read closer.
_WORDS = (
    *("pass", "pwd", "pin", "otp", " code", "码", "口令", "助记词"),
    *("://", " -u", " --user", "mysql"),
)
_CHINESE_WORD = re.compile("^(?:[^A-Za-z]|PIN码)", re.IGNORECASE)

# What stands for a password, speaks about it, or fetches it.
_NO_PASSWORD = re.compile(
    r"""
    [$%<{*].* | .*\*{3}.* | [x*.•_-]+ | .*\b(?:your|my|the|example)\b[-_ ].* | \.\..*
    | (?:string|none|null|true|false|undefined|required|optional|pass|hidden|empty|text|varchar|char
        |bool|bytes|changeme|todo|test|redacted|incorrect|invalid|wrong|correct|missing|expired
        |reset|here|field|input|value|unknown|blank)
    | [A-Za-z_]+(?:[._][A-Za-z_]+)+ | [A-Za-z]*(?:secret|passw(?:or)?d|token)[A-Za-z]*
    | (?:md5|sha-?[0-9]+|base-?64|bcrypt|scrypt|argon2\w*|aes-?[0-9]*|utf-?8|rsa-?[0-9]*|oauth-?2?
        |2fa|totp)\b.*
    | [0-9]+-?(?:characters?|chars?|digits?|letters?)
    """,
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
_COUNTED = re.compile(
    r"\ ?(?:[年月日位次个天]|字符|characters?\b|chars?\b|digits?\b|letters?\b|times\b)"
)
_SENTENCE_ENDS = re.compile(r"""\ ?(?:[\n,;.!?)。、"']|$)""")
_NOT_A_WORD = re.compile(r"[0-9!#$%&*+=?@^|~]|[a-z][A-Z]")
_MIN_WORD_CHARACTERS = 6
_JOINTS_OF_A_PHRASE = 2


def passwords(text: str) -> Iterator[Span]:
    """Yield passwords, one-time codes and passphrases that the text names as such."""
    lower = text.lower()
    if not any(word in lower for word in _WORDS):
        return iter(())
    return chain(_in_addresses(text), _announced(text))


def is_placeholder(value: str) -> bool:
    """Return whether this is a placeholder, a word about passwords, or code that fetches one."""
    return _NO_PASSWORD.fullmatch(value) is not None


def is_counted(text: str, end: int) -> bool:
    """Return whether what ends here is a count: "6 digits", 6位."""
    return _COUNTED.match(text, end) is not None


def _in_addresses(text: str) -> Iterator[Span]:
    for found in chain(_IN_ADDRESS.finditer(text), _IN_COMMAND.finditer(text)):
        if not is_placeholder(found["value"]):
            yield found.span("value")


def _announced(text: str) -> Iterator[Span]:
    for found in _ANNOUNCED.finditer(text):
        value = found["quoted"] or found["bare"].rstrip(".:?")
        start = found.start("quoted" if found["quoted"] else "bare")
        if _is_password(found, value, text, start + len(value)):
            yield start, start + len(value)


def _is_password(found: re.Match[str], value: str, text: str, end: int) -> bool:
    """Return whether this is a password, not talk about one or code that handles one."""
    if is_placeholder(value) or is_counted(text, end):
        return False
    chinese = _CHINESE_WORD.match(found[0]) is not None
    if not found["link"].strip() and (found["quoted"] or not chinese):
        return False
    if found["short"] and not found["sign"]:
        return False
    if _NOT_A_WORD.search(value.rstrip("!?")):
        return True
    if found["code"]:
        return False
    if found["quoted"]:
        return found["phrase"] is not None or " " not in value
    if found["phrase"] and value.count("-") >= _JOINTS_OF_A_PHRASE:
        return True
    # A plain word is a password where nothing goes on to speak of it.
    if found["verb"] or not found["link"].strip() or len(value) < _MIN_WORD_CHARACTERS:
        return False
    return found["sign"] == "=" or _SENTENCE_ENDS.match(text, end) is not None


# --- In sentences: "my password is sunflower", "门禁码是4821" -----------------------------------


_NAMES = ("password", "phrase", "code", "lock_code", "lock", "lock_use", "entering")
_ENGLISH_NAMES = ("signing_in", "lock_place", "opening")
_OWNER = r"(?:my|the|our|your|his|her|their|its|\w{1,20}'s|a|this|that)"
# "for the guest network", "to my e-mail account", "we use at work"
_OF_WHAT = r"(?:\ (?:for|to|of|on|at|in|from|i|we|you|they|that)\b(?:\ [\w'’.@-]{1,24}){1,5}?)?"
_IS = r"""(?:
    \ ?(?::=|=|:)\ ?
    | (?:'s|’s|\ (?:is|was|are|will\ be|should\ be|has\ been|remains))
        (?:\ (?:now|still|currently|again|just|changed\ to|set\ to|reset\ to)){0,2}:?\ )"""
_CHINESE_IS = (
    r"\ ?(?:我们?|一直|现在|目前|新的|还|就|都|已经?){0,2}(?:是|为|用的是|[改设换][成为]了?|:)\ ?"
)
_WORD_OR_SIGNS = r"""[^\s"'“”‘’`,;，。；、！？()（）]{3,64}"""
_VALUE = rf"""(?P<open>["'`“‘]?)(?P<value>{_WORD_OR_SIGNS})"""
_DIGITS = (
    r"(?P<value>(?<![\w.,-])[*\#]{0,2}[0-9](?:[ -]?[0-9]){2,11}[*\#]{0,2}(?![\w%]|[.,:][0-9]))"
)
_CHINESE_DIGITS = _DIGITS.replace(r"(?<![\w.,-])", "(?<![0-9A-Za-z.,-])").replace(
    r"(?![\w%]|", "(?![0-9A-Za-z%]|"
)

_CLAUSE_END = re.compile(
    r"""["'”’`]?\ ?(?:[\n,;.!?)，。；、！？）]|$|\ (?:and|but|so|don't|please)\b)"""
)
_HAS_MORE_THAN_LETTERS = re.compile(r"[0-9!#$%&*+=?@^|~_]|[a-z][A-Z]")
_MIN_SPOKEN_WORD_CHARACTERS = 4
_WORDS_OF_A_PHRASE = range(3, 25)


def spoken_secrets(text: str) -> Iterator[Span]:
    """Return the places of passwords, passphrases and lock codes told in sentences."""
    lower = text.lower()
    if not any(word in lower for word in _telling_words()):
        return iter(())
    patterns = _patterns()
    return chain(
        _told(patterns.password, text),
        _phrases(patterns.phrase, text),
        _codes(patterns.lock, text),
    )


def _told(patterns: Sequence[re.Pattern[str]], text: str) -> Iterator[Span]:
    for pattern in patterns:
        for found in pattern.finditer(text):
            value = found["value"].rstrip(".:?")
            word = value.rstrip("!")
            if not _HAS_MORE_THAN_LETTERS.search(word):
                value = word
            end = found.start("value") + len(value)
            if _is_spoken_password(value, text, end):
                yield found.start("value"), end


def _is_spoken_password(value: str, text: str, end: int) -> bool:
    """Return whether this is a password, and not a word about one."""
    if len(value) < 3 or is_placeholder(value) or is_counted(text, end):
        return False
    if _HAS_MORE_THAN_LETTERS.search(value):
        return True
    if " " in value:
        return not _describes(value.split()[0])
    is_word = (
        value.isascii()
        and value.replace("-", "").isalpha()
        and len(value) >= _MIN_SPOKEN_WORD_CHARACTERS
    )
    return is_word and _CLAUSE_END.match(text, end) is not None and not _describes(value)


def _describes(word: str) -> bool:
    """Return whether a plain word describes a password: "correct", "expired"."""
    words = lexicon("en", "secrets")
    lower = word.lower()
    return (
        lower in words.words("describing")
        or lower in words.words("joining")
        or lower.endswith(tuple(words.words("describing_ending")))
    )


def _phrases(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    joining = lexicon("en", "secrets").words("joining")
    for found in pattern.finditer(text):
        words = found["value"].lower().split()
        if len(words) in _WORDS_OF_A_PHRASE and not joining & set(words[:3]):
            yield found.span("value")


def _codes(patterns: Sequence[re.Pattern[str]], text: str) -> Iterator[Span]:
    for pattern in patterns:
        for found in pattern.finditer(text):
            if not is_counted(text, found.end("value")):
                yield found.span("value")


class _Patterns:
    """Patterns made of the words."""

    def __init__(self) -> None:
        english = {name: _any_of("en", name) for name in (*_NAMES, *_ENGLISH_NAMES)}
        chinese = {name: _any_of("zh", name) for name in _NAMES}
        name = rf"(?:{english['password']}|{english['phrase']}|{english['code']})"
        han_name = rf"(?:{chinese['password']}|{chinese['phrase']}|{chinese['code']})"
        code, lock = english["lock_code"], english["lock"]
        han_code, han_lock = chinese["lock_code"], chinese["lock"]
        with_lock = rf"(?:{lock}|{english['lock_place']})"
        of_lock = rf"(?:{lock}|{english['lock_use']})"
        han_of_lock = rf"(?:{han_lock}|{chinese['lock_use']})"
        signing_in = english["signing_in"]
        self.password = (
            # the password for the router is …; my PIN's …
            _compile(rf"{name}{_OF_WHAT}{_IS}{_VALUE}"),
            # changed my password to …
            _compile(
                rf"\b(?:change|changed|set|reset|switched|updated?)\ (?:[\w'-]{{1,20}}\ ){{0,4}}?"
                rf"{name}{_OF_WHAT}\ to:?\ {_VALUE}"
            ),
            # … is my password
            _compile(
                rf"(?<![^\s\"'“‘]){_VALUE}[\"'`”’]?\ (?:is|was)\ {_OWNER}"
                rf"\ (?:[\w'-]{{1,20}}\ ){{0,3}}?{name}"
            ),
            # use … as the password
            _compile(
                rf"\b(?:use|used|using|enter|type|try|with|put|set)\ {_VALUE}[\"'`”’]?"
                rf"\ (?:as|for)\ (?:{_OWNER}\ )?(?:[\w'-]{{1,20}}\ ){{0,3}}?{name}"
            ),
            # log in with bob / …
            _compile(
                rf"{signing_in}(?:\ (?:details|with|as|is|are|using)){{0,2}}:?"
                rf"\ [\w.@-]{{1,40}}\ ?[/|:]\ ?(?!/){_VALUE}"
            ),
            # the password is "two words"
            _compile(rf"{name}{_OF_WHAT}{_IS}[\"“](?P<value>[^\"”\n]{{3,64}})[\"”]"),
            # his PIN 5523; user bob, password fluffy99
            _compile(
                rf"{name}\ (?P<value>(?=[a-z-]{{0,40}}[0-9])[\w!\#$%&*+=?@^~-]{{4,64}})"
                r"(?=[,;.!?)，。]|$)"
            ),
            _compile(rf"{han_name}{_CHINESE_IS}{_VALUE}"),
            _compile(
                rf"(?<![\x21-\x7e]){_ascii(_VALUE)}\ ?[是为](?:[^\x00-\x7f，。]{{0,8}})?{han_name}"
            ),
            _compile(
                rf"[用拿]\ ?{_ascii(_VALUE)}\ ?[做作当]为?(?:[^\x00-\x7f，。]{{0,6}})?{han_name}"
            ),
        )
        phrase = rf"(?:{english['phrase']}{_OF_WHAT}{_IS}|{chinese['phrase']}(?:{_CHINESE_IS}|\ ?))"
        self.phrase = _compile(
            rf"{phrase}[\"'“]?(?P<value>[a-z]{{2,12}}(?:[ -][a-z]{{2,12}}){{2,24}})"
        )
        leads_to = (
            r"(?:[ ,:=(-]|'s\b|\b(?:is|was|are|now|still|currently|again|changed|reset|set|to"
            r"|will\ be|has\ been|new)\b){1,8}"
        )
        han_leads_to = (
            r"(?:[ :,，(（]|现在|目前|还|就|新的?|已经?|一直|[改设换][成为]了?|是|为){0,6}"
        )
        self.lock = (
            # the door code is …
            _compile(
                rf"{of_lock}(?:'s)?[ -](?:[\w-]{{1,12}}[ -])?{code}{_OF_WHAT}{leads_to}{_DIGITS}"
            ),
            # the gate 4821#
            _compile(rf"(?:{lock}[ :]{{1,2}}|{han_lock}[ :]?){_CHINESE_DIGITS}(?<=[*\#])"),
            # the code for the front door is …
            _compile(
                rf"{code}\ (?:for|to|of|on|at)\ (?:[\w']{{1,16}}\ ){{0,4}}?{with_lock}"
                rf"{leads_to}{_DIGITS}"
            ),
            # enter … at the gate
            _compile(
                rf"{english['entering']}\ {_DIGITS}\ (?:at|on|for|to|into|in)"
                rf"\ (?:[\w']{{1,16}}\ ){{0,4}}?{lock}"
            ),
            # … opens the door, … is the code of the door
            _compile(
                rf"{_DIGITS}\ (?:{english['opening']}\ (?:[\w']{{1,16}}\ ){{0,3}}?{lock}"
                rf"|(?:is|was)\ (?:[\w']{{1,16}}\ ){{0,3}}?(?:{of_lock}\ {code}"
                rf"|{code}\ (?:for|to|of)\ (?:[\w']{{1,16}}\ ){{0,3}}?{lock}))"
            ),
            # the door opens with …
            _compile(
                rf"{lock}\ (?:[\w']{{1,16}}\ ){{0,2}}?{english['opening']}"
                rf"\ (?:with|by|using|on)\ (?:[\w']{{1,16}}\ ){{0,2}}?{_DIGITS}"
            ),
            _compile(rf"{chinese['code']}\ ?{_CHINESE_DIGITS}"),
            _compile(rf"{han_of_lock}的?{han_code}{han_leads_to}{_CHINESE_DIGITS}"),
            _compile(
                rf"{han_lock}[^\x00-\x7f，。]{{0,4}}{chinese['entering']}\ ?{_CHINESE_DIGITS}"
            ),
            _compile(
                rf"{chinese['entering']}\ ?{_CHINESE_DIGITS}\ ?[^\x00-\x7f。]{{0,6}}{han_lock}"
            ),
            _compile(rf"{_CHINESE_DIGITS}\ ?是[^\x00-\x7f，。]{{0,6}}{han_of_lock}的?{han_code}"),
        )


def _ascii(value: str) -> str:
    """Return the pattern for a value that ends where Chinese begins."""
    return value.replace(_WORD_OR_SIGNS, r"""[!#-&*+\-./0-9:=?@A-Z^_a-z|~]{3,64}+""")


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


def _any_of(language: Tongue, name: str) -> str:
    """Return a pattern for the words of that name, the longest first."""
    words = sorted(lexicon(language, "secrets").words(name), key=len, reverse=True)
    either = "|".join(map(re.escape, words))
    return rf"(?<![A-Za-z])(?:{either})(?![A-Za-z])" if language == "en" else f"(?:{either})"


@cache
def _patterns() -> _Patterns:
    return _Patterns()


@cache
def _telling_words() -> Collection[str]:
    """Return the words of which any match contains at least one."""
    english, chinese = lexicon("en", "secrets"), lexicon("zh", "secrets")
    both = ("password", "phrase", "code", "lock", "lock_use")
    return frozenset[str]().union(
        *(english.words(name) for name in (*both, "lock_place", "signing_in")),
        *(chinese.words(name) for name in both),
    )
