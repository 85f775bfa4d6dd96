"""Keys and tokens: known formats, or random strings that a word announces.

All functions take text in plain spelling (half-width letters and signs) and give places in it.
"""

import re
from collections.abc import Iterator
from itertools import chain, pairwise

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
