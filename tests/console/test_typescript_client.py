"""TypeScript programs compile against the described API with strict types, and the client works.

The tools are those of the console: openapi-typescript makes the types of the committed description.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.console.conftest import ROOT

_MODULES: Final = ROOT / "web" / "node_modules"
_SCHEMA: Final = ROOT / "web" / "src" / "api" / "schema.d.ts"
_OPTIONS: Final = (
    *("--noEmit", "--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"),
    *("--module", "ESNext", "--moduleResolution", "bundler", "--target", "ES2022"),
    *("--lib", "ES2022,DOM,DOM.Iterable"),
)
_PROGRAM: Final = """
import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

type Schemas = components["schemas"];
const api = createClient<paths>({ baseUrl: "http://127.0.0.1:7077" });
const query = { user: "ann" };

export async function save(content: string): Promise<Schemas["Record"]> {
  const { data, error } = await api.POST("/v1/records", { params: { query }, body: { content } });
  if (error !== undefined) throw new Error(error.code);
  return data;
}

export async function recall(question: string): Promise<Schemas["Problem"] | string[]> {
  const body = { query: question };
  const { data, error } = await api.POST("/v1/recall", { params: { query }, body });
  return error ?? data.hits.map((hit) => hit.passage);
}

export async function tagsOf(id: string): Promise<string[]> {
  const path = { record_id: id };
  const { data } = await api.GET("/v1/records/{record_id}", { params: { path, query } });
  return data?.tags ?? [];
}

// Each of these is an error, or the compiler says that it expected one.
export async function mistakes() {
  // @ts-expect-error
  await api.POST("/v1/records", { params: { query }, body: { text: "no such field" } });
  const { data } = await api.GET("/v1/records", { params: { query } });
  // @ts-expect-error
  const wrong: number = data!.items[0]!.content;
  // @ts-expect-error
  await api.GET("/v1/no-such-route");
  return wrong;
}
"""


_CLIENT: Final = ROOT / "clients" / "typescript"
_MISTAKES: Final = """
import { Recollect } from "recollect-client";

const memory = new Recollect();

// Each of these is an error, or the compiler says that it expected one.
export async function mistakes() {
  // @ts-expect-error
  await memory.remember("x", { no_such_field: 1 });
  // @ts-expect-error
  await memory.request("get", "/v1/no-such-route");
  // @ts-expect-error
  await memory.request("get", "/v1/records/{record_id}");
  // @ts-expect-error
  await memory.request("post", "/v1/recall", { body: { query: 3 } });
  // @ts-expect-error
  const wrong: number = (await memory.get("mem_1")).content;
  return wrong;
}
"""


def _run(folder: Path, *command: str, **environment: str) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-2_000:]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client as its own commands build it, with the packages of the console."""
    folder = tmp_path_factory.mktemp("client") / "clients" / "typescript"
    left_out = shutil.ignore_patterns("node_modules", "dist", "schema.ts")
    shutil.copytree(_CLIENT, folder, ignore=left_out)
    (folder.parents[1] / "docs").symlink_to(ROOT / "docs")
    (folder / "node_modules").symlink_to(_MODULES)
    _run(folder, "npm", "run", "--silent", "build")
    return folder


def test_the_client_works_with_a_running_server(client: Path, server_address: str):
    _run(client, "npm", "test", RECOLLECT_URL=server_address)


def test_what_is_shown_compiles_with_strict_types_and_mistakes_do_not(client: Path, tmp_path: Path):
    shown = re.findall(r"```ts\n(.*?)```", (client / "README.md").read_text("utf-8"), re.DOTALL)
    assert len(shown) == 3
    program = "declare const process: { env: Record<string, string> };\n" + "".join(shown)
    (tmp_path / "readme.ts").write_text(program, encoding="utf-8")
    (tmp_path / "mistakes.ts").write_text(_MISTAKES, encoding="utf-8")
    # A client of one's own: the types as a module, so that they themselves are checked too.
    (tmp_path / "schema.ts").write_bytes(_SCHEMA.read_bytes())
    (tmp_path / "own.ts").write_text(_PROGRAM, encoding="utf-8")
    packages = tmp_path / "node_modules"
    packages.mkdir()
    (packages / "recollect-client").symlink_to(client)
    for name in ("openapi-fetch", "openapi-typescript-helpers"):
        (packages / name).symlink_to(_MODULES / name)
    # All at once: the libraries of the compiler are read for each call.
    compiler = os.fspath(_MODULES / ".bin" / "tsc")
    _run(tmp_path, compiler, *_OPTIONS, "own.ts", "readme.ts", "mistakes.ts")


def test_its_lock_names_no_registry():
    lock = (_CLIENT / "package-lock.json").read_text("utf-8")
    assert '"resolved"' not in lock
