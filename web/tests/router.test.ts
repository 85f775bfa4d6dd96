import { expect, test, vi } from "vitest";

vi.hoisted(() => vi.stubGlobal("location", { origin: "http://console.test" }));

const { router } = await import("../src/router");

function found(address: string) {
  const [pathname = "", text = ""] = address.split("?");
  const match = router.matchRoutes(pathname, router.options.parseSearch(text)).at(-1);
  return { page: match?.routeId, params: match?.params, search: match?.search };
}

test("every address leads to its page, with what stands in it", () => {
  const place = { org: "local", workspace: "demo" };
  expect(found("/org/local/ws/demo/memory?q=seat&tag=a&tag=b&user=ann")).toMatchObject({
    page: "/org/$org/ws/$workspace/memory",
    params: place,
    search: { q: "seat", tag: ["a", "b"], user: "ann" },
  });
  expect(found("/org/local/ws/demo/memory/episodic?view=timeline")).toMatchObject({
    page: "/org/$org/ws/$workspace/memory/$tab",
    params: { ...place, tab: "episodic" },
    search: { view: "timeline" },
  });
  expect(found("/org/local/ws/demo/memory/knowledge?passage=1-2").page).toBe(
    "/org/$org/ws/$workspace/memory/knowledge",
  );
  expect(found("/org/local/ws/demo/sessions/a%2Fb?agent=x")).toMatchObject({
    params: { session: "a/b" },
    search: { agent: "x" },
  });
  for (const name of ["sessions", "agents", "approvals", "audit", "metrics", "settings"]) {
    expect(found(`/org/local/ws/demo/${name}`).page).toBe(`/org/$org/ws/$workspace/${name}`);
  }
});

test("an address is written with what its page knows", () => {
  const { href } = router.buildLocation({
    to: "/org/$org/ws/$workspace/audit",
    params: { org: "local", workspace: "研究" },
    search: { target: "mem_1", action: undefined },
  });
  expect(href).toBe(`/org/local/ws/${encodeURIComponent("研究")}/audit?target=mem_1`);
});
