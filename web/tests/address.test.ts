import { expect, test } from "vitest";
import {
  isNarrowed,
  knowledgeSearch,
  memorySearch,
  parseSearch,
  signInSearch,
  spanOf,
  stringifySearch,
} from "../src/lib/address";

test("the search part of an address is written as it is read", () => {
  const search = memorySearch(parseSearch("?q=window%20seat&tag=a&tag=b%26c&user=%E5%AE%89"));
  expect(search).toMatchObject({ q: "window seat", tag: ["a", "b&c"], user: "安" });
  expect(parseSearch(stringifySearch({ ...search }))).toEqual({
    q: "window seat",
    tag: ["a", "b&c"],
    user: "安",
  });
});

test("what is empty is not written", () => {
  expect(stringifySearch({ q: "", tag: [], user: undefined, agent: null })).toBe("");
  expect(stringifySearch({ q: "1" })).toBe("?q=1");
});

test("a page takes from its address what it knows, once where it wants one", () => {
  expect(knowledgeSearch(parseSearch("?q=a&q=b&tag=x&passage=1-2"))).toEqual({
    user: undefined,
    agent: undefined,
    q: "a",
    collection: undefined,
    status: undefined,
    document: undefined,
    passage: "1-2",
  });
  expect(memorySearch({ tag: "one", q: 7 })).toMatchObject({ tag: ["one"], q: undefined });
  expect(signInSearch({ next: "/org/a/ws/b" })).toEqual({ next: "/org/a/ws/b" });
});

test("a passage is two numbers", () => {
  expect(spanOf("120-480")).toEqual([120, 480]);
  for (const wrong of [undefined, "", "120", "-5", "a-b", "1-2-3"])
    expect(spanOf(wrong)).toBeNull();
});

test("a list is narrowed by filters, not by a question or a person", () => {
  expect(isNarrowed({ q: "seat", user: "ann", record: "mem_1", view: "timeline" })).toBe(false);
  expect(isNarrowed({ tag: ["a"] })).toBe(true);
  expect(isNarrowed({ status: "expired" })).toBe(true);
});
