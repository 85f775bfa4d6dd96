"""JSON answers that can hold every text a tool can produce."""

import json
from typing import Any

from fastapi.responses import JSONResponse


class LosslessJson(JSONResponse):
    """A JSON response in UTF-8, with escapes where UTF-8 has no form for a text.

    Tool results may contain lone surrogates. The framework's own response fails on them.
    """

    def render(self, content: Any) -> bytes:
        try:
            return super().render(content)
        except UnicodeEncodeError:
            return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()
