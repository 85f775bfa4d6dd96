"""The HTTP API as `docs/openapi.json` describes it, which a test holds against the server.

Reading it takes milliseconds; deriving it from the routes takes seconds of every worker.
"""

from __future__ import annotations

import json
from typing import Any, Final

from tools.write_openapi import TARGET

API: Final[dict[str, Any]] = json.loads(TARGET.read_text(encoding="utf-8"))
SCHEMAS: Final[dict[str, Any]] = API["components"]["schemas"]
