"""The first thing anybody runs: what the READMEs and the guides show, as it stands there."""

import ast
import contextlib
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
from starlette.testclient import TestClient

from recollect.cli.app import run
from recollect.server.app import create_app
from recollect.settings import Settings
from recollect.settings.sections import fields_of, is_section
from recollect.sync import Memory

_ROOT = Path(__file__).parent.parent.parent
_READMES = ("README.md", "README.zh-CN.md")
_GUIDES = tuple(
    f"docs/{name}{language}.md"
    for name in ("quickstart", "concepts", "http", "migrating")
    for language in ("", ".zh-CN")
)
_SITE_PAGES = tuple(
    f"docs/{name}{language}.md"
    for name in (
        "index",
        "tutorial",
        "troubleshooting",
        "how-recall-decides",
        "what-compression-keeps",
        "when-something-fails",
        "comparison",
    )
    for language in ("", ".zh-CN")
)
_OTHER_PAGES = (
    *_SITE_PAGES,
    "docs/agent-loop.md",
    "docs/agent-loop.zh-CN.md",
    "docs/architecture.md",
    "docs/architecture.zh-CN.md",
    "docs/benchmarks.md",
    "docs/benchmarks.zh-CN.md",
    "docs/backends.md",
    "docs/backends.zh-CN.md",
    "docs/databases.md",
    "docs/databases.zh-CN.md",
    "docs/limits.md",
    "docs/limits.zh-CN.md",
    "docs/models.md",
    "docs/models.zh-CN.md",
    "docs/people.md",
    "docs/people.zh-CN.md",
    "docs/redis-and-s3.md",
    "docs/redis-and-s3.zh-CN.md",
    "docs/supervisor.md",
    "docs/supervisor.zh-CN.md",
    "docs/trust.md",
    "docs/trust.zh-CN.md",
    "docs/vectors.md",
    "docs/vectors.zh-CN.md",
    "docs/settings.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
)
# What is typed there is typed by a test.
_TYPED = (
    *_READMES,
    *_GUIDES,
    *(
        f"docs/{name}{language}.md"
        for name in ("troubleshooting", "vectors")
        for language in ("", ".zh-CN")
    ),
)
# Whose Python each has a test below, which knows what comes out.
_RUN_HERE = frozenset(
    f"docs/{name}.md"
    for name in (
        *("agent-loop", "backends", "concepts", "index", "migrating", "people", "quickstart"),
        *("settings", "tutorial", "what-compression-keeps"),
    )
)
# Pages whose examples need something of their own, with the test that runs them.
_RUN_ELSEWHERE = {
    "docs/databases.md": "tests/databases/test_the_guide.py",
    "docs/supervisor.md": "tests/adapters/with_langgraph/check_guide.py",
    # Fragments; what can be run whole is in examples/, and run by the tests of each framework.
    "docs/adapters.md": "",
    # How a method is added, line by line.
    "CONTRIBUTING.md": "tests/unit/test_faces_are_complete.py",
}
_SERVER = "http://127.0.0.1:7077"
# What sets this repository up is run by whoever runs these tests.
_SET_UP = {"make setup", "make serve", "make test", ". .venv/bin/activate"}
_ID = re.compile(r"\b([a-z]+)_[0-9a-z]{26}\b")


def _text(page: str) -> str:
    return (_ROOT / page).read_text(encoding="utf-8")


def _blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", _text(page), flags=re.DOTALL)


def _printed(code: str, folder: Path) -> str:
    told = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(told):
        exec(compile(code, "<example>", "exec"), {"__name__": "__main__"})
    return told.getvalue()


@pytest.mark.parametrize(
    ("readme", "answer"),
    [
        ("README.md", "Ann prefers window seats"),
        ("README.zh-CN.md", "用户偏好使用 TypeScript"),
    ],
)
def test_the_librarys_example_prints_an_answer(readme: str, answer: str, tmp_path: Path):
    assert len(_text(readme).splitlines()) <= 100
    (library,) = _blocks(readme, "python")
    assert 10 <= len(library.splitlines()) <= 15
    assert answer in _printed(library, tmp_path).splitlines()[0]


@pytest.mark.parametrize(
    ("page", "answer", "wish"),
    [
        ("docs/agent-loop.md", "Ann prefers window seats", "always answer in English"),
        ("docs/agent-loop.zh-CN.md", "用户偏好使用 TypeScript", "以后都用中文回答"),
    ],
)
def test_an_agents_own_loop_goes_on_with_its_memory(
    page: str, answer: str, wish: str, tmp_path: Path
):
    prompt, agent = _blocks(page, "python")
    block = _printed(prompt, tmp_path)
    assert block.startswith("<memory>")
    assert answer in block
    _, extracted, recalled = _printed(agent, tmp_path).splitlines()
    assert extracted.startswith("created")
    assert wish in extracted
    assert wish in recalled


@pytest.mark.parametrize(
    ("guide", "seat", "flight"),
    [
        ("docs/quickstart.md", "Ann prefers aisle seats", "TP700 leaves"),
        ("docs/quickstart.zh-CN.md", "安妮喜欢靠过道的座位", "航班 TP700"),
    ],
)
def test_the_quickstarts_examples_go_on_with_each_other(
    guide: str, seat: str, flight: str, tmp_path: Path
):
    first, agent = _blocks(guide, "python")
    *_, found, others = _printed(first, tmp_path).splitlines()
    assert (found, others) == (seat, "0")
    _printed(agent, tmp_path)
    told = _printed(agent, tmp_path)  # whoever tries something out runs it again
    assert told.partition("\n")[0].endswith("'user', 'assistant', 'tool']")
    assert flight in told
    assert seat in told.partition("<memory>")[2]


@pytest.mark.parametrize("guide", ["docs/concepts.md", "docs/concepts.zh-CN.md"])
def test_the_concepts_hold(guide: str, tmp_path: Path):
    (code,) = _blocks(guide, "python")
    assert _printed(code, tmp_path).splitlines() == ["2 1", "created merged 2", "True 0"]


@pytest.mark.usefixtures("real_model")
@pytest.mark.parametrize(
    ("guide", "found"),
    [("docs/migrating.md", "basketball"), ("docs/migrating.zh-CN.md", "花生")],
)
def test_a_program_of_mem0_moves_over(guide: str, found: str, tmp_path: Path):
    (code,) = _blocks(guide, "python")
    _, recalled, changes = _printed(code, tmp_path).splitlines()
    assert found in recalled
    assert changes == "['ADD']"


@pytest.mark.parametrize("page", ["docs/index.md", "docs/index.zh-CN.md"])
def test_the_home_pages_example_finds_and_shows(page: str, tmp_path: Path):
    (code,) = _blocks(page, "python")
    found, *block = _printed(code, tmp_path).splitlines()
    assert float(found.split()[0]) > 0.3
    assert block[0] == "<memory>"


@pytest.mark.parametrize("page", ["docs/people.md", "docs/people.zh-CN.md"])
def test_what_was_mixed_up_gets_its_owners(page: str, tmp_path: Path):
    (code,) = _blocks(page, "python")
    with contextlib.chdir(tmp_path), Memory.open() as memory:
        me = memory.scope(user="me")
        me.observe([{"role": "user", "content": "I live in Basel"}], session="thread-17")
        me.observe([{"role": "user", "content": "我住在苏州"}], session="thread-18")
    _printed(code, tmp_path)
    with contextlib.chdir(tmp_path), Memory.open() as memory:
        assert not memory.scope(user="me").turns().items
        said = {it: memory.scope(user=it).turns().items[0].content for it in ("ann", "bob")}
    assert said == {"ann": "I live in Basel", "bob": "我住在苏州"}


@pytest.mark.parametrize("page", ["docs/backends.md", "docs/backends.zh-CN.md"])
def test_a_back_end_of_ones_own_is_held_to_the_contract(page: str, tmp_path: Path):
    (code,) = _blocks(page, "python")
    (tmp_path / "test_mine.py").write_text(code, "utf-8")
    given = ("-q", "-o", "asyncio_mode=auto", "-p", "no:cacheprovider", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *given], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


@pytest.mark.parametrize("page", sorted(it.name for it in (_ROOT / "docs").glob("*.md")))
def test_settings_and_configurations_are_whole(page: str):
    for shown in _blocks(f"docs/{page}", "toml"):
        Settings.load(tomllib.loads(shown))
    for shown in _blocks(f"docs/{page}", "json"):
        assert json.loads(shown)


@pytest.mark.parametrize("page", ["docs/adapters.md", "docs/adapters.zh-CN.md"])
def test_the_fragments_for_frameworks_name_what_there_is(page: str):
    for fragment in _blocks(page, "python"):
        whole = fragment.replace("…", "...")
        tree = compile(whole, page, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        ours = [it for it in ast.walk(tree) if isinstance(it, ast.ImportFrom)]
        for it in (it for it in ours if it.module and it.module.startswith("recollect.")):
            module = _ROOT.joinpath("src", *it.module.split("."))
            file = module / "__init__.py" if module.is_dir() else module.with_suffix(".py")
            text = file.read_text("utf-8")
            for name in it.names:
                assert re.search(rf"^(?:async )?(?:class|def) {name.name}\b", text, re.M), name.name


def test_no_example_is_left_out():
    pages = [*(f"docs/{it.name}" for it in (_ROOT / "docs").glob("*.md")), "CONTRIBUTING.md"]
    for page in {it.replace(".zh-CN", "") for it in pages}:
        if page in _RUN_ELSEWHERE:
            elsewhere = _RUN_ELSEWHERE[page]
            assert not elsewhere or Path(page).name in _text(elsewhere), page
            continue
        assert not _blocks(page, "python") or page in _RUN_HERE, page
        assert not _blocks(page, "sh") or page in {*_TYPED, "docs/tutorial.md"}, page


@pytest.mark.parametrize("page", [it for it in _SITE_PAGES if "compression" in it])
def test_what_left_the_window_is_one_call_away(page: str, tmp_path: Path):
    (code,) = _blocks(page, "python")
    is_short, first, third = _printed(code, tmp_path).splitlines()
    assert is_short.startswith("True")
    assert "0" in first
    assert "3" in third


@pytest.mark.parametrize(
    ("page", "known", "asked"),
    [
        ("docs/tutorial.md", "shellfish", "2000 euros"),
        ("docs/tutorial.zh-CN.md", "贝类", "两千欧元"),
    ],
)
def test_the_tutorials_agent_remembers(
    page: str, known: str, asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    # However busy the machine is: nothing is left out because it is late.
    monkeypatch.setenv("RECOLLECT_SESSION__PREPARE_SECONDS", "0")
    monkeypatch.setenv("RECOLLECT_WRITING__CLOSE_SECONDS", "60")
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", "local")
    (code,) = _blocks(page, "python")
    runs = [
        shlex.split(line)
        for block in _blocks(page, "sh")
        for line in block.splitlines()
        if line.startswith("python agent.py")
    ]
    shown: list[str] = []
    for _, *arguments in runs:
        monkeypatch.setattr("sys.argv", arguments)
        shown.append(_printed(code, tmp_path))
    *_, hers, others = shown
    assert known in hers
    assert asked in hers
    assert known not in others
    assert asked not in others


class _Shell:
    """Runs what a page tells somebody to type, where `mem_…` is the id that was shown last."""

    def __init__(
        self,
        server: TestClient,
        monkeypatch: pytest.MonkeyPatch,
        capture: pytest.CaptureFixture[bytes],
    ) -> None:
        self._server = server
        self._monkeypatch = monkeypatch
        self._capture = capture
        self._shown: dict[str, str] = {}

    def type(self, line: str) -> None:
        words = [self._with_ids(word) for word in shlex.split(line, comments=True)]
        shown = self._ask(words[1:]) if words[0] == "curl" else self._command(words)
        # Of several ids the first is that of what the command is about.
        seen = {found[1]: found[0] for found in reversed([*_ID.finditer(shown)])}
        self._shown.update(seen)

    def _with_ids(self, word: str) -> str:
        return re.sub(r"\b([a-z]+)_…", lambda found: self._shown[found[1]], word)

    def _command(self, words: list[str]) -> str:
        assert words[0] == "recollect"
        answers = io.TextIOWrapper(io.BytesIO(b"y\n"), encoding="utf-8")
        self._monkeypatch.setattr("sys.stdin", answers)
        status = run(words[1:])
        out, err = self._capture.readouterr()
        assert status == 0, (words, err.decode())
        return out.decode()

    def _ask(self, words: list[str]) -> str:
        url, *options = words
        given = [*zip(options[::2], options[1::2], strict=True)]
        headers = dict(value.split(": ") for name, value in given if name == "-H")
        body = next((value for name, value in given if name == "-d"), None)
        method = next((value for name, value in given if name == "-X"), "POST" if body else "GET")
        assert url.startswith(_SERVER)
        assert {name for name, _ in given} <= {"-H", "-d", "-X"}
        answer = self._server.request(method, url, headers=headers, content=body)
        assert answer.is_success, (words, answer.text)
        return json.dumps(answer.json(), ensure_ascii=False)


@pytest.mark.parametrize(
    "page",
    [
        # Some make backups, which a server makes with its own tool.
        pytest.param(page, marks=pytest.mark.sqlite if "backup" in _text(page) else ())
        for page in _TYPED
    ],
)
def test_what_is_to_be_typed_works(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
):
    monkeypatch.chdir(tmp_path)
    # What is typed in a clone finds its documents.
    (tmp_path / "docs").mkdir()
    for name in ("concepts.md", "http.md"):
        shutil.copy(_ROOT / "docs" / name, tmp_path / "docs")
    # Not above: this file also writes docs/settings.md, without a package of tests.
    from tests.other_memories import write_samples

    write_samples(tmp_path / "exports")
    lines = [line for block in _blocks(page, "sh") for line in block.splitlines() if line]
    typed = [line for line in lines if line.partition("#")[0].strip() not in _SET_UP]
    with TestClient(create_app(), base_url=_SERVER) as server:
        shell = _Shell(server, monkeypatch, capfdbinary)
        for line in typed:
            shell.type(line)


@pytest.mark.parametrize("readme", _READMES)
def test_both_commands_are_shown(readme: str):
    assert "make serve" in _text(readme)
    assert "make test" in _text(readme)


@pytest.mark.parametrize("page", [*(it for it in (*_READMES, *_GUIDES) if ".zh-CN" not in it)])
def test_both_languages_show_the_same_commands(page: str):
    translated = page.replace(".md", ".zh-CN.md")

    def shape(name: str) -> list[list[str]]:
        lines = "\n".join(_blocks(name, "sh")).splitlines()
        typed = (shlex.split(line, comments=True) for line in lines)
        return [[word for word in words if word.isascii() and " " not in word] for words in typed]

    def count(name: str, pattern: str) -> int:
        return len(re.findall(pattern, _text(name), flags=re.MULTILINE))

    assert shape(page) == shape(translated)
    for pattern in (r"^#+ ", r"^- ", r"^```python"):
        assert count(page, pattern) == count(translated, pattern)


@pytest.mark.parametrize("page", [*_READMES, *_GUIDES, *_OTHER_PAGES])
def test_links_lead_somewhere(page: str):
    for target in re.findall(r"\]\(([^)#]+)\)", _text(page)):
        if not target.startswith("http"):
            assert ((_ROOT / page).parent / target).exists(), target


# --- docs/settings.md ----------------------------------------------------------------------------

_SETTINGS = _ROOT / "docs" / "settings.md"
_TABLES = "<!-- From here on written by tests/journeys/test_the_readme.py. -->\n"


def _sections(section: type, name: str = "") -> Iterator[tuple[str, type]]:
    yield name, section
    for part, field in fields_of(section).items():
        inner, key = _inner(field.annotation)
        if inner is not None:
            yield from _sections(inner, f"{name}.{part}{key}".removeprefix("."))


def _inner(annotation: Any) -> tuple[type | None, str]:
    """The section in a field, and how an entry of it is named where there are several."""
    if is_section(annotation):
        return annotation, ""
    key = ".NAME" if get_origin(annotation) is dict else "[]"
    for inner in get_args(annotation):
        if is_section(inner):
            return inner, key
    return None, ""


def _usual(field: Any) -> str:
    if field.is_required():
        return "must be given"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, Path):
        return "the platform's data folder"
    if isinstance(value, dict):
        value = {str(key): it for key, it in value.items()}
    return "" if value is None or value in ("", (), {}) else f"`{json.dumps(value)}`"


def _readable(text: str | None) -> str:
    """A description as Markdown, without the marks of the documents it comes from."""
    return re.sub(r"([<|])", r"\\\1", re.sub(r" \(S\d\)", "", text or "")).strip()


def _written_tables() -> str:
    lines = [_TABLES]
    for name, section in _sections(Settings):
        leaves = {
            part: field
            for part, field in fields_of(section).items()
            if _inner(field.annotation)[0] is None
        }
        if not leaves:
            continue
        lines.append(f"## {name or 'At the top'}\n")
        if name:
            lines.append(f"{_readable(section.__doc__)}\n")
        lines.append("| setting | usually | |\n|---|---|---|")
        lines += [
            f"| `{part}` | {_usual(field)} | {_readable(field.description)} |"
            for part, field in leaves.items()
        ]
        lines.append("")
    return "\n".join(lines)


def test_the_settings_page_lists_every_setting():
    _, marker, tables = _SETTINGS.read_text(encoding="utf-8").partition(_TABLES)
    assert marker + tables == _written_tables(), (
        "write docs/settings.md anew: .venv/bin/python tests/journeys/test_the_readme.py"
    )


@pytest.mark.sqlite(reason="its settings name a file")
def test_the_settings_pages_examples_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (file,) = _blocks("docs/settings.md", "toml")
    (code,) = _blocks("docs/settings.md", "python")
    (tmp_path / "settings.toml").write_text(file, encoding="utf-8")
    monkeypatch.setenv("RECOLLECT_SETTINGS", str(tmp_path / "settings.toml"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert _printed(code, tmp_path).splitlines() == ["Mail me at [email]", "1"]


def test_importing_memory_stays_light():
    heavy = ("sqlalchemy", "pydantic", "numpy", "alembic", "fastapi", "typer", "rich")
    code = (
        "import sys; from recollect import Memory; "
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == "[]"


if __name__ == "__main__":
    prose = _SETTINGS.read_text(encoding="utf-8").partition(_TABLES)[0]
    _SETTINGS.write_text(prose + _written_tables(), encoding="utf-8")
