"""Build the data wheel: prepare the model and the dictionary, then pack them.

    python build.py [FOLDER WITH model.safetensors AND tokenizer.json]

Runs in an environment with recollect[local] and hatchling.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from recollect.models.minilm import LocalModel
from recollect.models.places import Places

HERE = Path(__file__).parent
PACKAGE = HERE / "src" / "recollect_minilm"


def main() -> None:
    for old in PACKAGE.glob("*/"):
        shutil.rmtree(old)
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    # The package's own folder is the cache here, so what is prepared lands in it.
    model = LocalModel(Places(given=given, cache=PACKAGE))
    model.files()
    model.glosses()
    if notes := model.notes():
        raise SystemExit("\n".join(notes))
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    subprocess.run(command, cwd=HERE, check=True)


if __name__ == "__main__":
    main()
