import { useInfiniteQuery } from "@tanstack/react-query";
import { answer, api, type Schemas } from "../../api/client";
import { keys, scopeIn, useReach } from "../../api/queries";
import { usePlace } from "../../lib/place";

export type Entry = Schemas["AuditEntry"];
const PAGE = 60;

/** What happened to the memory of a person, newest first; of one action only if named. */
export function usePersonAudit(person: string, agent?: string, action?: string) {
  const place = usePlace();
  const reach = useReach();
  const owner = scopeIn(place, { user: person, agent }, reach);
  return useInfiniteQuery({
    queryKey: [keys.live, "audit", "person", owner, action, reach.isOperator],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam: cursor }) => {
      const page = { limit: PAGE, cursor, action };
      return answer(
        reach.isOperator
          ? api.GET("/v1/workspace/audit", {
              params: { query: { ...place, user: person, agent, ...page } },
            })
          : api.GET("/v1/audit", {
              params: { query: { ...owner, ...page, action: action ?? null } },
            }),
      );
    },
    getNextPageParam: (page) => page.next_cursor,
  });
}

/** The records that an entry names, with their versions. */
export function recordsOf(entry: Entry): string[] {
  const named: unknown = entry.payload["records"];
  if (typeof named === "object" && named !== null) return Object.keys(named);
  return /^(mem|ep|proc)_/.test(entry.target) ? [entry.target] : [];
}

/** The items that a prompt was given. */
export function itemsOf(entry: Entry): { id: string; kind: string }[] {
  const items: unknown = entry.payload["items"];
  if (!Array.isArray(items)) return [];
  return items.flatMap((item: unknown) =>
    Array.isArray(item) && typeof item[0] === "string"
      ? [{ id: item[0], kind: String(item[1]) }]
      : [],
  );
}

/** The writes that an entry is about: its own, or those of its transaction. */
export function writesOf(entry: Entry): string[] {
  if (entry.action === "write") return [entry.target];
  const named: unknown = entry.payload["writes"];
  if (Array.isArray(named)) return named.filter((it) => typeof it === "string");
  return typeof named === "object" && named !== null ? Object.keys(named) : [];
}
