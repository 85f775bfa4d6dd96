import { Skeleton } from "@heroui/react";
import { memo, Suspense } from "react";
import { useTranslation } from "../../i18n";
import type { MemorySearch, Tab } from "../../lib/address";
import { useSetSearch } from "../../lib/place";
import { lazyPart } from "../../parts/lazyPart";
import { SearchBox } from "../../parts/SearchBox";

const Filters = lazyPart(async () => (await import("./Filters")).Filters);

/** The question box and the filters; all of it stands in the address. */
export const SearchBar = memo(function SearchBar({
  tab,
  search,
}: {
  tab: Tab;
  search: MemorySearch;
}) {
  const { t } = useTranslation();
  const setSearch = useSetSearch();
  const set = (changes: MemorySearch) => setSearch({ ...changes, record: undefined });
  return (
    <div className="space-y-2">
      <SearchBox
        isInstant
        question={search.q}
        onSearch={(q, isTyping = false) =>
          setSearch({ q, record: undefined }, { replace: isTyping && search.q !== undefined })
        }
        label={t("search.label")}
        placeholder={t("search.placeholder")}
      />
      <Suspense fallback={<FilterPlaces />}>
        <Filters tab={tab} search={search} set={set} />
      </Suspense>
    </div>
  );
});

/** The row of filters before they are loaded, so that nothing jumps. */
function FilterPlaces() {
  return (
    <div className="flex gap-2 overflow-hidden py-0.5" aria-hidden>
      {Array.from({ length: 5 }, (_, place) => (
        <Skeleton key={place} className="h-8 w-28 shrink-0 rounded-xl" />
      ))}
    </div>
  );
}
