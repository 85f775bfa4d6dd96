"""Record `recollect init` and `recollect chat` with a real language model, into docs/models.md.

The model is the tests' own: SmolLM2 with 135 million parameters behind a server with OpenAI's API.

PYTHONPATH=. .venv/bin/python tools/record_chat.py
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.real_model import RealModelServer

ROOT: Final = Path(__file__).resolve().parent.parent
_PAGES: Final = ("models.md", "models.zh-CN.md")
_BEGIN, _END = "<!-- chat -->\n", "<!-- /chat -->"
_SHOWN_URL: Final = "http://127.0.0.1:8080/v1"
_SAVED: Final = "The staging key lives in the blue vault"
_SAID: Final = ("Where does the staging key live?", "Remember that I prefer green tea.")


def main() -> None:
    """Run the commands in an empty home, and put what they print between the marks of the pages."""
    with RealModelServer() as server, tempfile.TemporaryDirectory() as home:
        recorded = _recorded(server.base_url, home)
    shown = recorded.replace(server.base_url, _SHOWN_URL).replace(home, "~")
    for name in _PAGES:
        page = ROOT / "docs" / name
        text = page.read_text("utf-8")
        before, _, rest = text.partition(_BEGIN)
        _, _, after = rest.partition(_END)
        page.write_text(f"{before}{_BEGIN}\n```text\n{shown}```\n\n{_END}{after}", "utf-8")
    print(shown)


def _recorded(base_url: str, home: str) -> str:
    kept = {name: it for name, it in os.environ.items() if not name.startswith("RECOLLECT_")}
    folders = {"XDG_CONFIG_HOME": f"{home}/.config", "XDG_DATA_HOME": f"{home}/.local/share"}
    # So small a model answers, but fills in no forms: those are left to the local models.
    left_out = {f"RECOLLECT_MODELS__{it}": "none" for it in ("EXTRACT", "SUMMARISE", "CLASSIFY")}
    # However busy the machine is that records it.
    left_out["RECOLLECT_SESSION__PREPARE_SECONDS"] = "0"
    environment = {**kept, **folders, **left_out, "HOME": home, "COLUMNS": "100"}

    def run(arguments: list[str], typed: str = "") -> str:
        command = [sys.executable, "-m", "recollect", *arguments]
        done = subprocess.run(
            command, input=typed, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{arguments} failed:\n{done.stderr}")
        return done.stderr + done.stdout

    init = ["init", "--provider", "openai", "--base-url", base_url, "--model", "smollm2"]
    told = f"$ recollect {' '.join(init)}\n{run(init)}"
    told += f'$ recollect remember "{_SAVED}"\n{run(["remember", _SAVED])}'
    chat = run(["chat", "--max-tokens", "40"], "\n".join(_SAID) + "\n")
    # What comes in by itself is not echoed: it goes above what each exchange begins with.
    told += "$ recollect chat --max-tokens 40\n"
    lines, waiting = chat.splitlines(), list(_SAID)
    begins = True
    for line in lines:
        is_of_memory = re.match(r"  (profile|recalled|missing) ", line)
        if is_of_memory and begins and waiting:
            told += f"you> {waiting.pop(0)}\n"
        begins = not is_of_memory
        told += f"{line}\n"
    return told


if __name__ == "__main__":
    main()
