import { QueryClient } from "@tanstack/react-query";
import { afterEach, expect, test, vi } from "vitest";
import type { Record, Scope } from "../src/api/client";

// The client takes both when it is made.
const fetched = vi.hoisted(() => {
  const stub = vi.fn<(request: Request) => Promise<Response>>();
  vi.stubGlobal("location", { origin: "http://console.test" });
  vi.stubGlobal("fetch", stub);
  return stub;
});

const { removeFromLists, replaceInLists } = await import("../src/api/cache");
const { answer, api, ApiProblem, onSignedOut, sendCsrfToken, Unreachable } =
  await import("../src/api/client");
const { forget } = await import("../src/api/forgetting");
const { ownerOfCollection } = await import("../src/api/knowledge");
const { faceOf, ownerOf } = await import("../src/api/place");
const { filtersOf, keys, scopeIn, whoOf } = await import("../src/api/queries");

const owner = { org: "local", workspace: "demo", agent: "-", user: "ann" };

afterEach(() => {
  fetched.mockReset();
  sendCsrfToken(null);
  onSignedOut(() => undefined);
});

const json = (body: unknown, status = 200) =>
  fetched.mockResolvedValueOnce(Response.json(body, { status }));

test("what the server answers is returned", async () => {
  json({ items: [{ name: "seat" }] });
  const found = await answer(api.GET("/v1/tags", { params: { query: { ...owner, limit: 5 } } }));
  expect(found).toEqual({ items: [{ name: "seat" }] });
  const [request] = fetched.mock.calls[0] ?? [];
  expect(request?.url).toContain("/v1/tags?");
  expect(request?.url).toContain("user=ann");
  expect(request?.headers.get("X-CSRF-Token")).toBeNull();
});

test("a refusal is a problem with its code and its hint", async () => {
  const told = {
    detail: "No such record",
    code: "not_found",
    hint: "List them",
    current_version: 3,
  };
  json(told, 404);
  const asked = answer(api.GET("/v1/scope"));
  await expect(asked).rejects.toMatchObject({
    message: "No such record",
    status: 404,
    code: "not_found",
    hint: "List them",
    currentVersion: 3,
  });
  await expect(asked).rejects.toBeInstanceOf(ApiProblem);
});

test("a refusal that is no JSON is a problem all the same", async () => {
  fetched.mockResolvedValueOnce(new Response("Bad gateway", { status: 502 }));
  await expect(answer(api.GET("/v1/scope"))).rejects.toMatchObject({
    status: 502,
    code: "unexpected",
  });
});

test("a server that is away is told apart from one that refuses", async () => {
  fetched.mockRejectedValueOnce(new TypeError("Failed to fetch"));
  await expect(answer(api.GET("/v1/scope"))).rejects.toBeInstanceOf(Unreachable);
});

test("whoever is signed out is asked for a key", async () => {
  const asked = vi.fn();
  onSignedOut(asked);
  json({ detail: "Sign in" }, 401);
  await expect(answer(api.GET("/v1/scope"))).rejects.toBeInstanceOf(ApiProblem);
  expect(asked).toHaveBeenCalledOnce();
});

test("a write shows that this page sent it, and is JSON without a body, too", async () => {
  sendCsrfToken("token");
  json({});
  await answer(api.POST("/v1/sign-out"));
  const [request] = fetched.mock.calls[0] ?? [];
  expect(request?.headers.get("X-CSRF-Token")).toBe("token");
  expect(request?.headers.get("Content-Type")).toBe("application/json");
});

/** A stream that arrives in pieces of a few bytes, through the middle of lines and characters. */
function streamOf(text: string): Response {
  const bytes = new TextEncoder().encode(text);
  return new Response(
    new ReadableStream<Uint8Array>({
      start(stream) {
        for (let at = 0; at < bytes.length; at += 7) stream.enqueue(bytes.slice(at, at + 7));
        stream.close();
      },
    }),
  );
}

test("forgetting tells how far it is, and ends with the proof", async () => {
  const steps = [
    { progress: { done: 1, total: 2 } },
    { progress: { done: 2, total: 2 } },
    { forgotten: { forget_id: "安娜", counts: { records: 2 } } },
  ];
  fetched.mockResolvedValueOnce(streamOf(steps.map((step) => JSON.stringify(step)).join("\n")));
  const told: number[] = [];
  const proof = await forget(owner, { user: "ann" }, ({ done }) => told.push(done));
  expect(told).toEqual([1, 2]);
  expect(proof).toEqual({ forget_id: "安娜", counts: { records: 2 } });
});

test("forgetting that fails or breaks off is not taken for done", async () => {
  const problem = { detail: "Busy", code: "busy", hint: "", status: 503 };
  fetched.mockResolvedValueOnce(streamOf(`${JSON.stringify({ problem })}\n`));
  await expect(forget(owner, {}, () => undefined)).rejects.toMatchObject({
    code: "busy",
    status: 503,
  });
  fetched.mockResolvedValueOnce(streamOf('{"progress": {"done": 1, "total": 2}}\n'));
  await expect(forget(owner, {}, () => undefined)).rejects.toBeInstanceOf(Unreachable);
});

const scope = (agent: string | null, user: string | null): Scope => ({
  org: "local",
  workspace: "demo",
  agent,
  user,
});
const record = (id: string, agent: string | null = null) =>
  ({ id, kind: "episodic", scope: scope(agent, "ann"), content: id }) as Record;

test("addresses name owners, with a dash for none", () => {
  expect(ownerOf(scope(null, null))).toEqual({
    org: "local",
    workspace: "demo",
    agent: "-",
    user: "-",
  });
  expect(ownerOf(scope("*shared", null)).agent).toBe("-");
  expect(faceOf(record("a", "*shared"))).toBe("shared");
  expect(faceOf(record("a"))).toBe("episodic");
  expect(ownerOfCollection(scope("*kb:docs@me@home", null)).agent).toBe("me@home");
  expect(ownerOfCollection(scope("*kb:docs", "ann"))).toMatchObject({ agent: "-", user: "ann" });
});

test("a key that reaches some sees the first of them unless another is named", () => {
  const place = { org: "local", workspace: "demo" };
  const reach = {
    isOperator: false,
    isServer: false,
    canWrite: false,
    canDecide: false,
    users: ["ann", "ben"],
    agents: [],
  };
  expect(scopeIn(place, {}, reach)).toEqual({ ...place, user: "ann", agent: "-" });
  expect(scopeIn(place, { user: "ben", agent: "*shared" }, reach)).toEqual({
    ...place,
    user: "ben",
    agent: "-",
  });
});

test("a tab and the filters ask for some records", () => {
  expect(filtersOf("episodic", { category: "trip", tag: ["a"] })).toMatchObject({
    kind: ["episodic"],
    category: ["trip"],
    tags: ["a"],
    status: undefined,
  });
  expect(filtersOf("shared", {}).kind).toBeUndefined();
  expect(whoOf("shared", { user: "ann" })).toEqual({ user: "ann", agent: "*shared" });
});

test("a changed or deleted record is shown so in every list that has it", () => {
  const queries = new QueryClient();
  const page = { items: [record("a"), record("b")], next_cursor: null, total: 2 };
  const other = { items: [record("c")], next_cursor: null, total: null };
  queries.setQueryData([...keys.list, 1], { pages: [page, other], pageParams: [null, null] });
  replaceInLists(queries, { ...record("b"), content: "new" });
  removeFromLists(queries, new Set(["a", "c"]));
  expect(queries.getQueryData([...keys.list, 1])).toMatchObject({
    pages: [
      { items: [{ id: "b", content: "new" }], total: 1 },
      { items: [], total: null },
    ],
  });
});
