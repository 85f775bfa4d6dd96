"""Every regular expression of the package, and texts that are bad for it, made from itself.

Run as a program it prints the patterns as JSON lines: only a new process sees all of them made.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import functools
import importlib
import inspect
import json
import pkgutil
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

_PACKAGE = "recollect"
_METHODS = frozenset({"search", "match", "fullmatch", "sub", "split", "findall", "finditer"})
# Each is read by everything that reads texts, so that what is compiled late is compiled.
_TEXTS = (
    "I moved from Berlin to Oslo last May. Ann's PIN is 4821, call +49 30 123456 or ann@x.org!",
    "我上周五从北京搬到上海了，我的手机号是13800138000。王小明说他不喜欢香菜，怎么办？",
    "My passport is C01X00T47, my social security number 078-05-1120.",
    "我的身份证号是110101199003074578。",
    "Where did Ann live before 2019?",
    "安妮去年住在哪里？",
)


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """A pattern as it was compiled, and the place in the package that did."""

    place: str
    pattern: str
    flags: int
    is_bytes: bool
    used: tuple[str, ...] = ()

    def compile(self) -> re.Pattern[Any]:
        source = self.pattern.encode("latin-1") if self.is_bytes else self.pattern
        return re.compile(source, self.flags & ~re.UNICODE if self.is_bytes else self.flags)


def collected() -> list[Compiled]:
    """Return the patterns that the package compiles, from a process that imports all of it."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.patterns"], check=True, capture_output=True, text=True
    )
    found = [Compiled(**json.loads(line)) for line in done.stdout.splitlines()]
    return [replace(it, used=_uses().get(it.place, ())) for it in found] + literals()


def literals() -> list[Compiled]:
    """Return the patterns that are written where they are used, as `re.search("…", text)`."""
    return [
        Compiled(
            place=place, pattern=node.args[0].value, flags=0, is_bytes=False, used=(node.func.attr,)
        )
        for place, node in _calls()
        if node.func.attr != "compile"
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
    ]


def places() -> set[str]:
    """Return every place in the sources that compiles a pattern, as `module:line`."""
    return {place for place, node in _calls() if node.func.attr == "compile"}


@functools.cache
def _uses() -> dict[str, tuple[str, ...]]:
    """Return for each place how its pattern is used; nothing where that cannot be read off."""
    found: dict[str, tuple[str, ...]] = {}
    for module, tree in _sources():
        nodes = [*ast.walk(tree)]
        named: dict[str, set[str]] = {}
        for node in nodes:
            if isinstance(node, ast.Attribute) and (owner := _name(node.value)):
                named.setdefault(owner, set()).add(node.attr)
        called = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        loose = {
            _name(node)
            for node in nodes
            if isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Load)
            and id(node) not in called
        }
        for node in nodes:
            if isinstance(node, ast.Assign | ast.AnnAssign) and _compiles(node.value):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                name = _name(target)
                used = named.get(name, set()) & _METHODS
                if used and name not in loose:
                    found[f"{module}:{node.value.lineno}"] = tuple(sorted(used))
    return found


def _name(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


@functools.cache
def _calls() -> Sequence[tuple[str, ast.Call]]:
    return [
        (f"{module}:{node.lineno}", node)
        for module, tree in _sources()
        for node in ast.walk(tree)
        if _compiles(node)
    ]


def _compiles(node: ast.AST | None) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in {"compile", *_METHODS}
    )


@functools.cache
def _sources() -> Sequence[tuple[str, ast.Module]]:
    """Return the modules that import `re`, as trees; those of all others would say nothing."""
    found = ((path, path.read_text("utf-8")) for path in Path(str(files(_PACKAGE))).rglob("*.py"))
    return [(_module(path), ast.parse(text)) for path, text in found if "import re\n" in text]


def _module(source: Path) -> str:
    inner = source.relative_to(Path(str(files(_PACKAGE)))).with_suffix("")
    return ".".join((_PACKAGE, *inner.parts)).removesuffix(".__init__")


# --- In a process of its own: note what is compiled -----------------------------------------------


def _note() -> dict[tuple[str, str, int], Compiled]:
    found: dict[tuple[str, str, int], Compiled] = {}
    plain = re._compile  # type: ignore[attr-defined]

    def noting(pattern: Any, flags: Any) -> Any:
        made = plain(pattern, flags)
        frame = inspect.currentframe()
        while frame is not None and frame.f_code.co_filename in (__file__, re.__file__):
            frame = frame.f_back
        if frame is not None and f"{_PACKAGE}/" in frame.f_code.co_filename.replace("\\", "/"):
            module = frame.f_globals["__name__"]
            source = made.pattern
            is_bytes = isinstance(source, bytes)
            text = source.decode("latin-1") if is_bytes else source
            place = f"{module}:{frame.f_lineno}"
            found[place, text, made.flags] = Compiled(
                place=place, pattern=text, flags=made.flags, is_bytes=is_bytes
            )
        return made

    re._compile = noting  # type: ignore[attr-defined]
    return found


def _use_everything() -> None:
    package = importlib.import_module(_PACKAGE)
    modules = []
    for info in pkgutil.walk_packages(package.__path__, f"{_PACKAGE}."):
        if "__main__" not in info.name and ".migrations." not in info.name:
            with contextlib.suppress(ImportError):  # an adapter whose framework is not here
                modules.append(importlib.import_module(info.name))
    for module in modules:
        for value in list(vars(module).values()):
            if isinstance(value, functools._lru_cache_wrapper):
                _call(value)
    _use_lexicons()
    asyncio.run(_use_memory())


async def _use_memory() -> None:
    """Say, ask and forget something, so that what is compiled late is compiled."""
    from recollect import Memory
    from recollect.language.claims.subjects import is_named
    from recollect.language.privacy.personal_data import redact

    # As the names of a user are looked for.
    is_named("Bo met Ann Lee", ["Ann Lee", "Bo"])

    with tempfile.TemporaryDirectory() as folder:
        async with Memory.open(Path(folder) / "memory.db") as memory:
            await memory.set_user_names(["Ann", "王小明"])
            for text in _TEXTS:
                redact(text, "mask")
                await memory.remember(text)
                await memory.write(text)
                await memory.recall(text)
                await memory.context(text)
            await memory.forget(everything=True, verify=True)


def _call(cached: Any) -> None:
    wanted = [
        it
        for it in inspect.signature(cached).parameters.values()
        if it.default is inspect.Parameter.empty
    ]
    if not wanted:
        cached()
    elif len(wanted) == 1 and wanted[0].name == "is_chinese":
        cached(True)
        cached(False)
    elif len(wanted) == 1 and wanted[0].name in {"language", "tongue"}:
        for language in ("en", "zh"):
            cached(language)


def _use_lexicons() -> None:
    from recollect.language.lexicon import LANGUAGES, compiled, lexicon

    for language in LANGUAGES:
        folder = files("recollect.language") / "data" / language
        for file in folder.iterdir():
            words = lexicon(language, file.name.removesuffix(".toml"))
            data = words._data
            for section in ("patterns", "at_words"):
                for name in data.get(section, {}):
                    with contextlib.suppress(re.error):  # the part of a pattern
                        words.regex(name)
            for name in data.get("signs", {}):
                for way in words.signs(name):
                    compiled(way)


# --- Texts that are bad for a pattern: what it repeats, behind what leads there -------------------

Text = tuple[str, str, str]
_CATEGORIES = {
    _constants.CATEGORY_DIGIT: "1",
    _constants.CATEGORY_SPACE: " \n",
    _constants.CATEGORY_WORD: "a1",
    _constants.CATEGORY_NOT_DIGIT: "a ",
    _constants.CATEGORY_NOT_SPACE: "a.",
    _constants.CATEGORY_NOT_WORD: " .",
}
_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
# A repetition with a smaller bound than this adds no growth.
_LARGE = 8
_OTHERS = "a 1.-\n中_@\"'/<(x"
_COMMON = (
    " ",
    "\n",
    "a",
    "1",
    "a ",
    ".",
    "-",
    "中",
    '"',
    "a.",
    "1 ",
    "(",
    "A",
    "*",
    "\t",
    "<",
    "=",
    ":",
)


def hostile(pattern: re.Pattern[Any], most: int) -> list[Text]:
    """Return texts as a beginning, what is repeated, and an end at which a match fails."""
    choose = random.Random(7)
    tree = _parser.parse(pattern.pattern, pattern.flags)
    pumps: set[tuple[str, str]] = set()
    _collect(tree, "", choose, pumps)
    texts: dict[Text, None] = {}
    for before, unit in sorted(pumps, key=lambda it: (len(it[0] + it[1]), it)):
        if unit:
            texts |= dict.fromkeys(
                [(before, unit, "\0"), ("", before + unit, "\0"), ("\n" + before, unit, "!x")]
            )
    for _ in range(3):
        whole = _sample(tree, choose)
        if whole:
            texts |= dict.fromkeys([("", whole, ""), ("", whole + " ", ""), ("", whole[:-1], "")])
    chosen = [it for it in texts if it[1]]
    choose.shuffle(chosen)
    return [*chosen[:most], *(("", unit, "\0") for unit in _COMMON)]


def _collect(seq: Any, before: str, choose: random.Random, pumps: set[tuple[str, str]]) -> None:
    for op, argument in seq:
        if op in _REPEATS:
            _, most, inner = argument
            if most >= _LARGE:
                pumps |= {(before, _sample(inner, choose)) for _ in range(3)}
        for inner in _inside(op, argument):
            _collect(inner, before, choose, pumps)
        before += _sample([(op, argument)], choose)


def _inside(op: Any, argument: Any) -> list[Any]:
    if op in _REPEATS:
        return [argument[2]]
    if op is _constants.BRANCH:
        return argument[1][:60]
    if op is _constants.SUBPATTERN:
        return [argument[3]]
    if op is _constants.ATOMIC_GROUP:
        return [argument]
    if op in (_constants.ASSERT, _constants.ASSERT_NOT):
        return [argument[1]]
    return []


def _sample(seq: Any, choose: random.Random) -> str:
    return "".join(_sample_of(op, argument, choose) for op, argument in seq)


def _sample_of(op: Any, argument: Any, choose: random.Random) -> str:
    if op is _constants.LITERAL:
        return chr(argument)
    if op is _constants.NOT_LITERAL:
        return "b" if argument == ord("a") else "a"
    if op is _constants.ANY:
        return choose.choice("a ")
    if op is _constants.IN:
        return choose.choice(_members(argument))
    if op is _constants.BRANCH:
        return _sample(choose.choice(argument[1]), choose)
    if op in _REPEATS:
        least, most, inner = argument
        return "".join(_sample(inner, choose) for _ in range(max(least, min(1, int(most)))))
    if op in (_constants.SUBPATTERN, _constants.ATOMIC_GROUP):
        return _sample(_inside(op, argument)[0], choose)
    return ""


def _members(items: Any) -> str:
    named = ""
    for op, argument in items:
        if op is _constants.LITERAL:
            named += chr(argument)
        elif op is _constants.RANGE:
            named += chr(argument[0]) + chr(argument[1])
        elif op is _constants.CATEGORY:
            named += _CATEGORIES.get(argument, "a")
    if items[0][0] is _constants.NEGATE:
        ranges = [argument for op, argument in items if op is _constants.RANGE]
        return (
            "".join(
                it
                for it in _OTHERS
                if it not in named and not any(a <= ord(it) <= b for a, b in ranges)
            )
            or "a"
        )
    return named[:1] + named[-1:] + "".join(it for it in named if it.isspace())[:1]


if __name__ == "__main__":
    noted = _note()
    _use_everything()
    for pattern in noted.values():
        sys.stdout.write(json.dumps(asdict(pattern)) + "\n")
