"""The contract of `recollect.ports.embedder.Embedder`."""

from __future__ import annotations

import asyncio

import numpy as np

from recollect.domain.embedding import Calibration
from recollect.ports.embedder import Embedder

_TEXTS = ("one two three four", "two", "three three", "one")


class EmbedderContract:
    """Provide the fixture `embedder`: a model that reads English."""

    async def test_it_describes_its_model(self, embedder: Embedder) -> None:
        assert embedder.model
        assert embedder.dimension > 0
        assert isinstance(embedder.calibration, Calibration)
        assert embedder.reads(_TEXTS[0])
        assert isinstance(embedder.notes(), tuple)

    async def test_rows_are_unit_vectors_in_the_order_of_the_texts(
        self, embedder: Embedder
    ) -> None:
        together = await embedder.embed(_TEXTS, "passage")
        alone = np.concatenate([await embedder.embed([text], "passage") for text in _TEXTS])
        assert together.dtype == np.float32
        assert together.shape == (len(_TEXTS), embedder.dimension)
        assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
        assert np.allclose(together, alone, atol=1e-2)

    async def test_no_texts_give_no_rows(self, embedder: Embedder) -> None:
        assert (await embedder.embed([], "query")).shape == (0, embedder.dimension)

    async def test_questions_and_passages_share_a_space(self, embedder: Embedder) -> None:
        question = (await embedder.embed(["three three"], "query"))[0]
        passages = await embedder.embed(_TEXTS, "passage")
        assert int(np.argmax(passages @ question)) == 2

    async def test_progress_ends_with_all_texts(self, embedder: Embedder) -> None:
        seen: list[tuple[int, int]] = []
        await embedder.embed(_TEXTS, "passage", lambda done, total: seen.append((done, total)))
        assert seen == sorted(seen)
        assert seen[-1] == (len(_TEXTS), len(_TEXTS))

    async def test_several_tasks_may_embed_at_once(self, embedder: Embedder) -> None:
        expected = await embedder.embed(_TEXTS, "passage")
        results = await asyncio.gather(*(embedder.embed(_TEXTS, "passage") for _ in range(8)))
        assert all(np.allclose(vectors, expected, atol=1e-5) for vectors in results)
