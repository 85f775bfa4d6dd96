import { Button } from "@heroui/react";
import { useQueryClient } from "@tanstack/react-query";
import { ArrowUp, LayoutList, Rows3, Waypoints } from "lucide-react";
import type { ReactNode } from "react";
import { keys, useReach } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { ORDERS, type MemorySearch, type Tab } from "../../lib/address";
import { useSetSearch } from "../../lib/place";
import { usePreference } from "../../lib/storage";
import { Choice } from "../../parts/Choice";
import { Segments } from "../../parts/Segments";

/** How records are listed. */
export type View = "cards" | "table" | "timeline";

/** The view that the address asks for, or the one that was chosen last. */
export function useView(tab: Tab, search: MemorySearch): View {
  const [chosen] = usePreference<View>("list", "cards");
  if (search.q !== undefined) return "cards";
  return tab === "episodic" && search.view === "timeline" ? "timeline" : chosen;
}

/** How many records there are, how they are ordered and shown, and how many came meanwhile. */
export function ListHeader({
  count,
  isSearching,
  missed,
  children,
}: {
  count: number | undefined;
  isSearching: boolean;
  missed: number;
  children?: ReactNode;
}) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  return (
    <div className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 py-1.5">
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
      {!isSearching && children}
    </div>
  );
}

/** Chooses which records come first; only who looks into the whole workspace may. */
export function OrderChoice({ search }: { search: MemorySearch }) {
  const { t } = useTranslation();
  const { isOperator } = useReach();
  const setSearch = useSetSearch();
  if (!isOperator) return null;
  return (
    <Choice
      label={t("order.label")}
      isLabelHidden
      className="w-auto min-w-36 [&_.select__trigger]:h-8"
      value={search.order ?? "newest"}
      options={ORDERS.map((id) => ({ id, label: t(`order.${id}`) }))}
      onChange={(id) => setSearch({ order: id === "newest" ? undefined : id }, { replace: true })}
    />
  );
}

/** Shows records as cards, as a table or, what happened, under its days. */
export function ViewSwitch({ tab, view }: { tab: Tab; view: View }) {
  const { t } = useTranslation();
  const setSearch = useSetSearch();
  const [, choose] = usePreference<View>("list", "cards");
  const options: [View, ReactNode][] = [
    [
      "cards",
      <>
        <LayoutList aria-hidden />
        <span className="max-sm:sr-only">{t("view.cards")}</span>
      </>,
    ],
    [
      "table",
      <>
        <Rows3 aria-hidden />
        <span className="max-sm:sr-only">{t("view.table")}</span>
      </>,
    ],
  ];
  if (tab === "episodic") {
    options.push([
      "timeline",
      <>
        <Waypoints aria-hidden />
        <span className="max-sm:sr-only">{t("view.timeline")}</span>
      </>,
    ]);
  }
  return (
    <Segments
      value={view}
      options={options}
      onChange={(next) => {
        if (next !== "timeline") choose(next);
        setSearch({ view: next === "timeline" ? next : undefined }, { replace: true });
      }}
    />
  );
}
