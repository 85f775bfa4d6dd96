"""What can have only one value at a time, and what never changes once it is true.

Named by concepts, which the word lists of every language share.
"""

from functools import cache
from typing import Final


def _concepts(text: str) -> frozenset[str]:
    return frozenset(concept.strip() for concept in text.split(","))


ONE_VALUE: Final = _concepts("""
    live, come from, work, name, favourite, cost, pay, due, weigh, listen on, run on, return,
    commute, wake, sleep, store, expire, limit, report to, deploy, study, open, start, finish,
    depart, arrive, send, answer, indent, drive, sit, back up, backup, belong, format, can
""")
"""Verbs of which a thing has one object at a time: who lives in Rome does not live in Oslo."""

DWELLINGS: Final = _concepts("""
    home, flat, city, town, villag, countri, countryside, suburb, city centre, downtown, area, farm,
    neighbourhood, neighborhood, dorm, condo, island, abroad, 宿舍, 别墅
""")
"""What somebody lives in wherever it is: who moves to another house may stay in the town."""

ONE_VALUE_FOR_A_PURPOSE: Final = _concepts("use, write, build, need, want, prefer")
"""Verbs of one object where both claims name the same purpose: spaces or tabs for indentation."""

ONCE: Final = _concepts("born, found, graduate, sign, win, die, first")
"""What happens once: a later claim about it is no newer."""

HELD_BY_ONE: Final = _concepts("manage, win, found, first")
"""Verbs whose object has one who does it: the team is led by Ann, or by Bea."""

ENDED_BY: Final = {
    "graduate": _concepts("study, attend, learn"),
    "finish": _concepts("study, attend, write, build, prepare, test, review, start, learn"),
    "recover": _concepts("suffer, hurt, ill, cold, break, outage, fever"),
    "fix": _concepts("break, outage, bug"),
    "die": _concepts("live, work, study"),
    "retire": _concepts("work"),
    "退休": _concepts("work"),
    "sign": _concepts("talk"),
    "arrive": _concepts("travel, fly"),
}
"""After which deeds others are over: who has graduated studies no more."""

GIVEN_UP_WHOLLY: Final = _concepts("smoke, work")
"""What is over with all that was told of it: how much is smoked, where somebody works."""

ALCOHOL: Final = _concepts("beer, wine, whiski, vodka, gin, 红酒, 白酒")
"""What is meant where somebody quits drinking."""

DEEDS: Final = _concepts("""
    run, eat, buy, visit, meet, watch, travel, walk, swim, cook, call, talk, read, play, hike, fly
""")
"""What is done again and again: another day is another deed."""

ATTRIBUTES: Final = _concepts("""
    name, title, branch, 分支, default, version, colour, size, format, language, status, owner,
    leader, boss, limit, port, address, email, phone, password, role, job, editor, framework,
    database, tool, goal, theme, priority, deadline, location, timezone, favourite, total,
    model, doctor, lawyer, wife, husband, landlord, teacher of, ceo, cto, cfo, capital, plan,
    brand, meeting, standup, stand-up, sync, weekly, conference, budget, rent, membership, home,
    office, blood, win, birthday, age, point, mode, partner, roommate, neighbour, team lead
""")
"""What something has one of, so that it can be told from its other properties."""

UNCHANGING: Final = _concepts("blood, birthday, birthplace, win, 血, 血型")
"""Words for what stays as it is for life."""

BLAND: Final = _concepts("""
    use, store, send, run on, name, cost, work, live, listen on, deploy, come from, due,
    weigh, belong, limit, format, eat, drink, need, suffer, study, attend
""")
"""Verbs for which "is" may stand: the key is stored in Vault, the key is in Vault."""

ASKED_FOR: Final = _concepts("use, send, write, answer, give, show, format, add, tell, generate")
"""What somebody is asked to do: who says "write it in French" wants it in French."""

_FAMILIES: Final = (
    "use, run on, write, build, format",
    "run, run on, start",
    "prefer, like",
    "prefer, want",
    "prepare, study, learn",
    "prepare, want",
    "attend, study",
    "finish, expire, due",
    "visit, travel, play, fly",
    "read, watch",
    "want, need",
    "speak, know",
    "start, found",
    "cost, pay",
    "explain, cover",
    "meet, talk",
    "open, enable",
    "store, run on",
)
_FAMILY: Final = tuple(_concepts(family) for family in _FAMILIES)


@cache
def are_akin(verb: str, other: str) -> bool:
    """Whether two verbs may say the same of the same things."""
    return verb == other or any(verb in family and other in family for family in _FAMILY)


_ROLES: Final = {
    "boss": "manage, mentor, report to",
    "leader": "manage",
    "teacher of": "mentor, teach, manage",
    "teacher": "teach",
    "老师": "teach",
    "professor": "teach",
    "writer": "write",
    "作家": "write",
    "developer": "write, build",
    "designer": "design",
    "设计师": "design",
    "student": "study",
    "学生": "study",
    "driver": "drive",
    "司机": "drive",
    "translator": "translate",
    "landlord": "rent",
    "car": "drive",
    "birthday": "born",
    "degree": "study, graduate",
}
_BOUND: Final = _concepts("wife, husband, partner")
_MARRIED: Final = _concepts("married, 已婚")
_ROLE: Final = {role: _concepts(verbs) for role, verbs in _ROLES.items()}
RELATED: Final = (
    _BOUND | _MARRIED | _ROLE.keys() | frozenset[str]().union(*_FAMILY, *_ROLE.values())
)
"""Every concept that is akin to one of another name, or told by its role or deed."""


@cache
def is_role_of(role: str, deed: str) -> bool:
    """Whether who or what bears the role is told by the deed too: a teacher teaches."""
    return deed in _ROLE.get(role, ()) or (role in _BOUND and deed in _MARRIED)


STANCES: Final = _concepts("""
    want, like, prefer, need, learn, fear, find, finish, start, miss, buy, prepare, sell, admire,
    avoid, plan, recommend, teach, test, review, fix, break, pass, delete, expire, speak, interest,
    know, allergic, die, born, live, work, manage, pay, cost, apply, borrow, lend,
    commute
""")
"""Verbs that say how somebody stands to a thing: without them the claim is another one."""
