"""What says the same takes one place; another number, name, day or a "not" is another fact."""

from datetime import UTC, datetime, timedelta

import pytest

from recollect.domain.record import Evidence, Kind, Record, new_record
from recollect.domain.scope import Scope
from recollect.domain.turn import Turn, new_turn
from recollect.recall.same import Sameness

_SCOPE = Scope(org="o", workspace="w", user="u")
_NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
