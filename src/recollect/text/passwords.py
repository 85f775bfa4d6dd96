"""Passwords, which nothing but the words around them gives away.

All functions take text in plain spelling (half-width letters and signs) and give places in it.
"""

import re
from collections.abc import Iterator
from itertools import chain

from recollect.text.personal_numbers import Span

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
_SHORTEST_WORD = 6
_JOINTS_OF_A_PHRASE = 2


def passwords(text: str) -> Iterator[Span]:
    """Passwords, one-time codes and passphrases that the text names as such."""
    lower = text.lower()
    if not any(word in lower for word in _WORDS):
        return iter(())
    return chain(_in_addresses(text), _announced(text))


def _in_addresses(text: str) -> Iterator[Span]:
    for found in chain(_IN_ADDRESS.finditer(text), _IN_COMMAND.finditer(text)):
        if not _NO_PASSWORD.fullmatch(found["value"]):
            yield found.span("value")


def _announced(text: str) -> Iterator[Span]:
    for found in _ANNOUNCED.finditer(text):
        value = found["quoted"] or found["bare"].rstrip(".:?")
        start = found.start("quoted" if found["quoted"] else "bare")
        if _is_password(found, value, text, start + len(value)):
            yield start, start + len(value)


def _is_password(found: re.Match[str], value: str, text: str, end: int) -> bool:
    """Whether this is one, and not talk about passwords or code that handles them."""
    if _NO_PASSWORD.fullmatch(value) or _COUNTED.match(text, end):
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
    if found["verb"] or not found["link"].strip() or len(value) < _SHORTEST_WORD:
        return False
    return found["sign"] == "=" or _SENTENCE_ENDS.match(text, end) is not None
