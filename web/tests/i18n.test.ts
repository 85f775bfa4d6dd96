import { expect, test, vi } from "vitest";
import { MESSAGES, named, translate, type MessageKey } from "../src/i18n";
import { loadServerWords } from "../src/i18n/server";
import { settings } from "../src/i18n/server/settings.zh";

vi.hoisted(() => vi.stubGlobal("location", { origin: "http://console.test" }));

const { ApiProblem } = await import("../src/api/client");
const { explain } = await import("../src/parts/feedback");

const { en, zh } = MESSAGES;
const SOURCES = import.meta.glob<string>(["../src/**/*.{ts,tsx}", "!../src/i18n/{en,zh}.ts"], {
  query: "?raw",
  import: "default",
  eager: true,
});

/** Return the blanks of a message, each once, in the order of their names. */
const blanksIn = (message: string) => [...new Set(message.match(/\{\w+\}/g))].sort().join(" ");

test("both languages have the same messages", () => {
  expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort());
});

test("a message has the same blanks in both languages", () => {
  const differing = (Object.keys(en) as MessageKey[]).filter(
    (key) => blanksIn(en[key]) !== blanksIn(zh[key]),
  );
  expect(differing.map((key) => [key, en[key], zh[key]])).toEqual([]);
});

test("every message is shown somewhere", () => {
  const source = Object.values(SOURCES).join("\n");
  const literals = new Set([...source.matchAll(/"([a-zA-Z]+\.[^"\n]+)"/g)].map(([, key]) => key));
  // `empty.${tab}Lead` stands for every key of that form.
  const patterns = [...source.matchAll(/`([a-zA-Z]+\.[^`\n]*\$\{[^`\n]*)`/g)].map(
    ([, text = ""]) => new RegExp(`^${text.replace(".", "\\.").replace(/\$\{[^}]*\}/g, ".+")}$`),
  );
  // named("did", entry.action) stands for every key that begins so.
  const sorts = new Set([...source.matchAll(/\bnamed\("(\w+)"/g)].map(([, sort]) => sort));
  const isShown = (key: string) =>
    literals.has(key) ||
    sorts.has(key.split(".")[0]) ||
    patterns.some((pattern) => pattern.test(key));
  const unused = Object.keys(en).filter(
    (key) => !isShown(key) && !isShown(key.replace(/_one$/, "")),
  );
  expect(unused).toEqual([]);
});

test("values fill the blanks, numbers as the language writes them", () => {
  expect(translate("en", "memory.count", { count: 1234 })).toContain("1,234");
  expect(translate("en", "memory.count", { count: 1 })).toBe("1 record");
  expect(translate("zh", "keys.revoked", { name: "$& bot" })).toContain("$& bot");
  expect(translate("en", "keys.revoked", {})).toBe(en["keys.revoked"]);
});

test("a word of the server is translated where it is known", () => {
  expect(named("zh", "did", "update")).toBe(zh["did.update"]);
  expect(named("en", "did", "something new")).toBe("something new");
});

test("every description of a setting has its Chinese", () => {
  const [page = ""] = Object.values(
    import.meta.glob<string>("../../docs/settings.md", {
      query: "?raw",
      import: "default",
      eager: true,
    }),
  );
  const described = [...page.matchAll(/^\| `[^|]+\|[^|]*\| (.*?) ?\|$/gm)]
    .map(([, text = ""]) => text.replaceAll("\\<", "<").trim())
    .filter((text) => text !== "");
  expect(described.length).toBeGreaterThan(100);
  expect(described.filter((text) => !(text in settings))).toEqual([]);
});

test("a problem is told in Chinese by its code", async () => {
  const problem = new ApiProblem({ code: "stale_version", detail: "mem_1 is at version 3" }, 412);
  const t = (key: MessageKey) => translate("zh", key);
  expect(explain(problem, t).what).toBe("mem_1 is at version 3");
  await loadServerWords("zh");
  expect(explain(problem, t)).toEqual({
    what: expect.stringContaining("有人修改了这条记录") as string,
    hint: "mem_1 is at version 3",
  });
  await loadServerWords("en");
});

test("the messages of single pages are the same in both languages", () => {
  const pages = import.meta.glob<{ words: Record<"en" | "zh", Record<string, string>> }>(
    "../src/**/words.ts",
    { eager: true },
  );
  const own = Object.entries(pages).filter(([, module]) => "words" in module);
  expect(own.length).toBeGreaterThan(4);
  const unused: string[] = [];
  for (const [path, { words }] of own) {
    const source = Object.entries(SOURCES)
      .filter(([file]) => file.startsWith(path.replace("words.ts", "")))
      .map(([, text]) => text)
      .join("\n");
    for (const [key, message] of Object.entries(words.en)) {
      expect(words.zh, path).toHaveProperty([key]);
      expect(blanksIn(words.zh[key] ?? ""), `${path} ${key}`).toBe(blanksIn(message));
      const plain = key.replace(/_one$/, "");
      const [sort = ""] = plain.split(".");
      const isShown =
        source.includes(`"${plain}"`) ||
        (plain.includes(".") &&
          (source.includes(`\`${sort}.\${`) || source.includes(`("${sort}", `)));
      if (!isShown) unused.push(`${path} ${key}`);
    }
  }
  expect(unused).toEqual([]);
});
