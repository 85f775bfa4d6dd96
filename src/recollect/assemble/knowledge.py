"""Settings → the knowledge base."""

from __future__ import annotations

from recollect.assemble.contents import contents_of
from recollect.assemble.prefetch import token_counter
from recollect.backends.sql.database import Database
from recollect.backends.sql.documents import SqlDocuments
from recollect.backends.sql.jobs import SqlJobs
from recollect.backends.sql.store import SqlStore
from recollect.knowledge.base import KnowledgeBase
from recollect.knowledge.ingest import Ingester
from recollect.knowledge.originals import Originals
from recollect.knowledge.parser import Parser, ParserLimits
from recollect.knowledge.retrieval import RetrievalOptions, Retriever
from recollect.knowledge.rewriting import Rewriter
from recollect.ports.embedder import MeaningService
from recollect.ports.language_model import LanguageModel
from recollect.ports.runtime import Clock
from recollect.ports.units import UnitIndex, VectorIndex
from recollect.settings import Settings
from recollect.writing.redaction import Redactor


def knowledge_base(
    settings: Settings,
    database: Database,
    clock: Clock,
    units: UnitIndex,
    vectors: VectorIndex,
    meaning: MeaningService,
    redactor: Redactor,
    model: LanguageModel | None,
) -> KnowledgeBase:
    """Return the knowledge base on this database."""
    documents = SqlDocuments(database)
    originals = Originals(contents_of(settings, database), documents)
    ingester = Ingester(
        SqlStore(database, clock),
        documents,
        originals,
        meaning,
        SqlJobs(database, clock),
        clock,
        Parser(
            ParserLimits(
                seconds=settings.knowledge.parse_seconds,
                memory_megabytes=settings.knowledge.parse_memory_mb,
            )
        ),
        None if redactor.mode == "off" else lambda text: redactor.counting().text(text),
        settings.knowledge.max_file_bytes,
    )
    retriever = Retriever(
        documents,
        units,
        vectors,
        meaning,
        token_counter(settings),
        clock,
        RetrievalOptions(),
        Rewriter(model),
    )
    return KnowledgeBase(
        documents,
        originals,
        ingester,
        retriever,
        prompt_limit=settings.knowledge.context_passages,
        min_score=settings.knowledge.min_score,
    )
