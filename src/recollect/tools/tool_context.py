"""The context of a tool call: the services, the caller and the session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.domain.context import Tongue
from recollect.domain.record import Record
from recollect.domain.scope import Caller
from recollect.tools.arguments import MOST_RESULTS
from recollect.tools.metadata import Places

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """The context of one caller's tool calls. `named_session` is set if the caller named one."""

    opened: Wiring
    caller: Caller
    session: str
    named_session: str | None
    language: Tongue

    @property
    def parts(self) -> Wiring:
        """Return the services on the store of this agent, which may be moved to another one."""
        return self.opened.router.of_agent(self.caller.scope.agent)

    @property
    def places(self) -> Places:
        """Return the namespaces that a model may name."""
        return Places(caller=self.caller, prefixes=self.parts.settings.scope.namespaces)

    @property
    def defaults(self) -> Mapping[str, int | float]:
        """Return the defaults in the settings for arguments that a model leaves out."""
        recall = self.parts.settings.recall
        most = min(recall.limit, MOST_RESULTS)
        return {"limit": most, "top_k": most, "min_score": recall.min_score}

    def entered(self, items: Iterable[object]) -> None:
        """Count the records in a tool's result, once per session."""
        records = [item for item in items if isinstance(item, Record)]
        self.parts.usage.entered(self.session, records)
