import type { InfiniteData, QueryClient } from "@tanstack/react-query";
import type { Record } from "./client";
import { keys, type RecordsPage } from "./queries";

/** Show a changed record in every list that has it, without asking for the lists again. */
export function replaceInLists(queries: QueryClient, record: Record) {
  queries.setQueriesData<InfiniteData<RecordsPage>>({ queryKey: keys.list }, (old) =>
    old === undefined
      ? old
      : {
          ...old,
          pages: old.pages.map((page) =>
            page.items.some((item) => item.id === record.id)
              ? {
                  ...page,
                  items: page.items.map((item) => (item.id === record.id ? record : item)),
                }
              : page,
          ),
        },
  );
}

/** Take records out of every list. */
export function removeFromLists(queries: QueryClient, ids: Set<string>) {
  queries.setQueriesData<InfiniteData<RecordsPage>>({ queryKey: keys.list }, (old) =>
    old === undefined
      ? old
      : {
          ...old,
          pages: old.pages.map((page) => {
            const items = page.items.filter((item) => !ids.has(item.id));
            const gone = page.items.length - items.length;
            return { ...page, items, total: page.total === null ? null : page.total - gone };
          }),
        },
  );
}

interface Waiting {
  id?: string;
  conflict?: { id: string };
}

/** Take what was decided out of what waits, until that is asked for again. */
export function removeFromWaiting(
  queries: QueryClient,
  name: "proposals" | "conflicts" | "quarantine",
  id: string,
) {
  queries.setQueriesData<{ items: Waiting[] }>({ queryKey: [keys.live, name] }, (old) =>
    old === undefined
      ? old
      : { ...old, items: old.items.filter((item) => (item.id ?? item.conflict?.id) !== id) },
  );
}

export function refreshEverything(queries: QueryClient) {
  return Promise.all([
    queries.invalidateQueries({ queryKey: [keys.live] }),
    queries.invalidateQueries({ queryKey: keys.newest }),
    queries.invalidateQueries({ queryKey: keys.list }),
  ]);
}
