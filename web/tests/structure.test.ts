import ts from "typescript";
import { expect, test } from "vitest";

const SOURCES = import.meta.glob<string>("../src/**/*.{ts,tsx}", {
  query: "?raw",
  import: "default",
  eager: true,
});

/** The folders from the bottom up; a file imports from its own folder and from those before it. */
const LAYERS = ["lib", "i18n", "api", "parts", "pages", ""];

/** Return every module with what it imports: types and what is loaded on demand, too. */
function importsOfAll(): Map<string, string[]> {
  const files = new Set(Object.keys(SOURCES).map((path) => path.replace("../src/", "")));
  const endings = ["", ".ts", ".tsx", "/index.tsx"];
  const found = new Map<string, string[]>();
  for (const file of files) {
    const { importedFiles } = ts.preProcessFile(SOURCES[`../src/${file}`] ?? "", true, true);
    const imported = importedFiles.flatMap(({ fileName }) => {
      if (!fileName.startsWith(".")) return [];
      const path = new URL(fileName, `file:///${file}`).pathname.slice(1).replace(/\/$/, "");
      return endings.map((ending) => path + ending).filter((one) => files.has(one));
    });
    found.set(file, imported);
  }
  return found;
}

function layerOf(file: string): number {
  return LAYERS.indexOf(file.includes("/") ? (file.split("/")[0] ?? "") : "");
}

test("no module imports itself by way of others", () => {
  const imports = importsOfAll();
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, path: string[]) => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(" → "));
    if (done.has(file) || path.includes(file)) return;
    for (const next of imports.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of imports.keys()) visit(file, []);
  expect(imports.get("router.tsx")).toContain("pages/memory/MemoryPage.tsx");
  expect(cycles).toEqual([]);
});

test("an import points down", () => {
  const upwards = [...importsOfAll()].flatMap(([file, imported]) =>
    imported.filter((one) => layerOf(one) > layerOf(file)).map((one) => `${file} → ${one}`),
  );
  expect(upwards).toEqual([]);
});
