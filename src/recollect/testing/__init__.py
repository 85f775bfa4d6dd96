"""Contract suites for back-ends: inherit one in a test class and provide its fixtures.

Importing this package needs pytest; the suites need pytest-asyncio in auto mode. Nothing else in
Recollect imports it.
"""

import pytest

_SUITES = ("blobs", "embedder", "jobs", "state", "store", "units", "vector_sink")
pytest.register_assert_rewrite(*(f"{__name__}.{suite}" for suite in _SUITES))

from recollect.testing.blobs import BlobsContract  # noqa: E402
from recollect.testing.clock import ManualClock  # noqa: E402
from recollect.testing.embedder import EmbedderContract  # noqa: E402
from recollect.testing.jobs import JobsContract  # noqa: E402
from recollect.testing.state import StateContract  # noqa: E402
from recollect.testing.store import StoreContract  # noqa: E402
from recollect.testing.units import UnitsContract  # noqa: E402
from recollect.testing.vector_sink import VectorSinkContract  # noqa: E402

__all__ = [
    "BlobsContract",
    "EmbedderContract",
    "JobsContract",
    "ManualClock",
    "StateContract",
    "StoreContract",
    "UnitsContract",
    "VectorSinkContract",
]
