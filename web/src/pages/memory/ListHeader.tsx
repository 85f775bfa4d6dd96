import { Button } from "@heroui/react";
import { useQueryClient } from "@tanstack/react-query";
import { ArrowUp, LayoutList, Waypoints } from "lucide-react";
import type { ReactNode } from "react";
import { keys } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useSetSearch } from "../../lib/place";
import { Segments } from "../../parts/Segments";

/** How many records there are, and how many came while the list was open. */
export function ListHeader({
  count,
  isSearching,
  missed,
  view,
}: {
  count: number | undefined;
  isSearching: boolean;
  missed: number;
  view: ReactNode;
}) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  return (
    <div className="flex min-h-13 flex-wrap items-center gap-3 py-3">
      <p className="caption number" aria-live="polite">
        {count !== undefined && t(isSearching ? "memory.found" : "memory.count", { count })}
      </p>
      {!isSearching && missed > 0 && (
        <Button
          size="sm"
          variant="secondary"
          onPress={() => {
            document.getElementById("content")?.scrollTo({ top: 0 });
            void queries.resetQueries({ queryKey: keys.list });
          }}
        >
          <ArrowUp aria-hidden />
          {t("memory.newer", { count: missed })}
        </Button>
      )}
      <span className="flex-1" />
      {view}
    </div>
  );
}

/** Shows what happened as cards, or under its days. */
export function ViewSwitch({ isTimeline }: { isTimeline: boolean }) {
  const { t } = useTranslation();
  const setSearch = useSetSearch();
  return (
    <Segments
      value={isTimeline ? "timeline" : "cards"}
      options={[
        [
          "cards",
          <>
            <LayoutList aria-hidden />
            {t("view.cards")}
          </>,
        ],
        [
          "timeline",
          <>
            <Waypoints aria-hidden />
            {t("view.timeline")}
          </>,
        ],
      ]}
      onChange={(view) =>
        setSearch({ view: view === "timeline" ? view : undefined }, { replace: true })
      }
    />
  );
}
