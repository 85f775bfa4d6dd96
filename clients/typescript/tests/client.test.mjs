// Runs against the server that RECOLLECT_URL names, in a workspace of its own.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Recollect, RecollectError, Unreachable } from "../dist/index.js";

const url = process.env.RECOLLECT_URL;
const workspace = process.env.RECOLLECT_WORKSPACE ?? "typescript";
const ann = new Recollect({ url, workspace, user: "ann" });

test("what is remembered is recalled, in both languages", async () => {
  const saved = await ann.remember("Ann keeps twelve hives", { tags: ["bees"] });
  await ann.remember("小明对花生过敏");
  const bees = await ann.recall("How many hives?", { min_score: 0 });
  assert.equal(bees.hits[0].record.id, saved.id);
  const food = await ann.recall("对什么过敏？", { min_score: 0 });
  assert.match(food.hits[0].record.content, /花生/);
  assert.deepEqual((await ann.get(saved.id)).tags, ["bees"]);
});

test("scopes do not leak", async () => {
  const bob = ann.in({ user: "bob" });
  const found = await bob.recall("hives", { min_score: 0 });
  assert.deepEqual(found.hits, []);
  assert.deepEqual((await bob.list()).items, []);
});

test("a record is changed, deleted and restored", async () => {
  const { id } = await ann.remember("The door code is old");
  const changed = await ann.update(id, { content: "The door code is new", expected_version: 1 });
  assert.equal(changed.version, 2);
  await ann.delete(id);
  await assert.rejects(ann.get(id), (it) => it instanceof RecollectError && it.code === "deleted");
  await ann.undo(id);
  const versions = (await ann.history(id)).items;
  assert.deepEqual(
    versions.map((it) => it.record.content).slice(0, 2),
    ["The door code is old", "The door code is new"],
  );
});

test("a change of an old version tells which one is stored", async () => {
  const { id } = await ann.remember("version one");
  await ann.update(id, { content: "version two" });
  await assert.rejects(ann.update(id, { content: "three", expected_version: 1 }), (it) => {
    assert.equal(it.status, 409);
    assert.equal(it.currentVersion, 2);
    return true;
  });
});

test("messages are stored once under an idempotency key", async () => {
  const said = [{ role: "user", content: "I moved to Basel" }];
  const first = await ann.observe(said, "s-1", { idempotencyKey: "the-same" });
  const again = await ann.observe(said, "s-1", { idempotencyKey: "the-same" });
  assert.deepEqual(first, again);
  const turns = await ann.request("get", "/v1/turns", { query: { session: "s-1" } });
  assert.equal(turns.items.length, 1);
});

test("a prompt gets what is remembered", async () => {
  const context = await ann.context("How many hives does Ann keep?", { min_score: 0 });
  assert.match(JSON.stringify(context), /twelve hives/);
});

test("a busy server is asked again, with the same key", async () => {
  const keys = [];
  const busyTwice = async (address, init) => {
    keys.push(init.headers.get("Idempotency-Key"));
    return keys.length < 3
      ? new Response("{}", { status: 503, headers: { "Retry-After": "0" } })
      : fetch(address, init);
  };
  const patient = new Recollect({ url, workspace, user: "carl", fetch: busyTwice });
  await patient.remember("Carl is patient");
  assert.equal(new Set(keys).size, 1);
  assert.equal((await patient.list()).items.length, 1);
  const hasty = new Recollect({ url, fetch: async () => new Response("{}", { status: 503 }), retries: 0 });
  await assert.rejects(hasty.list(), (it) => it.status === 503);
});

test("errors say what happened and what to do", async () => {
  await assert.rejects(ann.remember(" "), (it) => {
    assert.equal(it.code, "empty_text");
    return it instanceof RecollectError;
  });
  const nowhere = new Recollect({ url: "http://127.0.0.1:9" });
  await assert.rejects(nowhere.list(), Unreachable);
  const stopped = new AbortController();
  stopped.abort();
  const asked = ann.request("get", "/v1/records", { signal: stopped.signal });
  await assert.rejects(asked, { name: "AbortError" });
});

test("a forgotten record leaves no trace", async () => {
  const { id } = await ann.remember("a secret of Ann");
  await ann.forget({ records: [id] });
  await assert.rejects(ann.get(id), (it) => it.status === 404);
});
