"""Write docs/openapi.json, the description of the HTTP API that clients are generated from.

.venv/bin/python tools/write_openapi.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from recollect.server.app import create_app

TARGET: Final = Path(__file__).resolve().parent.parent / "docs" / "openapi.json"


def main() -> None:
    TARGET.write_text(as_text(create_app().openapi()), encoding="utf-8")
    print(f"wrote {TARGET.name}")


def as_text(described: dict[str, Any]) -> str:
    """Return a description with one line a value, so that changes can be read."""
    return json.dumps(described, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    main()
