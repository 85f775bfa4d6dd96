"""The memory tools for a model, called on a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recollect.client.connection import Connection, at
from recollect.domain.context import TONGUES, Tongue, checked_choice
from recollect.domain.scope import Scope
from recollect.tools import SPECS, Toolbox
from recollect.tools.toolbox import as_mapping


class RemoteToolbox(Toolbox):
    """The tools of one caller; what they do is done on the server."""

    def __init__(
        self,
        connection: Connection,
        scope: Scope,
        session: str,
        language: Tongue,
        *,
        is_enabled: bool,
    ) -> None:
        self._connection = connection
        self._scope = scope
        self._session = session
        self._language = checked_choice(language, TONGUES)
        # What is left out of a call is as the server's settings say.
        self._defaults: Mapping[str, int | float] = {}
        self._specs = {spec.name: spec for spec in SPECS} if is_enabled else {}

    async def run(self, name: str, arguments: Mapping[str, Any] | str = "") -> Any:
        """The result of a call as a value, and errors raised."""
        told = await self._connection.ask(
            "POST",
            at("tools", self._spec(name).name),
            self._scope,
            query={"language": self._language, "session": self._session},
            body=as_mapping(arguments),
        )
        return told["result"]
