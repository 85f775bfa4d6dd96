"""Read files of a git repository at a commit, with or without a work tree."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


class MissingSource(Exception):
    """A repository, or its commit, is not below MIRRORS."""


@dataclass(frozen=True, slots=True)
class Repository:
    """The files of `name` (owner/name) at one commit."""

    name: str
    commit: str
    folder: Path

    @classmethod
    def open(cls, mirrors: Path, name: str, commit: str) -> Repository:
        """Find the repository as MIRRORS/owner/name or MIRRORS/owner+name, bare or not."""
        named = [mirrors / name, mirrors / name.replace("/", "+")]
        for folder in [it / inner for it in named for inner in (".git", "repo/.git", "repo", "")]:
            if (folder / "HEAD").is_file():
                found = cls(name, commit, folder)
                if not found._git("cat-file", "-t", commit, check=False):
                    raise MissingSource(
                        f"{name} has no commit {commit}: git -C {folder} fetch origin {commit}"
                    )
                return found
        address, target = f"https://github.com/{name}", mirrors / name
        raise MissingSource(
            f"{name} is not below {mirrors}: git clone {address} {target}"
            f" && git -C {target} checkout {commit}"
        )

    def files(self, prefix: str = "", suffix: str = "") -> list[str]:
        """Return the paths below a folder that end in `suffix`, in order."""
        listed = self._git("ls-tree", "-r", "-z", "--name-only", self.commit, "--", prefix or ".")
        return sorted(it for it in listed.decode().split("\0") if it and it.endswith(suffix))

    def read(self, path: str) -> bytes:
        return self._git("cat-file", "blob", f"{self.commit}:{path}")

    def text(self, path: str) -> str:
        return self.read(path).decode("utf-8", "replace")

    def texts(self, paths: list[str]) -> Iterator[tuple[str, str]]:
        """Yield path and text of many files, those that are there; one process reads them all."""
        asked = "".join(f"{self.commit}:{path}\n" for path in paths).encode()
        answer = self._git("cat-file", "--batch", sent=asked)
        position = 0
        for path in paths:
            end = answer.index(b"\n", position)
            line = answer[position:end]
            position = end + 1
            if line.endswith((b" missing", b" ambiguous")):
                continue
            size = int(line.rsplit(b" ", 1)[1])
            yield path, answer[position : position + size].decode("utf-8", "replace")
            position += size + 1

    def _git(self, *words: str, sent: bytes | None = None, check: bool = True) -> bytes:
        done = subprocess.run(
            ["git", f"--git-dir={self.folder}", *words],
            input=sent,
            capture_output=True,
            check=False,
        )
        if check and done.returncode:
            raise MissingSource(f"{self.name}: {done.stderr.decode().strip()}")
        return done.stdout
