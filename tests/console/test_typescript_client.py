"""A TypeScript client of the described API compiles with strict types, and names its results.

The types are those that the console was built with: openapi-typescript made them of the committed
description.
"""

import os
import subprocess
from pathlib import Path
from typing import Final

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


def test_a_client_compiles_with_strict_types(tmp_path: Path):
    # As a module of its own, so that the types themselves are checked too.
    (tmp_path / "schema.ts").write_bytes(_SCHEMA.read_bytes())
    (tmp_path / "client.ts").write_text(_PROGRAM, encoding="utf-8")
    (tmp_path / "node_modules").symlink_to(_MODULES)
    compiled = subprocess.run(
        [os.fspath(_MODULES / ".bin" / "tsc"), *_OPTIONS, "client.ts"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (compiled.stdout, compiled.returncode) == ("", 0)
