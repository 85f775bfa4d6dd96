import { useCallback, useState } from "react";
import type { Record } from "../../api/client";
import { useSetSearch } from "../../lib/place";

/** The record whose details are shown; the address names it. */
export function useOpenRecord(shown: Record[], id: string | undefined) {
  const setSearch = useSetSearch();
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
  const opened =
    shown.find((record) => record.id === id) ??
    (visited !== null && visited.id === id ? visited : undefined);
  return { opened, open, toggle, step };
}
