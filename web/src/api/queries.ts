import {
  keepPreviousData,
  queryOptions,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import type { MemorySearch, Place, Tab, Who } from "../lib/address";
import { useReady } from "../lib/ready";
import { answer, api, sendCsrfToken, type Schemas, type Scope } from "./client";
import { ownerOf, SHARED_AGENT, type Owner } from "./place";

/** The first part of a key says how live updates treat it. */
export const keys = {
  live: "live",
  newest: ["newest"],
  list: ["list"],
};

const PAGE = 100;
// The first page is small, because everything waits for it.
const FIRST_PAGE = 40;

export function useHome() {
  return useQuery({ queryKey: ["home"], queryFn: () => answer(api.GET("/v1/scope")) });
}

/** Who is signed in; it also tells the token that writes are sent with. */
export function useWhoAmI() {
  return useQuery({
    queryKey: ["whoami"],
    staleTime: 60_000,
    queryFn: async () => {
      const me = await answer(api.GET("/v1/whoami"));
      sendCsrfToken(me.csrf_token);
      return me;
    },
  });
}

/** What the signed-in key may do, and whose memory it reaches; an empty list means everybody's. */
export interface Reach {
  /** May look into the whole workspace. */
  isOperator: boolean;
  /** May look after the whole server. */
  isServer: boolean;
  canWrite: boolean;
  canDecide: boolean;
  users: string[];
  agents: string[];
}

export const ROLES = ["reader", "writer", "coordinator", "admin"] as const;
export type Role = (typeof ROLES)[number];

export function useReach(): Reach {
  const { data: me } = useWhoAmI();
  const rank = me === undefined ? -1 : ROLES.indexOf(me.role);
  const isAdmin = rank >= ROLES.indexOf("admin");
  const isNarrow = me !== undefined && (me.users.length > 0 || me.agents.length > 0);
  return {
    isOperator: isAdmin && !isNarrow,
    isServer: isAdmin && !isNarrow && me?.workspaces.length === 0,
    canWrite: rank >= ROLES.indexOf("writer"),
    canDecide: rank >= ROLES.indexOf("coordinator"),
    users: me?.users ?? [],
    agents: me?.agents ?? [],
  };
}

/** Name the memory of one person and one agent. */
export function scopeIn(place: Place, who: Who, reach: Reach): Owner {
  const agent = who.agent === SHARED_AGENT ? undefined : who.agent;
  return {
    ...place,
    user: who.user ?? reach.users[0] ?? "-",
    agent: agent ?? reach.agents[0] ?? "-",
  };
}

/** The people or the agents of a workspace; only who looks into all of it is told of them. */
export function useNames(place: Place, what: "users" | "agents") {
  const { isOperator } = useReach();
  const isReady = useReady();
  return useQuery({
    queryKey: [keys.live, what, place],
    enabled: isOperator && isReady,
    queryFn: () =>
      answer(api.GET(`/v1/workspace/${what}`, { params: { query: { ...place, limit: 200 } } })),
  });
}

export function useLabels(place: Place, what: "tags" | "categories", who: Who) {
  const reach = useReach();
  const isReady = useReady();
  return useQuery({
    queryKey: [keys.live, what, place, who, reach],
    enabled: isReady,
    queryFn: () =>
      answer(
        reach.isOperator
          ? api.GET(`/v1/workspace/${what}`, { params: { query: { ...place, ...who, limit: 50 } } })
          : api.GET(`/v1/${what}`, {
              params: { query: { ...scopeIn(place, who, reach), limit: 50 } },
            }),
      ),
  });
}

/** The attributes that records can state, with their labels in both languages. */
export function useFacets(): Schemas["Facet"][] {
  const isReady = useReady();
  const found = useQuery({
    queryKey: ["facets"],
    enabled: isReady,
    staleTime: Infinity,
    queryFn: () => answer(api.GET("/v1/facets", { params: { query: {} } })),
  });
  return found.data?.items ?? [];
}

export function useHealth(place: Place, who: Who) {
  const reach = useReach();
  const isReady = useReady();
  return useQuery({
    queryKey: [keys.live, "health", place, who, reach],
    enabled: isReady,
    queryFn: () =>
      answer(
        reach.isOperator
          ? api.GET("/v1/workspace/health", {
              params: { query: { ...place, ...who, compare: false } },
            })
          : api.GET("/v1/upkeep/health", { params: { query: scopeIn(place, who, reach) } }),
      ),
  });
}

/** What is in every prompt of one person, or of nobody in particular. */
export function useProfile(place: Place, who: Who) {
  const reach = useReach();
  const isReady = useReady();
  return useQuery({
    queryKey: [keys.live, "profile", place, who, reach],
    enabled: isReady,
    queryFn: () =>
      answer(api.GET("/v1/profile", { params: { query: scopeIn(place, who, reach) } })),
  });
}

export function useConflicts(place: Place, who: Who, isWanted: boolean) {
  const reach = useReach();
  return useQuery({
    queryKey: [keys.live, "conflicts", place, who, reach],
    enabled: isWanted,
    queryFn: () =>
      answer(
        reach.isOperator
          ? api.GET("/v1/workspace/conflicts", {
              params: { query: { ...place, ...who, limit: 50 } },
            })
          : api.GET("/v1/upkeep/conflicts", {
              params: { query: { ...scopeIn(place, who, reach), limit: 50 } },
            }),
      ),
  });
}

export function useOpenProposalCount(place: Place): number {
  const { isSuccess } = useWhoAmI();
  const isReady = useReady();
  const reach = useReach();
  const found = useQuery({
    enabled: isSuccess && isReady,
    queryKey: [keys.live, "proposals", place, "pending", "count", reach],
    queryFn: () =>
      answer(
        api.GET("/v1/proposals", {
          params: { query: { ...scopeIn(place, {}, reach), status: "pending", limit: 100 } },
        }),
      ),
  });
  return found.data?.items.length ?? 0;
}

/** Which records a tab and the filters in the address mean. */
export function filtersOf(tab: Tab, search: MemorySearch) {
  const kind = tab === "semantic" || tab === "episodic" || tab === "procedural" ? [tab] : undefined;
  return {
    kind,
    category: search.category === undefined ? undefined : [search.category],
    facet: search.facet === undefined ? undefined : [search.facet],
    tags: search.tag,
    status: search.status === undefined ? undefined : [search.status as "active"],
    since: search.since,
    until: search.until,
  };
}

export function whoOf(tab: Tab, search: Who): Who {
  return { user: search.user, agent: tab === "shared" ? SHARED_AGENT : search.agent };
}

/** A page of records; only who looks into the whole workspace is told how many there are. */
export interface RecordsPage {
  items: Schemas["Record"][];
  next_cursor: string | null;
  total: number | null;
}

/** Ask for the records that a tab and the filters mean, wherever the key may look for them. */
export async function findRecords(
  place: Place,
  tab: Tab,
  search: MemorySearch,
  reach: Reach,
  page: { limit: number; cursor?: string | null },
): Promise<RecordsPage> {
  const who = whoOf(tab, search);
  const filters = filtersOf(tab, search);
  if (reach.isOperator) {
    const query = { ...place, ...who, ...filters, ...page, order: search.order };
    return answer(api.GET("/v1/workspace/records", { params: { query } }));
  }
  const scope = scopeIn(place, who, reach);
  const found = await (tab === "shared"
    ? answer(api.GET("/v1/shared", { params: { query: { ...scope, ...page } } }))
    : answer(api.GET("/v1/records", { params: { query: { ...scope, ...filters, ...page } } })));
  return { ...found, total: null };
}

/** Ask for all records that a tab and the filters mean, up to so many. */
export async function findAll(
  place: Place,
  tab: Tab,
  search: MemorySearch,
  reach: Reach,
  most: number,
): Promise<{ records: Schemas["Record"][]; isWhole: boolean }> {
  const records: Schemas["Record"][] = [];
  let cursor: string | null = null;
  while (records.length < most) {
    const page: RecordsPage = await findRecords(place, tab, search, reach, { limit: 200, cursor });
    records.push(...page.items);
    cursor = page.next_cursor;
    if (cursor === null) return { records, isWhole: true };
  }
  return { records, isWhole: false };
}

export function useRecords(place: Place, tab: Tab, search: MemorySearch) {
  const reach = useReach();
  const queries = useQueryClient();
  const meant = [place, tab, whoOf(tab, search), filtersOf(tab, search), search.order, reach];
  return useInfiniteQuery({
    queryKey: [...keys.list, ...meant],
    initialPageParam: null as string | null,
    queryFn: async ({ pageParam }) => {
      const limit = pageParam === null ? FIRST_PAGE : PAGE;
      const page = await findRecords(place, tab, search, reach, { limit, cursor: pageParam });
      if (pageParam === null) queries.setQueryData([...keys.newest, ...meant], page);
      return page;
    },
    getNextPageParam: (page) => page.next_cursor,
    // A long list would be compared again with every page.
    structuralSharing: false,
  });
}

/** The total, which comes with the list and is asked for again whenever something changes. */
export function useNewest(place: Place, tab: Tab, search: MemorySearch, isListed: boolean) {
  const reach = useReach();
  return useQuery({
    queryKey: [
      ...keys.newest,
      ...[place, tab, whoOf(tab, search), filtersOf(tab, search), search.order, reach],
    ],
    enabled: reach.isOperator && isListed,
    queryFn: () => findRecords(place, tab, search, reach, { limit: 1 }),
    structuralSharing: false,
  });
}

export function useRecall(place: Place, tab: Tab, search: MemorySearch) {
  const reach = useReach();
  const question = search.q ?? "";
  const who = whoOf(tab, search);
  const { since, until, ...filters } = filtersOf(tab, search);
  return useQuery({
    queryKey: [keys.live, "recall", place, who, filters, since, until, question, reach],
    enabled: question !== "",
    // While one types on, what was found stays until the next answer.
    placeholderData: keepPreviousData,
    queryFn: (): Promise<Schemas["Recalled"]> => {
      const body = {
        query: question,
        limit: 30,
        min_score: 0,
        ...filters,
        kind: filters.kind ?? [],
        category: filters.category ?? [],
        facet: filters.facet ?? [],
        tags: filters.tags ?? [],
        status: filters.status ?? [],
        since: since ?? null,
        until: until ?? null,
        owners: ["record" as const],
      };
      return answer(
        reach.isOperator
          ? api.POST("/v1/workspace/recall", { params: { query: { ...place, ...who } }, body })
          : api.POST("/v1/recall", { params: { query: scopeIn(place, who, reach) }, body }),
      ) as Promise<Schemas["Recalled"]>;
    },
  });
}

export function recordQuery(scope: Scope, id: string) {
  return queryOptions({
    queryKey: [keys.live, "record", id],
    queryFn: () =>
      answer(
        api.GET("/v1/records/{record_id}", {
          params: { path: { record_id: id }, query: ownerOf(scope) },
        }),
      ),
  });
}

export function useHistory(scope: Scope, id: string) {
  return useQuery({
    queryKey: [keys.live, "history", id],
    queryFn: () =>
      answer(
        api.GET("/v1/records/{record_id}/history", {
          params: { path: { record_id: id }, query: { ...ownerOf(scope), limit: 100 } },
        }),
      ),
  });
}
