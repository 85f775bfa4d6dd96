"""Memories that `peers.py` measures, each behind the same calls.

`python peer_stores.py NAME TEXTS FOLDER WHAT` runs in the environment of the one it names and
prints one line of JSON. Vectors are looked up, so that no model is part of the figures.

    speed     save, bulk and recall at the sizes that the texts have
    first     one recall, in a process of its own
    killed    save one by one, telling each, until somebody kills this process
    count     how many of those are there
    quality   the ten best for every question of a recall set
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import statistics
import sys
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

LIMIT = 10
SMALL = 100
USERS, SAVES = 10, 200
BATCH = 500
_MESSAGE = re.compile(r"<message role='user'>(.*?)</message>", re.DOTALL)


class Texts:
    """What is saved and asked, and the vector of each."""

    def __init__(self, path: Path) -> None:
        held = np.load(path, allow_pickle=False)
        texts = json.loads(str(held["texts"]))
        questions = json.loads(str(held["questions"]))
        self.texts: list[str] = texts
        self.questions: list[str] = questions
        # Of a recall set: whose each text and each question is.
        self.users: list[str] = json.loads(str(held["users"])) if "users" in held else []
        self.askers: list[str] = json.loads(str(held["askers"])) if "askers" in held else []
        self.sizes: list[int] = json.loads(str(held["sizes"])) if "sizes" in held else []
        rows = held["vectors"]
        self.dimension = rows.shape[1]
        self.vectors = dict(zip([*texts, *questions], rows, strict=True))


class Peer(Protocol):
    """A memory of texts, each of one user's."""

    async def save(self, user: str, text: str) -> None: ...

    async def save_many(self, user: str, texts: Sequence[str]) -> None: ...

    async def recall(self, user: str, question: str) -> list[str]:
        """The texts that were found, best first."""
        ...

    async def count(self, user: str) -> int:
        """How many texts a user has."""
        ...

    async def close(self) -> None: ...


class Recollect:
    """This project as it comes, but without comparing what is saved, as no other does that."""

    def __init__(self, texts: Texts, folder: Path) -> None:
        self._texts, self._folder = texts, folder
        self._scopes: dict[str, Any] = {}

    async def opened(self) -> Recollect:
        from recollect import Memory
        from recollect.domain.embedding import Calibration
        from recollect.settings import Settings

        texts = self._texts

        class LookedUp:
            model, dimension, calibration = "looked-up", texts.dimension, Calibration()

            def reads(self, text: str) -> bool:
                return True

            async def embed(self, wanted: Sequence[str], purpose: str, progress: Any = None) -> Any:
                rows = [texts.vectors.get(it, self._other) for it in wanted]
                return np.stack(rows).astype(np.float32)

            def notes(self) -> tuple[str, ...]:
                return ()

            async def close(self) -> None: ...

            # A question is embedded without the words that only ask.
            _other = next(iter(texts.vectors.values()))

        settings = Settings.load({"data_dir": self._folder, "writing": {"judge": "rules"}})
        # Questions of people are embedded without the words that only ask, so they need the model.
        embedder = None if texts.users else LookedUp()
        self._memory = await Memory.open(settings, embedder=embedder)
        return self

    def _of(self, user: str) -> Any:
        if user not in self._scopes:
            self._scopes[user] = self._memory.scope(user=user)
        return self._scopes[user]

    async def save(self, user: str, text: str) -> None:
        await self._of(user).remember(text)

    async def save_many(self, user: str, texts: Sequence[str]) -> None:
        await self._of(user).remember_many(list(texts))

    async def settle(self) -> None:
        """Until every text has its vector."""
        await self._memory.drain()

    async def recall(self, user: str, question: str) -> list[str]:
        found = await self._of(user).recall(question, limit=LIMIT, min_score=0)
        return [hit.content for hit in found.hits]

    async def count(self, user: str) -> int:
        return len(await self._of(user).list(limit=1_000))

    async def close(self) -> None:
        await self._memory.close()


class NumpySqlite:
    """The floor: a table of texts and a matrix of vectors that is kept while nothing is written."""

    def __init__(self, texts: Texts, folder: Path) -> None:
        import sqlite3

        self._vectors = texts.vectors
        self._db = sqlite3.connect(folder / "numpy.db", isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS notes"
            " (id INTEGER PRIMARY KEY, user TEXT, content TEXT, vector BLOB)"
        )
        self._db.execute("CREATE INDEX IF NOT EXISTS by_user ON notes (user)")
        self._held: dict[str, Any] = {}

    async def save(self, user: str, text: str) -> None:
        await self.save_many(user, [text])

    async def save_many(self, user: str, texts: Sequence[str]) -> None:
        self._held.pop(user, None)
        self._db.execute("BEGIN")
        self._db.executemany(
            "INSERT INTO notes (user, content, vector) VALUES (?, ?, ?)",
            [(user, text, self._vectors[text].tobytes()) for text in texts],
        )
        self._db.execute("COMMIT")

    async def recall(self, user: str, question: str) -> list[str]:
        if user not in self._held:
            rows = self._db.execute("SELECT id, vector FROM notes WHERE user = ?", (user,))
            ids, blobs = zip(*rows, strict=True)
            matrix = np.frombuffer(b"".join(blobs), np.float32).reshape(len(ids), -1)
            self._held[user] = np.array(ids), matrix
        ids, matrix = self._held[user]
        best = np.argsort(matrix @ self._vectors[question])[::-1][:LIMIT]
        marks = ",".join("?" * len(best))
        wanted = ids[best].tolist()
        found = dict(
            self._db.execute(f"SELECT id, content FROM notes WHERE id IN ({marks})", wanted)
        )
        return [found[number] for number in wanted]

    async def count(self, user: str) -> int:
        return self._db.execute("SELECT count(*) FROM notes WHERE user = ?", (user,)).fetchone()[0]

    async def close(self) -> None:
        self._db.close()


class SqliteVec:
    """sqlite-vec and FTS5 side by side, brought together by reciprocal ranks."""

    def __init__(self, texts: Texts, folder: Path) -> None:
        import pysqlite3
        import sqlite_vec

        self._vectors = texts.vectors
        self._db = pysqlite3.connect(str(folder / "vec.db"), isolation_level=None)
        self._db.enable_load_extension(True)
        sqlite_vec.load(self._db)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        for statement in (
            "CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, user TEXT, content TEXT)",
            "CREATE VIRTUAL TABLE IF NOT EXISTS near USING vec0"
            f"(user TEXT PARTITION KEY, vector FLOAT[{texts.dimension}])",
            "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(content, tokenize='trigram')",
        ):
            self._db.execute(statement)

    async def save(self, user: str, text: str) -> None:
        await self.save_many(user, [text])

    async def save_many(self, user: str, texts: Sequence[str]) -> None:
        db = self._db
        db.execute("BEGIN IMMEDIATE")
        first = db.execute("SELECT coalesce(max(id), 0) + 1 FROM notes").fetchone()[0]
        numbered = list(enumerate(texts, first))
        db.executemany("INSERT INTO notes VALUES (?, ?, ?)", [(n, user, t) for n, t in numbered])
        db.executemany(
            "INSERT INTO near (rowid, user, vector) VALUES (?, ?, ?)",
            [(n, user, self._vectors[t].tobytes()) for n, t in numbered],
        )
        db.executemany("INSERT INTO words (rowid, content) VALUES (?, ?)", numbered)
        db.execute("COMMIT")

    async def recall(self, user: str, question: str) -> list[str]:
        near = self._db.execute(
            "SELECT rowid FROM near WHERE user = ? AND vector MATCH ? AND k = 30",
            (user, self._vectors[question].tobytes()),
        ).fetchall()
        asked = " OR ".join(f'"{it}"' for it in _words(question))
        found = self._db.execute(
            "SELECT words.rowid FROM words JOIN notes ON notes.id = words.rowid"
            " WHERE words MATCH ? AND notes.user = ? ORDER BY rank LIMIT 30",
            (asked, user),
        ).fetchall()
        scores: dict[int, float] = {}
        for rows in (near, found):
            for rank, (number,) in enumerate(rows):
                scores[number] = scores.get(number, 0) + 1 / (60 + rank)
        best = sorted(scores, key=scores.__getitem__, reverse=True)[:LIMIT]
        marks = ",".join("?" * len(best))
        rows = self._db.execute(f"SELECT id, content FROM notes WHERE id IN ({marks})", best)
        texts = dict(rows.fetchall())
        return [texts[number] for number in best]

    async def count(self, user: str) -> int:
        return self._db.execute("SELECT count(*) FROM notes WHERE user = ?", (user,)).fetchone()[0]

    async def close(self) -> None:
        self._db.close()


class LangGraph:
    """LangGraph's SqliteStore, which needs a SQLite that loads extensions."""

    def __init__(self, texts: Texts, folder: Path) -> None:
        import pysqlite3

        sys.modules["sqlite3"] = pysqlite3
        from langgraph.store.base import PutOp
        from langgraph.store.sqlite import SqliteStore

        vectors = texts.vectors
        db = pysqlite3.connect(str(folder / "langgraph.db"), isolation_level=None)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        index = {
            "dims": texts.dimension,
            "embed": lambda wanted: [vectors[it].tolist() for it in wanted],
            "text_fields": ["text"],
        }
        self._db, self._put = db, PutOp
        self._store = SqliteStore(db, index=index)  # pyright: ignore[reportArgumentType]
        self._store.setup()
        self._next = time.time_ns()

    def _op(self, user: str, text: str) -> Any:
        self._next += 1
        return self._put(("memories", user), str(self._next), {"text": text})

    async def save(self, user: str, text: str) -> None:
        self._store.batch([self._op(user, text)])

    async def save_many(self, user: str, texts: Sequence[str]) -> None:
        self._store.batch([self._op(user, text) for text in texts])

    async def recall(self, user: str, question: str) -> list[str]:
        found = self._store.search(("memories", user), query=question, limit=LIMIT)
        return [it.value["text"] for it in found]

    async def count(self, user: str) -> int:
        return len(self._store.search(("memories", user), limit=1_000))

    async def close(self) -> None:
        self._db.close()


class Chroma:
    """Chroma with a folder of its own, one collection for all users."""

    def __init__(self, texts: Texts, folder: Path) -> None:
        import chromadb

        self._vectors = texts.vectors
        client = chromadb.PersistentClient(
            str(folder), settings=chromadb.Settings(anonymized_telemetry=False)
        )
        self._notes = client.get_or_create_collection("notes", embedding_function=None)
        self._next = time.time_ns()

    async def save(self, user: str, text: str) -> None:
        await self.save_many(user, [text])

    async def save_many(self, user: str, texts: Sequence[str]) -> None:
        self._next += len(texts)
        self._notes.add(
            ids=[str(self._next - number) for number in range(len(texts))],
            embeddings=np.stack([self._vectors[it] for it in texts]),
            documents=list(texts),
            metadatas=[{"user": user}] * len(texts),
        )

    async def recall(self, user: str, question: str) -> list[str]:
        found = self._notes.query(
            query_embeddings=self._vectors[question][None], n_results=LIMIT, where={"user": user}
        )
        return found["documents"][0]

    async def count(self, user: str) -> int:
        return len(self._notes.get(where={"user": user})["ids"])

    async def close(self) -> None: ...


class Mem0:
    """mem0 as it comes (Qdrant in a folder), without a language model (`infer=False`)."""

    def __init__(self, texts: Texts, folder: Path) -> None:
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder)}
        from mem0 import Memory
        from mem0.utils.factory import EmbedderFactory

        vectors = texts.vectors

        class LookedUp:
            def embed(self, text: str, memory_action: str | None = None) -> list[float]:
                return vectors[text].tolist()

            def embed_batch(
                self, wanted: Sequence[str], memory_action: str | None = None
            ) -> list[list[float]]:
                return [vectors[it].tolist() for it in wanted]

        EmbedderFactory.create = lambda *_: LookedUp()
        place = {
            "path": str(folder / "qdrant"),
            "embedding_model_dims": texts.dimension,
            "on_disk": True,
        }
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": place},
                "llm": {"provider": "openai", "config": {"api_key": "unused"}},
                "history_db_path": str(folder / "history.db"),
            }
        )

    async def save(self, user: str, text: str) -> None:
        self._memory.add(text, user_id=user, infer=False)

    async def save_many(self, user: str, texts: Sequence[str]) -> None:
        said = [{"role": "user", "content": text} for text in texts]
        self._memory.add(said, user_id=user, infer=False)

    async def recall(self, user: str, question: str) -> list[str]:
        found = self._memory.search(question, top_k=LIMIT, filters={"user_id": user}, threshold=0.0)
        return [it["memory"] for it in found["results"]]

    async def count(self, user: str) -> int:
        return len(self._memory.get_all(filters={"user_id": user}, top_k=1_000)["results"])

    async def close(self) -> None:
        self._memory.vector_store.client.close()


class LanceDb:
    """LanceDB with a folder of its own, one table for all users, searched without an index."""

    def __init__(self, texts: Texts, folder: Path) -> None:
        import lancedb
        import pyarrow as pa

        self._vectors = texts.vectors
        vector = pa.list_(pa.float32(), texts.dimension)
        fields = [("user", pa.string()), ("content", pa.string()), ("vector", vector)]
        self._notes = lancedb.connect(str(folder)).create_table(
            "notes", schema=pa.schema(fields), exist_ok=True
        )

    async def save(self, user: str, text: str) -> None:
        await self.save_many(user, [text])

    async def save_many(self, user: str, texts: Sequence[str]) -> None:
        self._notes.add(
            [{"user": user, "content": it, "vector": self._vectors[it]} for it in texts]
        )

    async def recall(self, user: str, question: str) -> list[str]:
        asked = self._notes.search(self._vectors[question]).where(
            f"user = '{user}'", prefilter=True
        )
        return [it["content"] for it in asked.limit(LIMIT).to_list()]

    async def count(self, user: str) -> int:
        return self._notes.count_rows(f"user = '{user}'")

    async def close(self) -> None: ...


class LlamaIndex:
    """LlamaIndex's VectorMemoryBlock; its core has no store on disk, so it is given Chroma."""

    def __init__(self, texts: Texts, folder: Path) -> None:
        import chromadb
        from llama_index.core.base.llms.types import ChatMessage
        from llama_index.core.embeddings import BaseEmbedding
        from llama_index.core.memory import VectorMemoryBlock
        from llama_index.core.prompts import RichPromptTemplate
        from llama_index.vector_stores.chroma import ChromaVectorStore

        vectors = texts.vectors

        class LookedUp(BaseEmbedding):
            def _get_text_embedding(self, text: str) -> list[float]:
                # The block stores a message with its role around it.
                (plain,) = _MESSAGE.findall(text)
                return vectors[plain].tolist()

            def _get_query_embedding(self, query: str) -> list[float]:
                return vectors[query].tolist()

            async def _aget_query_embedding(self, query: str) -> list[float]:
                return vectors[query].tolist()

        client = chromadb.PersistentClient(
            str(folder), settings=chromadb.Settings(anonymized_telemetry=False)
        )
        self._notes = client.get_or_create_collection("notes", embedding_function=None)
        self._message = ChatMessage
        store, model = ChromaVectorStore(chroma_collection=self._notes), LookedUp()

        # A block keeps the filter of the first session that it was asked about.
        @cache
        def block_of(user: str) -> VectorMemoryBlock:
            return VectorMemoryBlock(
                vector_store=store,
                embed_model=model,
                similarity_top_k=LIMIT,
                retrieval_context_window=1,
                format_template=RichPromptTemplate("{{ text }}"),
            )

        self._block_of = block_of

    async def save(self, user: str, text: str) -> None:
        said = self._message(role="user", content=text, additional_kwargs={"session_id": user})
        await self._block_of(user).aput([said], session_id=user)

    async def save_many(self, user: str, texts: Sequence[str]) -> None:
        for text in texts:
            await self.save(user, text)

    async def recall(self, user: str, question: str) -> list[str]:
        asked = self._message(role="user", content=question)
        found = await self._block_of(user).aget([asked], session_id=user)
        return _MESSAGE.findall(str(found))

    async def count(self, user: str) -> int:
        return len(self._notes.get(where={"session_id": user})["ids"])

    async def close(self) -> None: ...


PEERS: dict[str, Callable[[Texts, Path], Any]] = {
    "recollect": Recollect,
    "langgraph": LangGraph,
    "sqlite-vec": SqliteVec,
    "numpy": NumpySqlite,
    "mem0": Mem0,
    "chroma": Chroma,
    "lancedb": LanceDb,
    "llama-index": LlamaIndex,
}


def _words(question: str) -> list[str]:
    """Words of three letters or more, and every three signs of a text without spaces."""
    if question.isascii():
        return [it for it in question.rstrip("?").split() if len(it) > 2] or ["xyz"]
    return [question[at : at + 3] for at in range(len(question) - 3)]


async def milliseconds(calls: Iterable[Coroutine[Any, Any, Any]]) -> list[float]:
    times: list[float] = []
    for call in calls:
        start = time.perf_counter()
        await call
        times.append((time.perf_counter() - start) * 1e3)
    return sorted(times)


async def fill(peer: Any, user: str, texts: Sequence[str]) -> float:
    start = time.perf_counter()
    for at in range(0, len(texts), BATCH):
        await peer.save_many(user, texts[at : at + BATCH])
    if hasattr(peer, "settle"):
        await peer.settle()
    return time.perf_counter() - start


async def recalls(peer: Any, users: Sequence[str], questions: Sequence[str]) -> float:
    for user in users:
        for question in questions[:3]:
            assert await peer.recall(user, question)
    asked = [
        peer.recall(users[number % len(users)], question)
        for number, question in enumerate(questions[3:])
    ]
    return statistics.median(await milliseconds(asked))


async def measure(peer: Any, texts: Texts, folder: Path) -> dict[str, float]:
    users = [f"user-{number}" for number in range(USERS)]
    for number, user in enumerate(users):
        await fill(peer, user, texts.texts[number * SMALL : (number + 1) * SMALL])
    figures = {"recall_100_ms": await recalls(peer, users, texts.questions[:200])}
    saves = await milliseconds(peer.save("saver", it) for it in texts.texts[:SAVES])
    figures["save_p50_ms"] = statistics.median(saves)
    figures["save_p95_ms"] = saves[int(0.95 * len(saves))]
    for size in texts.sizes:
        seconds = await fill(peer, f"of-{size}", texts.texts[:size])
        if size == texts.sizes[0]:
            figures["bulk_per_s"] = size / seconds
        asked = texts.questions[200:303]
        figures[f"recall_{size}_ms"] = await recalls(peer, [f"of-{size}"], asked)
        figures[f"disk_{size}_mb"] = _megabytes_in(folder)
    # Linux tells it in kilobytes; the texts and vectors of the benchmark itself are part of it.
    figures["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return figures


def _megabytes_in(folder: Path) -> float:
    return sum(it.stat().st_size for it in folder.rglob("*") if it.is_file()) / 1e6


async def rank(peer: Any, texts: Texts) -> list[list[str]]:
    """Fill in every user's texts in their order, then ask each question of its user."""
    by_user: dict[str, list[str]] = {}
    for user, text in zip(texts.users, texts.texts, strict=True):
        by_user.setdefault(user, []).append(text)
    for user, said in by_user.items():
        await fill(peer, user, list(dict.fromkeys(said)))
    asked = zip(texts.askers, texts.questions, strict=True)
    return [await peer.recall(user, question) for user, question in asked]


async def save_until_killed(peer: Any, texts: Texts) -> None:
    for text in texts.texts:
        await peer.save("killed", text)
        print(text, flush=True)


async def main() -> None:
    name, source, place, what = sys.argv[1:]
    texts, folder = Texts(Path(source)), Path(place)
    peer = PEERS[name](texts, folder)
    if hasattr(peer, "opened"):
        peer = await peer.opened()
    match what:
        case "first":
            assert await peer.recall("user-0", texts.questions[0])
            print(json.dumps({}), flush=True)
        case "killed":
            await save_until_killed(peer, texts)
        case "count":
            print(json.dumps(await peer.count("killed")), flush=True)
        case "quality":
            print(json.dumps(await rank(peer, texts)), flush=True)
        case _:
            print(json.dumps(await measure(peer, texts, folder)), flush=True)
    await peer.close()


asyncio.run(main())
