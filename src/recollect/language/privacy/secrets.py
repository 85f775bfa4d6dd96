"""Keys and tokens: known formats, or random strings that a word announces.

All functions take text in plain spelling (half-width letters and signs) and give places in it.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import chain, pairwise

from recollect.domain.context import Tongue
from recollect.language.lexicon import lexicon
from recollect.language.privacy.personal_numbers import Span

_BODY = "[A-Za-z0-9_-]"
_MADE = re.compile(
    rf"""
    (?<![A-Za-z0-9])(?:
        gh[pousr]_[A-Za-z0-9]{{30,255}}+ | github_pat_[A-Za-z0-9_]{{40,255}}+
        | glpat-{_BODY}{{16,255}}+ | (?:AKIA|ASIA)[A-Z0-9]{{16}} | GOCSPX-{_BODY}{{20,40}}+
        | LTAI[A-Za-z0-9]{{12,26}}+ | AKID[A-Za-z0-9]{{28,40}}+
        | xox[abeoprs]-[A-Za-z0-9-]{{20,255}}+ | xapp-[A-Za-z0-9-]{{20,255}}+
        | AIza{_BODY}{{33,40}}+ | ya29\.{_BODY}{{20,512}}+ | whsec_[A-Za-z0-9+/=]{{20,255}}+
        | [sr]k_(?:live|test)_[A-Za-z0-9]{{16,255}}+ | npm_[A-Za-z0-9]{{36}}
        | hf_[A-Za-z0-9]{{30,255}}+ | pypi-{_BODY}{{50,512}}+ | dckr_pat_{_BODY}{{20,64}}+
        | dop_v1_[a-f0-9]{{64}} | shp(?:at|ss|ca)_[a-fA-F0-9]{{32}} | dapi[a-f0-9]{{32}}
        | SG\.{_BODY}{{16,64}}+\.{_BODY}{{16,64}}+ | (?:gsk|r8|lin_api)_[A-Za-z0-9_]{{24,255}}+
        | (?:tvly-|pplx-|nvapi-|hvs\.){_BODY}{{24,255}}+ | AGE-SECRET-KEY-1[A-Z0-9]{{58}}
        | [0-9]{{8,10}}:AA{_BODY}{{33}}
        | eyJ{_BODY}{{8,4096}}+\.eyJ{_BODY}{{8,8192}}+\.{_BODY}{{8,1024}}+
        | (?P<short_sign>sk-(?:(?:proj|svcacct|admin|or-v1|ant-[a-z]+[0-9]*|live|test)-)?
            (?P<body>{_BODY}{{16,255}}+))
    )(?![A-Za-z0-9])
    """,
    re.VERBOSE,
)

# Nothing shorter is a key.
_LONG = re.compile("[A-Za-z0-9+/_-]{16}")

# Atomic, not possessive, see `analysis`.
_BREAKS = r"(?>(?:\\[rn]|\s)*)"
_PRIVATE_KEY = re.compile(
    rf"""
    -----BEGIN\ [A-Z0-9 ]{{0,40}}PRIVATE\ KEY(?:\ BLOCK)?-----
    (?>(?:{_BREAKS}[A-Za-z-]{{3,20}}:\ [^\n]{{1,100}})*)
    (?>(?:{_BREAKS}[A-Za-z0-9+/=]{{16,}}+)*)
    (?:{_BREAKS}[A-Za-z0-9+/=]{{0,64}}+{_BREAKS}-----END\ [A-Z0-9 ]{{0,60}}-----)?
    """,
    re.VERBOSE,
)

_WORD = re.compile(
    r"""
    (?:(?P<weak>(?<![A-Za-z])key)
    | (?:api|app|access|secret|private|encryption|signing|master|account)[_ -]?(?:access[_ -]?)?key
    | secret | token | \bbearer\b | \bauthorization:\ basic\b | credential | passw(?:or)?d | \bpwd
    | 密钥 | 秘钥 | 私钥 | 令牌 | 凭[证据] | 授权码)s?(?![A-Za-z])
    """,
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
_ANNOUNCED = re.compile(
    r"(?P<bridge>[^\n]{0,28}?)(?<![A-Za-z0-9+/_.-])"
    r"(?P<token>[A-Za-z0-9+/_-]{16,512}+={0,2}+)(?![A-Za-z0-9]|\.[A-Za-z0-9])"
)
# What stands in quotes may hold any sign: SECRET_KEY = 'f3Jk9$kd0…'.
_ASSIGNED = re.compile(
    r"(?:secret|password|passwd|token|api_?key)[A-Za-z_]{0,16}[\"']? ?[:=] ?"
    r"[\"'](?P<token>[^\s\"']{12,128}+)[\"']",
    re.ASCII | re.IGNORECASE,
)
_GIVES = re.compile(r"\W{0,2}(?:[:=是为]|\bis\b|\bwas\b)", re.ASCII)
# Random strings that let nobody in, and keys that open nothing.
_OF_SOMETHING_ELSE = re.compile(
    r"commit|hash|sha-?[0-9]|md5|digest|checksum|nonce|trace|uuid|\bid\b|request|ssh-"
    r"|提交|摘要|校验|哈希",
    re.ASCII | re.IGNORECASE,
)
_OF_DATA = re.compile(
    r"(?:cache|primary|foreign|sort|partition|public|idempotency|row|object|hash|index|缓存|主|公)"
    r"[_ -]?$",
    re.ASCII | re.IGNORECASE,
)
_MAX_DATA_WORD_CHARACTERS = len("idempotency ")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_DIRECTORY = re.compile(r"(?:^|/)[a-z]{4,}(?:/|$)")

# Placeholders (sk-xxxx) repeat themselves; random strings jump between letters, digits and cases,
# where names of things are made of words.
_MIN_DISTINCT_CHARACTERS = 8
_MIN_JUMPS_PER_CHARACTER = 0.25
_MIN_RUN_CHARACTERS = 16
_MIN_DISTINCT_IN_KEY = 5


def secrets(text: str) -> Iterator[Span]:
    """Yield keys and tokens that grant access."""
    if not _LONG.search(text):
        return _assigned(text)
    return chain(_made_to_be_found(text), _announced(text), _assigned(text))


def private_keys(text: str) -> Iterator[Span]:
    """Yield private keys in PEM armour, across lines."""
    return (found.span() for found in _PRIVATE_KEY.finditer(text))


def _made_to_be_found(text: str) -> Iterator[Span]:
    for found in _MADE.finditer(text):
        if len(set(found[0])) < _MIN_DISTINCT_CHARACTERS:
            continue
        if found["short_sign"] is None or is_random(found[0]) or _is_one_run(found["body"]):
            yield found.span()


def _is_one_run(body: str) -> bool:
    """Return whether letters and digits run on for long, as in keys that look regular.

    Names of things have words between hyphens.
    """
    return len(set(body)) >= _MIN_DISTINCT_IN_KEY and any(
        len(run) >= _MIN_RUN_CHARACTERS
        and any(map(str.isdecimal, run))
        and any(map(str.isalpha, run))
        for run in body.split("-")
    )


def _announced(text: str) -> Iterator[Span]:
    for word in _WORD.finditer(text):
        found = _ANNOUNCED.match(text, word.end())
        if found is None or _OF_SOMETHING_ELSE.search(found["bridge"]):
            continue
        if word["weak"] and not _gives_a_key(text, word, found):
            continue
        token = found["token"]
        if is_random(token) and not _DIRECTORY.search(token):
            yield found.span("token")


def _assigned(text: str) -> Iterator[Span]:
    for found in _ASSIGNED.finditer(text):
        if is_random(found["token"]):
            yield found.span("token")


def _gives_a_key(text: str, word: re.Match[str], found: re.Match[str]) -> bool:
    """Return whether a lone "key" gives a secret: not a cache key, not followed by other talk."""
    start = word.start()
    return (
        _GIVES.match(found["bridge"]) is not None
        and _OF_DATA.search(text[max(0, start - _MAX_DATA_WORD_CHARACTERS) : start]) is None
        and _UUID.fullmatch(found["token"]) is None
    )


def is_random(token: str) -> bool:
    """Return whether a string looks generated by a machine."""
    if len(set(token)) < _MIN_DISTINCT_CHARACTERS or not any(map(str.isdecimal, token)):
        return False
    classes = [_character_class(character) for character in token if character.isalnum()]
    jumps = sum(one != other for one, other in pairwise(classes))
    return jumps >= _MIN_JUMPS_PER_CHARACTER * len(token)


def _character_class(character: str) -> int:
    if character.isdecimal():
        return 0
    return 1 if character.islower() else 2


# --- Passwords and lock codes, which only the words around them reveal ----------------------------
# They stand in configuration files, addresses and commands, or are told in sentences; the words of
# those are in `data/*/secrets.toml`.
#
# All functions take text in plain spelling (half-width letters and signs) and give places in it.

_IN_ADDRESS = re.compile(r"(?<=://)[^\s:/@]{0,64}+:(?P<value>[^\s/@]{3,128}+)@")
_IN_COMMAND = re.compile(
    r"(?:\s(?:-u|--user)[ =]['\"]?[^\s:'\"]{1,64}+:|\bsshpass -p ?['\"]?"
    r"|\bmysql [^\n]{0,60}?-p['\"]?)(?P<value>[^\s'\"]{3,128}+)",
    re.ASCII,
)

_ANNOUNCED_PASSWORD = re.compile(
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
    return chain(_in_addresses(text), _announced_passwords(text))


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


def _announced_passwords(text: str) -> Iterator[Span]:
    for found in _ANNOUNCED_PASSWORD.finditer(text):
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
