import { Button, Kbd, Skeleton } from "@heroui/react";
import { useNavigate } from "@tanstack/react-router";
import { Search, X } from "lucide-react";
import { lazy, memo, Suspense, useEffect, useState } from "react";
import { useTranslation } from "../../i18n";
import type { MemorySearch, Tab } from "../../router";

const Filters = lazy(async () => ({ default: (await import("./Filters")).Filters }));

/** The question box and the filters; all of it stands in the address. */
export const SearchBar = memo(function SearchBar({ tab, search }: { tab: Tab; search: MemorySearch }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [text, setText] = useState(search.q ?? "");
  useEffect(() => setText(search.q ?? ""), [search.q]);

  const set = (changes: Partial<MemorySearch>) =>
    void navigate({
      to: ".",
      search: ((old: MemorySearch) => ({ ...old, ...changes, record: undefined })) as never,
    });
  return (
    <div className="space-y-3">
      <form
        role="search"
        className="relative"
        onSubmit={(event) => {
          event.preventDefault();
          set({ q: text.trim() === "" ? undefined : text.trim() });
        }}
      >
        <Search
          className="text-muted pointer-events-none absolute start-4 top-1/2 size-[18px] -translate-y-1/2"
          aria-hidden
        />
        <input
          data-search-box
          type="search"
          dir="auto"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            if (search.q !== undefined) set({ q: undefined });
            setText("");
            event.currentTarget.blur();
          }}
          aria-label={t("search.label")}
          placeholder={t("search.placeholder")}
          className="border-field-border bg-field placeholder:text-field-placeholder focus:border-accent focus:ring-accent/25 h-12 w-full rounded-2xl border ps-11 pe-12 text-ellipsis sm:pe-24 text-[15px] transition outline-none focus:ring-4 [&::-webkit-search-cancel-button]:hidden"
        />
        <div className="absolute end-3 top-1/2 flex -translate-y-1/2 items-center gap-2">
          {text !== "" && (
            <Button
              isIconOnly
              size="sm"
              variant="ghost"
              aria-label={t("search.clear")}
              onPress={() => {
                setText("");
                set({ q: undefined });
              }}
            >
              <X aria-hidden />
            </Button>
          )}
          <Kbd className="hidden sm:inline-flex">/</Kbd>
        </div>
      </form>
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
        <Skeleton key={place} className="h-9 w-32 shrink-0 rounded-xl" />
      ))}
    </div>
  );
}
