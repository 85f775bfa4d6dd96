import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { reconnected } from "../lib/connection";
import { keys, scopeIn, type Reach } from "./queries";
import { usePlace, useWho } from "../lib/place";

const GATHER_MS = 400;
const SHORT_PAGES = 2;

/** Follow what changes in the workspace, and let pages show it. Returns whether it is connected. */
export function useLiveChanges(isWanted: boolean, reach: Reach): boolean {
  const place = usePlace();
  const scope = scopeIn(place, useWho(), reach);
  const address = reach.isOperator
    ? `/v1/workspace/events?${new URLSearchParams({ ...place })}`
    : `/v1/events?${new URLSearchParams({ ...scope })}`;
  const queries = useQueryClient();
  const [isLive, setLive] = useState(false);
  useEffect(() => {
    if (!isWanted) return;
    const events = new EventSource(address);
    let timer: number | undefined;
    const refresh = () => {
      timer = undefined;
      void queries.invalidateQueries({
        queryKey: [keys.live],
      });
      void queries.invalidateQueries({ queryKey: keys.newest });
      // A short list is asked for again; in a long one a button offers what is new.
      void queries.invalidateQueries({
        queryKey: keys.list,
        predicate: ({ state }) => {
          const data = state.data as { pages: unknown[] } | undefined;
          return (data?.pages.length ?? 0) <= SHORT_PAGES;
        },
      });
    };
    events.addEventListener("ready", () => setLive(true));
    events.addEventListener("change", () => {
      timer ??= window.setTimeout(refresh, GATHER_MS);
    });
    events.onerror = () => {
      setLive(false);
      void reconnected();
    };
    return () => {
      window.clearTimeout(timer);
      events.close();
    };
  }, [address, queries, isWanted]);
  return isLive;
}
