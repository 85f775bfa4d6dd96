"""The default embedder and the judge, with the weights that are shipped."""

from __future__ import annotations

import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from recollect.domain.embedding import EmbedderChoice
from recollect.errors import RecollectError
from recollect.models import local_model
from recollect.models.catalogue import check, list_embedders, open_embedder
from recollect.models.local_model import LocalJudge, open_judge
from recollect.models.sealed_folder import package_folder
from recollect.ports.embedder import Embedder

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


@pytest.fixture
async def embedder():
    opened = open_embedder(EmbedderChoice())
    assert opened is not None
    yield opened
    await opened.close()


@pytest.fixture(scope="module")
def judge() -> LocalJudge:
    judge = open_judge(None)
    assert judge is not None
    return judge


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the data package that a test may damage."""
    package = package_folder(local_model.DATA_PACKAGE)
    assert package is not None
    return Path(shutil.copytree(package, tmp_path / "copy"))


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


async def test_a_rare_character_costs_only_itself(embedder: Embedder):
    plain, rare = await embedder.embed(
        ["备用钥匙放在花盆下面", "备用钥匙𪚥放在花盆下面"], "passage"
    )

    assert plain @ rare > 0.7


async def test_checking_it_works_and_has_nothing_to_complain():
    report = await check(EmbedderChoice())

    assert report.works
    assert report.model.startswith("recollect-bilingual/")
    assert report.dimension == 384
    assert report.notes == ()
    assert list_embedders(EmbedderChoice())[0].condition == "ready"


async def test_a_damaged_file_is_noticed(copy: Path):
    graph = copy / local_model.EMBEDDER
    graph.write_bytes(graph.read_bytes()[:-1000])

    assert list_embedders(EmbedderChoice(folder=copy))[0].condition == "damaged"
    opened = open_embedder(EmbedderChoice(folder=copy))
    assert opened is not None
    with pytest.raises(RecollectError, match="sha256"):
        await opened.embed(["hello"], "query")
    await opened.close()


def test_it_needs_no_network_and_no_torch():
    script = (
        "import asyncio, socket, sys\n"
        "def refuse(*_, **__): raise OSError('no network in this test')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from recollect.domain.embedding import EmbedderChoice\n"
        "from recollect.models.catalogue import open_embedder\n"
        "embedder = open_embedder(EmbedderChoice())\n"
        "print(asyncio.run(embedder.embed(['你好'], 'query')).shape)\n"
        "assert 'torch' not in sys.modules\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert run.stdout.strip() == "(1, 384)", run.stderr


@pytest.mark.parametrize(
    ("old", "new", "relation"),
    [
        ("User is allergic to peanuts", "我对花生过敏", "same"),
        ("I live in Berlin", "I moved to Munich last week", "update"),
        ("用户对花生过敏", "用户对花生不过敏", "conflict"),
        (
            "The billing service runs on port 8080",
            "The billing service has 4 replicas",
            "different",
        ),
        ("季度评审在 12 月 5 日", "公司年会定在 1 月 18 日", "different"),
    ],
)
def test_the_judge_tells_a_change_from_another_fact(
    judge: LocalJudge, old: str, new: str, relation: str
):
    (scores,) = judge.logits([(old, new)])

    assert ("same", "update", "conflict", "different")[int(scores.argmax())] == relation


def test_the_judge_gives_a_pair_the_same_scores_in_any_batch(judge: LocalJudge):
    pairs = list(pairwise(SENTENCES))

    together = judge.logits(pairs)

    alone = np.concatenate([judge.logits([pair]) for pair in pairs])
    np.testing.assert_allclose(together, alone, atol=0.2)
    assert judge.logits([]).shape == (0, 4)
