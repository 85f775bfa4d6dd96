"""Sources are found in the shapes in which tools give their results."""

import pytest

from recollect.language.digest.sources import MOST_SOURCES, sources_of_text, sources_of_value

_SHAPES = {
    "a list of search hits": (
        [
            {"title": "Guide", "url": "https://example.com/guide", "snippet": "see /etc/app.conf"},
            {"title": "FAQ", "url": "https://example.com/faq", "snippet": "…"},
        ],
        ("https://example.com/guide", "https://example.com/faq"),
    ),
    "hits below a name": (
        {
            "query": "x",
            "results": [{"link": "https://example.com/a"}, {"name": "B"}, {"file": "a3f9"}],
        },
        ("https://example.com/a",),
    ),
    "documents with metadata": (
        [{"page_content": "…", "metadata": {"source": "manual.pdf", "page": 3}}],
        ("manual.pdf",),
    ),
    "a full-text engine's answer": (
        {"hits": {"total": 2, "hits": [{"_id": 1, "_source": {"file_name": "a.md"}}]}},
        ("a.md",),
    ),
    "Chinese names": (
        {"结果": [{"标题": "权限", "来源": "操作手册.pdf"}, {"标题": "常见问题", "摘要": "…"}]},
        ("操作手册.pdf", "常见问题"),
    ),
    "several sources in one item": (
        {"answer": "…", "sources": ["one.md", "two.md", "one.md"]},
        ("one.md", "two.md"),
    ),
}


@pytest.mark.parametrize("shape", _SHAPES)
def test_sources_of_structured_results(shape: str):
    value, expected = _SHAPES[shape]
    assert sources_of_value(value) == expected


_TEXTS = {
    "labelled lines in Chinese": (
        "权限管理\n来源：操作手册.pdf\n正文……\n**出处**：白皮书\n",
        ("操作手册.pdf", "白皮书"),
    ),
    "labelled lines in English": (
        "Source: guide.md\ntext\nSource: faq.md\n",
        ("guide.md", "faq.md"),
    ),
    "links": (
        "see [the guide](https://example.com/guide) and https://example.com/faq.\n",
        ("https://example.com/guide", "https://example.com/faq"),
    ),
    "a link in a Chinese sentence": (
        "见https://example.com/手册，第三章",
        ("https://example.com/手册",),
    ),
    "what a search in files prints": (
        "src/app.py:12:def main():\nsrc/app.py:13:    pass\ntests/test_app.py-4-x\n",
        ("src/app.py:12", "tests/test_app.py:4"),
    ),
    "files one after another": (
        "==> logs/web.log\nGET /\n==> logs/db.log\nok\n",
        ("logs/web.log", "logs/db.log"),
    ),
    "where an error arose": (
        'Traceback:\n  File "app/pay.py", line 214, in charge\nerror --> src/wire.rs:241:9\n',
        ("app/pay.py:214",),
    ),
    "nothing that names a source": ("一二三四五六七\n" * 10, ()),
    "ids are no sources": ("source: db-3\nfile: 7f3a9c21\nDocument: ORD-2291\n", ()),
    "a slash alone makes no path": ("Source: N/A\nFile: 3/4\nDocument: 12/05/2026\n", ()),
}


@pytest.mark.parametrize("kind", _TEXTS)
def test_sources_of_plain_text(kind: str):
    text, expected = _TEXTS[kind]
    assert sources_of_text(text) == expected


def test_no_more_than_a_few_are_kept_and_each_is_one_line():
    found = sources_of_text("\n".join(f"Source: a\tb{number}.md" for number in range(50)))
    assert len(found) == MOST_SOURCES
    assert found[0] == "a b0.md"


def test_values_of_any_shape_harm_nothing():
    deep: object = "end"
    for _ in range(50):
        deep = {"source": 5, "inner": [deep, None, 1.5, True, {"url": ["", {"x": 1}]}]}
    assert sources_of_value(deep) == ()
    assert sources_of_value(5) == ()
