"""Hooks of the documentation site (`mkdocs.yml`): links that lead out of docs/.

On a page in the repository, the first line leads to the other language and back to the README; the
site has a menu for both. Links to files that the site does not have become their names.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any, Final

# File of the repository → its copy in docs/, which tools/write_reference.py makes.
TAKEN_IN: Final = {
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "CHANGELOG.md": "project/changelog.md",
    "packages/recollect-embedder/README.md": "project/model-card.md",
}
_PYTHON: Final = "reference/python.md"
_HOME: Final = {"README.md": "index.md", "README.zh-CN.md": "index.md"}
_LINK: Final = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<target>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
_SWITCH: Final = re.compile(r"^(\[中文\]|\[English\]|中文版：|English: ).*\n", re.MULTILINE)


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    if page.file.src_uri == _PYTHON and config.theme["language"] == "zh":
        # The same names twice would make links to them ambiguous.
        return "# Python\n\n<a href=../../../reference/python/>由英文文档字符串生成的参考</a>\n"
    within = {place: source for source, place in TAKEN_IN.items()}
    # Where the page lies in the repository, and so what its links are relative to.
    source = within.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def replaced(link: re.Match[str]) -> str:
        target = link["target"]
        if ":" in target:
            return link[0]
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        place = TAKEN_IN.get(wanted) or _HOME.get(wanted)
        if place is None and wanted.startswith("docs/"):
            place = wanted.removeprefix("docs/")
            if source.startswith("docs/"):
                return link[0]
        if place is None:
            return link["text"]
        here = posixpath.dirname(page.file.src_uri)
        return f"[{link['text']}]({posixpath.relpath(place, here or '.')}{link['anchor'] or ''})"

    return _LINK.sub(replaced, _SWITCH.sub("", markdown, count=1))
