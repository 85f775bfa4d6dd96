import { expect, test } from "vitest";
import type { Turn } from "../src/api/client";
import type { Chunk, Section } from "../src/api/knowledge";
import { difference } from "../src/lib/difference";
import { tagsIn } from "../src/lib/lists";
import { headingOf, piecesOf } from "../src/pages/knowledge/pieces";
import { roleOf, toolsOf } from "../src/pages/sessions/turns";

test("a difference holds both texts, word by word", () => {
  const pieces = difference("Ann prefers window seats", "Ann prefers aisle seats");
  expect(pieces).toEqual([
    { kind: "same", text: "Ann prefers " },
    { kind: "removed", text: "window" },
    { kind: "added", text: "aisle" },
    { kind: "same", text: " seats" },
  ]);
  expect(difference("", "")).toEqual([]);
  expect(difference("same", "same")).toEqual([{ kind: "same", text: "same" }]);
  expect(difference("安娜喜欢靠窗", "安娜喜欢靠道").map(({ kind }) => kind)).toContain("same");
});

test("long texts are compared as wholes", () => {
  const [before, after] = ["a ".repeat(1000), "b ".repeat(1000)];
  expect(difference(before, after)).toEqual([
    { kind: "removed", text: before },
    { kind: "added", text: after },
  ]);
});

const TEXT = "# Travel\n\nHotels cost at most 120. Trains go first.";
const section = { ordinal: 2, start: 100, end: 100 + TEXT.length, text: TEXT } as Section;
const chunk = (start: number, end: number, of = 2) => ({ section: of, start, end }) as Chunk;

test("a section is cut where its chunks begin and end, and nothing is lost", () => {
  const heading = headingOf(section);
  expect(heading).toEqual({ text: "Travel", length: 10 });
  const chunks = [chunk(100, 133), chunk(0, 90, 1), chunk(128, 140)];
  const pieces = piecesOf(section, chunks, heading?.length);
  expect(pieces.map((piece) => piece.text).join("")).toBe(TEXT.slice(10));
  expect(pieces.map((piece) => [piece.start, piece.chunk?.end])).toEqual([
    [110, 133],
    [133, 140],
    [140, undefined],
  ]);
  expect(piecesOf(section, [])).toEqual([{ chunk: null, start: 100, text: TEXT }]);
});

test("the tools of a message are named, however it was kept", () => {
  const turn = (payload: object, role = "assistant") => ({ role, payload }) as Turn;
  expect(toolsOf(turn({}))).toEqual([]);
  expect(toolsOf(turn({ recollect: { calls: [["1", "search", "{}"]] } }))).toEqual(["search"]);
  const observed = [{ name: "read" }, { function: { name: "write" } }, {}];
  expect(toolsOf(turn({ tool_calls: observed }))).toEqual(["read", "write"]);
  expect(roleOf(turn({}, "tool"))).toBe("tool");
  expect(roleOf(turn({}, "developer"))).toBe("user");
});

test("tags are separated in either language", () => {
  expect(tagsIn(" a, b，c、d ,, ")).toEqual(["a", "b", "c", "d"]);
});
