"""The forms of one token of Latin-like text: a word, a name in code, an address, a path.

A compound is given whole and in parts: getUserName as getusername, get, user, name. The whole form
of a name leaves its joints out, so that user_id, user-id and userId are one term; the whole form of
a path or an address keeps them. All forms are lower case and not yet stemmed.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from recollect.language.numbers import number_forms, plain_number
from recollect.language.words import LONGEST_TERM

# What may stand between the words of one token, from the loosest joint to the tightest.
_PATH_JOINT = r"://|::|[/\\:@?=&#~+]"
_NAME_JOINT = r"__|[-_']"
JOINT = rf"(?:{_PATH_JOINT}|\.|{_NAME_JOINT})"

_path_joint = re.compile(_PATH_JOINT)
_name_joint = re.compile(_NAME_JOINT)
_short_ending = re.compile(r"'(?:s|re|ve|ll|d|m)$", re.IGNORECASE)
_hump = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_ordinal = re.compile(r"(\d+)(?:st|nd|rd|th)", re.IGNORECASE)
_letters_beside_digits = re.compile(r"([^\W\d]+)(\d+)|(\d+)([^\W\d]+)")


def forms(token: str) -> list[str]:
    """Return the token whole, then its parts down to words and numbers."""
    if token.islower() and token.isalpha() and token.isascii() and len(token) <= LONGEST_TERM:
        # A plain word, as nearly all are.
        return [token]
    if token.endswith(("+", "#")):
        return [token.casefold()]
    if number := number_forms(token):
        return number
    steps = _path_joint.split(token)
    if len(steps) > 1:
        return [token.casefold(), *_parts_of(map(forms, steps))]
    names = [_name_forms(name) for name in token.split(".")]
    if len(names) > 1:
        return ["".join(name[0] for name in names), *_parts_of(names)]
    return names[0]


def _parts_of(compounds: Iterable[list[str]]) -> Iterator[str]:
    """Yield all forms below a whole, except single letters (x-ray, u.s.a)."""
    return (form for forms in compounds for form in forms if len(form) > 1 or form.isdecimal())


def _name_forms(name: str) -> list[str]:
    if name.lower().endswith("n't"):
        return [name.casefold()]
    pieces = _name_joint.split(_short_ending.sub("", name))
    parts = list(chain.from_iterable(map(_humps, pieces)))
    return parts if len(parts) == 1 else ["".join(parts), *_parts_of([parts])]


def _humps(piece: str) -> list[str]:
    """Return the humps of a camel-case name, with a number apart from the letters beside it."""
    if len(piece) > LONGEST_TERM:
        return [piece[:LONGEST_TERM].casefold()]
    return list(chain.from_iterable(map(_letters_and_digits, _hump.split(piece))))


def _letters_and_digits(hump: str) -> list[str]:
    """Split gpt4 or 30min into letters and number; a code that mixes them more stays whole."""
    if hump.isdecimal():
        return [plain_number(hump)]
    if ordinal := _ordinal.fullmatch(hump):
        return [plain_number(ordinal[1])]
    if pair := _letters_beside_digits.fullmatch(hump):
        return [plain_number(x) if x.isdecimal() else x.casefold() for x in pair.groups() if x]
    return [hump.casefold()]
