import { Spinner } from "@heroui/react";
import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Record } from "../../api/client";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import type { View } from "./ListHeader";
import { RecordCard, type CardActions } from "./RecordCard";
import { RecordRow, RowHeads } from "./RecordRow";

const CARD_HEIGHT = 96;
const ROW_HEIGHT = 40;
const DAY_HEIGHT = 52;
const SCROLLER = "content";
// What sticks to the top of the page would cover what is scrolled to.
const HEAD = 140;

type Row = { kind: "record"; record: Record } | { kind: "day"; day: string; at: string };

function rowsOf(records: Record[], isTimeline: boolean): Row[] {
  if (!isTimeline) return records.map((record) => ({ kind: "record", record }));
  const rows: Row[] = [];
  let last = "";
  for (const record of records) {
    const at = happenedAt(record);
    const day = new Date(at).toDateString();
    if (day !== last) rows.push({ kind: "day", day, at });
    last = day;
    rows.push({ kind: "record", record });
  }
  return rows;
}

function happenedAt(record: Record): string {
  return (record.kind === "episodic" ? record.timestamp : null) ?? record.first_observed;
}

/**
 * Return the height that the browser told, or the last one known: asking for it would lay out the
 * page at once, with every card that comes into view.
 */
function heightOf(
  element: Element,
  entry: ResizeObserverEntry | undefined,
  virtual: Virtualizer<HTMLElement, Element>,
): number {
  const told = entry?.borderBoxSize[0]?.blockSize;
  if (told !== undefined) return Math.round(told);
  const index = virtual.indexFromElement(element);
  const known = virtual.measurementsCache[index]?.size;
  return known ?? virtual.options.estimateSize(index);
}

/** Records as cards, of which only those in view exist; as a timeline, under their days. */
export function RecordList({
  records,
  view,
  openId,
  selected,
  actions,
  hasMore,
  isLoadingMore,
  loadMore,
}: {
  records: Record[];
  view: View;
  openId?: string;
  selected: ReadonlySet<string>;
  actions: CardActions;
  hasMore: boolean;
  isLoadingMore: boolean;
  loadMore: () => void;
}) {
  const { t } = useTranslation();
  const format = useFormat();
  const isTimeline = view === "timeline";
  const isTable = view === "table";
  const list = useRef<HTMLDivElement>(null);
  const [margin, setMargin] = useState(0);
  const rows = useMemo(() => rowsOf(records, isTimeline), [records, isTimeline]);
  // Each of these moves the list on the page.
  const isEmpty = records.length === 0;
  const hasBar = selected.size > 0;
  useLayoutEffect(() => {
    const scroller = document.getElementById(SCROLLER);
    if (list.current === null || scroller === null) return;
    const top = list.current.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
    setMargin(top + scroller.scrollTop);
  }, [isEmpty, view, hasBar]);
  // The same function while the rows are the same: with another one, every row is placed anew.
  const keyOf = useCallback(
    (index: number) => {
      const row = rows[index];
      return row === undefined ? index : row.kind === "day" ? row.day : row.record.id;
    },
    [rows],
  );
  const virtual = useVirtualizer<HTMLElement, Element>({
    count: rows.length,
    getScrollElement: () => document.getElementById(SCROLLER),
    estimateSize: (index) =>
      rows[index]?.kind === "day" ? DAY_HEIGHT : isTable ? ROW_HEIGHT : CARD_HEIGHT,
    getItemKey: keyOf,
    overscan: 3,
    // Cards are made in a task of their own, not in the one that scrolls, lays out and paints.
    useFlushSync: false,
    measureElement: heightOf,
    scrollMargin: margin,
    gap: view === "cards" ? 8 : 0,
    scrollPaddingStart: HEAD,
    scrollPaddingEnd: 8,
  });
  const shown = virtual.getVirtualItems();
  const lastShown = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && !isLoadingMore && lastShown >= rows.length - 20) loadMore();
  }, [hasMore, isLoadingMore, lastShown, rows.length, loadMore]);

  // Where the keyboard has gone to comes into view.
  const followed = useRef(openId);
  useEffect(() => {
    if (followed.current === openId) return;
    followed.current = openId;
    const index = rows.findIndex((row) => row.kind === "record" && row.record.id === openId);
    if (index >= 0) virtual.scrollToIndex(index, { align: "auto" });
  }, [openId, rows, virtual]);

  return (
    <div ref={list} className={isTable ? "panel overflow-hidden" : ""} role={isTable ? "table" : undefined} aria-label={isTable ? t("memory.list") : undefined}>
      {isTable && (
        <div role="rowgroup">
          <RowHeads />
        </div>
      )}
      <div
        role={isTable ? "rowgroup" : isTimeline ? "group" : "feed"}
        aria-label={t("memory.list")}
        aria-busy={isLoadingMore}
        className="relative"
        style={{ height: virtual.getTotalSize() }}
      >
        {shown.map((item) => {
          const row = rows[item.index];
          if (row === undefined) return null;
          return (
            <div
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              role={isTable ? "presentation" : undefined}
              className={`absolute inset-x-0 top-0 ${isTimeline ? "ps-7" : ""}`}
              style={{ transform: `translateY(${item.start - margin}px)` }}
            >
              {isTimeline && (
                <span aria-hidden className="bg-line absolute inset-y-0 start-[7px] w-px" />
              )}
              {row.kind === "day" ? (
                <h2 className="flex h-13 items-center pt-3 text-sm font-semibold">
                  <span
                    aria-hidden
                    className="bg-episodic ring-background absolute start-[3px] size-[9px] rounded-full ring-4"
                  />
                  {format.longDay(row.at)}
                </h2>
              ) : isTable ? (
                <RecordRow
                  record={row.record}
                  isOpen={row.record.id === openId}
                  isSelected={selected.has(row.record.id)}
                  actions={actions}
                />
              ) : (
                <div className={isTimeline ? "pb-2" : ""}>
                  <RecordCard
                    record={row.record}
                    isOpen={row.record.id === openId}
                    isSelected={selected.has(row.record.id)}
                    actions={actions}
                  />
                </div>
              )}
            </div>
          );
        })}
      </div>
      {isLoadingMore && (
        <div className="flex justify-center py-6">
          <Spinner aria-label={t("status.loading")} />
        </div>
      )}
    </div>
  );
}
