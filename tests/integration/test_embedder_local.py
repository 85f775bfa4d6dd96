"""The default embedder with its real weights, dictionary and tokenizer."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from recollect.domain.embedder import EmbedderChoice
from recollect.models import minilm
from recollect.models.catalogue import check, list_embedders, open_embedder
from recollect.models.chinese import dictionary
from recollect.models.minilm import FOLDER, LocalModel, convert
from recollect.models.places import Places, package_folder
from recollect.models.sealed_folder import is_whole, read_sealed
from recollect.models.tensors import read_tensors
from recollect.ports.embedder import Embedder
from tests.unit.models.float_bert import float_bert

SENTENCES = [
    "The spare key is under the flower pot.",
    "Where did I put the extra key?",
    "备用钥匙放在花盆下面。",
    "備用鑰匙放在花盆下面。",
    "The weekly meeting starts at nine on Monday.",
    "每周例会星期一早上九点开始。",
    "My sister is allergic to peanuts.",
    "我妹妹对花生过敏。",
]


@pytest.fixture(scope="module")
def cache(prepared_models: Path) -> Path:
    return prepared_models


@pytest.fixture
async def embedder(cache: Path):
    opened = open_embedder(EmbedderChoice(cache_dir=cache))
    assert opened is not None
    yield opened
    await opened.close()


def weights_folder() -> Path:
    package = package_folder(minilm.WEIGHTS_PACKAGE)
    assert package is not None
    return package / "model"


async def test_vectors_are_those_of_the_exact_model(embedder: Embedder, cache: Path):
    english = [text for text in SENTENCES if text.isascii()][:2]
    weights = read_tensors((weights_folder() / minilm.WEIGHTS).read_bytes())
    tokenizer = LocalModel(Places.at(given=None, cache=cache)).open()._loaded().tokenizer

    vectors = await embedder.embed(english, "passage")

    for text, vector in zip(english, vectors, strict=True):
        exact = float_bert(weights, minilm._SHAPE, tokenizer.read(text).ids).mean(axis=0)
        assert vector @ exact / np.linalg.norm(exact) > 0.99


async def test_both_languages_meet(embedder: Embedder):
    (
        key,
        question,
        chinese,
        traditional,
        meeting,
        meeting_zh,
        allergy,
        allergy_zh,
    ) = await embedder.embed(SENTENCES, "passage")

    np.testing.assert_allclose(chinese, traditional, atol=1e-3)
    assert key @ chinese > 0.6
    assert question @ chinese > max(question @ meeting_zh, question @ allergy_zh) + 0.2
    assert meeting @ meeting_zh > 0.6
    assert allergy @ allergy_zh > 0.6
    assert meeting @ allergy_zh < 0.3


async def test_a_text_keeps_its_vector_whatever_is_embedded_with_it(embedder: Embedder):
    together = await embedder.embed([*SENTENCES, "a much longer text " * 40], "passage")
    alone = np.concatenate([await embedder.embed([text], "passage") for text in SENTENCES])

    assert (together[:-1] * alone).sum(axis=1).min() > 0.99


async def test_checking_it_works_and_has_nothing_to_complain(cache: Path):
    report = await check(EmbedderChoice(cache_dir=cache))

    assert report.works
    assert report.model == "all-MiniLM-L6-v2/int8-1+cedict-2"
    assert report.notes == ()
    assert list_embedders(EmbedderChoice(cache_dir=cache))[0].condition == "ready"


async def test_a_damaged_cache_is_noticed_and_mended_from_the_package(cache: Path, tmp_path: Path):
    shutil.copytree(cache, tmp_path / "copy")
    graph = tmp_path / "copy" / "models" / FOLDER / "model.onnx"
    graph.write_bytes(graph.read_bytes()[:-1000])
    opened = open_embedder(EmbedderChoice(cache_dir=tmp_path / "copy"))
    assert opened is not None

    assert (await opened.embed(["hello"], "query")).shape == (1, 384)
    assert is_whole(graph.parent)
    await opened.close()


async def test_a_cache_that_cannot_be_written_costs_time_only(tmp_path: Path):
    (tmp_path / "cache").write_text("a file stands where the folder should be")
    opened = open_embedder(EmbedderChoice(cache_dir=tmp_path / "cache"))
    assert opened is not None

    assert (await opened.embed(["hello", "你好"], "query")).shape == (2, 384)
    assert len(opened.notes()) == 2
    assert all("cannot be written" in note for note in opened.notes())
    await opened.close()


def test_processes_that_prepare_it_at_once_do_not_disturb_each_other(tmp_path: Path):
    script = (
        "import asyncio, sys, pathlib\n"
        "from recollect.domain.embedder import EmbedderChoice\n"
        "from recollect.models.catalogue import open_embedder\n"
        "embedder = open_embedder(EmbedderChoice(cache_dir=pathlib.Path(sys.argv[1])))\n"
        "print(asyncio.run(embedder.embed(['你好'], 'query')).shape, embedder.notes())\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]

    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    answers = [process.communicate(timeout=60) for process in running]

    assert answers == [("(1, 384) ()\n", "")] * 2
    assert sorted(path.name for path in (tmp_path / "models").iterdir()) == [
        FOLDER,
        dictionary.FOLDER,
    ]


async def test_converting_twice_gives_the_same_file(embedder: Embedder, cache: Path):
    await embedder.embed(["warm"], "query")
    kept = read_sealed(cache / "models" / FOLDER)

    assert kept is not None
    assert convert(weights_folder())["model.onnx"] == kept["model.onnx"]
    assert len(kept["model.onnx"]) < 24_000_000


def test_the_compiled_dictionary_is_whole(cache: Path):
    glosses = LocalModel(Places.at(given=None, cache=cache)).glosses()
    assert len(glosses.words) > 100_000


async def test_an_import_under_way_can_be_cancelled(embedder: Embedder):
    await embedder.embed(["warm"], "query")
    seen: list[int] = []
    first_batches = asyncio.Event()

    def progress(done: int, of: int) -> None:
        seen.append(done)
        first_batches.set()

    work = asyncio.create_task(embedder.embed(SENTENCES * 500, "passage", progress))
    await first_batches.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work

    assert seen[-1] < len(SENTENCES) * 500
