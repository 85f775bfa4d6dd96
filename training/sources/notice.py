"""Write NOTICE and the card's table of sources: `python -m training.sources.notice`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from training.sources.catalogue import FILE

PACKAGE = Path(__file__).parents[2] / "packages" / "recollect-embedder"
_HEAD = """recollect-embedder
Copyright the Recollect authors

The weights in this package were trained from the works below. None of their text is in the
package; each work was changed in the same way: sentences were taken out of it, without their marks,
and numbers were fitted to them. The licences' texts are in LICENSES, what follows from them is in
LICENSING.md.
Naming a work does not mean that its authors endorse this package.
"""


def listed() -> list[dict[str, Any]]:
    return tomllib.loads(FILE.read_text("utf-8"))["source"]


def notice(sources: list[dict[str, Any]]) -> str:
    """Return the attributions, ShareAlike sources last."""
    parts = [_HEAD, *(_entry(it) for it in sources if not it.get("share_alike"))]
    parts.append("ShareAlike sources\n------------------\n")
    parts += [_entry(it) for it in sources if it.get("share_alike")]
    return "\n".join(parts)


def table(sources: list[dict[str, Any]]) -> list[str]:
    return [f"| {it['title']} | {it['licence']} |" for it in sources]


def with_table(card: str, rows: list[str]) -> str:
    """Return the card with these rows in its table of sources."""
    lines = card.splitlines()
    start = lines.index("| source | licence |") + 2
    end = start
    while end < len(lines) and lines[end].startswith("|"):
        end += 1
    return "\n".join([*lines[:start], *rows, *lines[end:]]) + "\n"


def _entry(source: dict[str, Any]) -> str:
    places = [
        f"https://github.com/{it.replace('@', '/tree/')}" for it in source.get("repositories", [])
    ]
    if package := source.get("package"):
        places.append(f"the Python package {package}")
    lines = [source["title"], f"  {source['credit']}", f"  Licence: {source['licence']}"]
    return "\n".join([*lines, *(f"  {place}" for place in places)]) + "\n"


def main() -> None:
    sources = listed()
    (PACKAGE / "NOTICE").write_text(notice(sources), "utf-8")
    card = PACKAGE / "README.md"
    card.write_text(with_table(card.read_text("utf-8"), table(sources)), "utf-8")


if __name__ == "__main__":
    main()
