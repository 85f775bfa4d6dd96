import { expect, test } from "vitest";
import type { Record } from "../src/api/client";
import { changesOf, draftOf, EMPTY, rebased } from "../src/pages/memory/draft";

const record = {
  kind: "semantic",
  title: "",
  content: "Ann prefers window seats",
  category: "preference",
  facet: "seat",
  about: "user",
  tags: ["travel"],
  confidence: 0.9,
} as Record;

test("only what was changed is sent", () => {
  const before = draftOf(record);
  expect(changesOf(before, before)).toEqual({});
  expect(changesOf(before, { ...before, confidence: "75", tags: "travel，train, " })).toEqual({
    confidence: 0.75,
    tags: ["travel", "train"],
  });
  expect(changesOf(before, { ...before, tags: "train" }, ["unseen"]).tags).toEqual([
    "train",
    "unseen",
  ]);
});

test("new words are sent with the attribute that is chosen beside them", () => {
  const before = draftOf(record);
  const reworded = { content: "Ann prefers aisle seats" };
  expect(changesOf(before, { ...before, ...reworded })).toEqual({
    ...reworded,
    facet: "seat",
    about: "user",
  });
  const unknown = draftOf({ ...record, facet: "", about: "" });
  expect(changesOf(unknown, { ...unknown, ...reworded })).toEqual(reworded);
  expect(changesOf(EMPTY, { ...EMPTY, content: "x" })).toEqual({ content: "x" });
});

test("one's own changes go on top of what somebody else saved", () => {
  const before = draftOf(record);
  const theirs = { ...record, content: "Ann prefers aisle seats", category: "travel" };
  const mine = { ...before, tags: "train", reason: "she said so" };
  expect(rebased(theirs, before, mine)).toEqual({
    ...draftOf(theirs),
    tags: "train",
    reason: "she said so",
  });
});
