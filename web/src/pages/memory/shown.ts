import { useMemo } from "react";
import { useNewest, useRecall, useRecords } from "../../api/queries";
import type { MemorySearch, Place, Tab } from "../../lib/address";

/** The records of a tab: its list or, where a question is asked, what the question found. */
export function useShown(place: Place, tab: Tab, search: MemorySearch) {
  const listed = useRecords(place, tab, search);
  const newest = useNewest(place, tab, search, listed.isSuccess);
  const recalled = useRecall(place, tab, search);
  const records = useMemo(
    () => listed.data?.pages.flatMap((page) => page.items) ?? [],
    [listed.data],
  );
  const hits = useMemo(
    () => (recalled.data?.hits ?? []).filter((hit) => hit.record !== null),
    [recalled.data],
  );
  const isSearching = search.q !== undefined;
  const shown = useMemo(
    () => (isSearching ? hits.flatMap((hit) => hit.record ?? []) : records),
    [isSearching, hits, records],
  );
  const total = listed.data?.pages[0]?.total ?? undefined;
  const known = newest.data?.total ?? 0;
  return { listed, recalled, records, hits, shown, total, missed: known - (total ?? known) };
}
