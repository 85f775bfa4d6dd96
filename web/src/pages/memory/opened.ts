import { useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import type { Record } from "../../api/client";
import { recordQuery, scopeIn, useReach } from "../../api/queries";
import { usePlace, useSetSearch, useWho } from "../../lib/place";

const named = (name: string) => (name === "-" ? null : name);

/** The record whose details are shown; the address names it. */
export function useOpenRecord(shown: Record[], id: string | undefined, isListed: boolean) {
  const setSearch = useSetSearch();
  const place = usePlace();
  const { user, agent } = scopeIn(place, useWho(), useReach());
  // It stays open when the list no longer has it.
  const [visited, setVisited] = useState<Record | null>(null);
  const open = useCallback(
    (next: string | undefined) =>
      setSearch(
        { record: next },
        { replace: id !== undefined && next !== undefined, resetScroll: false },
      ),
    [setSearch, id],
  );
  const toggle = useCallback(
    (record: Record) => {
      setVisited(record);
      open(record.id === id ? undefined : record.id);
    },
    [open, id],
  );
  /** Go to the record that stands so many places further in the list. */
  const step = (by: number) => {
    const at = shown.findIndex((record) => record.id === id);
    const next = shown[at < 0 ? (by > 0 ? 0 : shown.length - 1) : at + by];
    if (next === undefined) return;
    setVisited(next);
    open(next.id);
  };
  const known =
    shown.find((record) => record.id === id) ??
    (visited !== null && visited.id === id ? visited : undefined);
  // An address may name one that stands far down in the list.
  const scope = known?.scope ?? { ...place, user: named(user), agent: named(agent) };
  const asked = useQuery({
    ...recordQuery(scope, id ?? ""),
    enabled: id !== undefined && known === undefined && isListed,
    retry: false,
  });
  const opened = known ?? (id === undefined ? undefined : asked.data);
  return { opened, open, toggle, step };
}
