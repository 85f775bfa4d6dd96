import { Button, Drawer } from "@heroui/react";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ArrowUp, LayoutList, Plus, SearchX, Sparkles, Waypoints } from "lucide-react";
import { lazy, useCallback, useEffect, useMemo, useState } from "react";
import { useRecordActions } from "../../api/actions";
import type { Hit, Record } from "../../api/client";
import { isShared } from "../../api/place";
import { keys, useNewest, useReach, useRecall, useRecords } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useMedia } from "../../lib/media";
import { usePlace } from "../../lib/place";
import { useReady } from "../../lib/ready";
import { useKeys } from "../../parts/help";
import { CardSkeletons, EmptyState, Trouble } from "../../parts/feedback";
import { Meter } from "../../parts/Meter";
import { OnDemand } from "../../parts/OnDemand";
import { Page } from "../../parts/Page";
import { ReachNotice } from "../../parts/reach";
import { TABS, type MemorySearch, type Tab } from "../../router";
import { BulkBar } from "./BulkBar";
import { DEMO, DemoNotice, DemoOffer } from "../../parts/demo";
import { HealthPanel } from "./HealthPanel";
import { MoreMenu } from "./MoreMenu";
import { RecordCard, type CardActions } from "./RecordCard";
import { RecordList } from "./RecordList";
import { SearchBar } from "./SearchBar";
import { TabLinks } from "./TabLinks";

const loadEditor = () => import("./RecordEditor");
const loadPanel = () => import("./RecordPanel");
const RecordEditor = lazy(async () => ({ default: (await loadEditor()).RecordEditor }));
const RecordPanel = lazy(async () => ({ default: (await loadPanel()).RecordPanel }));
const ConfirmDelete = lazy(async () => ({ default: (await import("./ConfirmDelete")).ConfirmDelete }));
const ExplainDrawer = lazy(async () => ({ default: (await import("./ExplainDrawer")).ExplainDrawer }));

const TEACHING = `curl "$ORIGIN/v1/records?user=ann" \\
  -H "Content-Type: application/json" \\
  -d '{"content": "Ann prefers window seats"}'`;

/** Everything that is remembered: look, search, correct, delete. */
export function MemoryPage() {
  const { t } = useTranslation();
  const place = usePlace();
  const queries = useQueryClient();
  const reach = useReach();
  const { canWrite } = reach;
  const navigate = useNavigate();
  const params = useParams({ strict: false });
  const search = useSearch({ strict: false }) as MemorySearch;
  const tab = TABS.find((name) => name === params.tab) ?? "all";
  const isWide = useMedia("(min-width: 1180px)");
  const isSearching = search.q !== undefined;
  const isTimeline = tab === "episodic" && search.view === "timeline";

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
  const shown: Record[] = useMemo(
    () => (isSearching ? hits.flatMap((hit) => hit.record ?? []) : records),
    [isSearching, hits, records],
  );

  const [selected, setSelected] = useState<ReadonlyMap<string, Record>>(new Map());
  const [edited, setEdited] = useState<Record | null>(null);
  const [isAdding, setAdding] = useState(false);
  const [explained, setExplained] = useState<Hit | null>(null);
  const [asked, setAsked] = useState<Record[] | null>(null);
  const [visited, setVisited] = useState<Record | null>(null);
  const { remove, undo } = useRecordActions();

  const openRecord = useCallback(
    (id: string | undefined) =>
      void navigate({
        to: ".",
        search: ((old: MemorySearch) => ({ ...old, record: id })) as never,
        replace: search.record !== undefined && id !== undefined,
        resetScroll: false,
      }),
    [navigate, search.record],
  );
  const askToDelete = useCallback(
    (some: Record[]) => {
      // What is shared cannot be brought back by one click, and many are easily too many.
      if (some.length > 1 || some.some(isShared)) setAsked(some);
      else void remove(some);
    },
    [remove],
  );
  const actions = useMemo<CardActions>(
    () => ({
      canWrite,
      onOpen: (record) => {
        setVisited(record);
        openRecord(record.id === search.record ? undefined : record.id);
      },
      onEdit: setEdited,
      onDelete: (record) => askToDelete([record]),
      onUndo: (record) => void undo(record),
      onSelect: (record, isSelected) =>
        setSelected((old) => {
          const next = new Map(old);
          if (isSelected) next.set(record.id, record);
          else next.delete(record.id);
          return next;
        }),
      onTag: (tag) =>
        void navigate({
          to: ".",
          search: ((old: MemorySearch) => ({ ...old, tag: [tag], record: undefined })) as never,
        }),
    }),
    [askToDelete, canWrite, navigate, openRecord, search.record, undo],
  );
  const opened =
    shown.find((record) => record.id === search.record) ??
    (visited !== null && visited.id === search.record ? visited : undefined);
  const selectedIds = useMemo(() => new Set(selected.keys()), [selected]);

  const step = (by: number) => {
    const at = shown.findIndex((record) => record.id === search.record);
    const next = shown[at < 0 ? (by > 0 ? 0 : shown.length - 1) : at + by];
    if (next !== undefined) {
      setVisited(next);
      openRecord(next.id);
    }
  };
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    e: () => canWrite && opened !== undefined && setEdited(opened),
    Escape: () => search.record !== undefined && openRecord(undefined),
  });

  const total = listed.data?.pages[0]?.total;
  const missed = (newest.data?.total ?? 0) - (total ?? newest.data?.total ?? 0);
  const who = useMemo(
    () => ({ user: search.user, agent: search.agent }),
    [search.user, search.agent],
  );
  const isReady = useReady();
  useEffect(() => {
    // A click on a record then opens it at once.
    if (isReady) void Promise.all([loadPanel(), loadEditor()]);
  }, [isReady]);
  const panel = opened !== undefined && (
    <OnDemand isWanted>
      <RecordPanel
        key={opened.id}
        record={opened}
        onClose={() => openRecord(undefined)}
        onEdit={setEdited}
        onDelete={(record) => {
          openRecord(undefined);
          askToDelete([record]);
        }}
        onOpen={(id) => openRecord(id)}
      />
    </OnDemand>
  );

  return (
    <Page
      title={t("nav.memory")}
      lead={t("memory.lead")}
      isReady={isSearching ? !recalled.isPending : !listed.isPending}
      actions={
        <>
          <MoreMenu tab={tab} search={search} found={isSearching ? shown : undefined} />
          {canWrite && (
            <Button onPress={() => setAdding(true)}>
              <Plus aria-hidden />
              {t("memory.add")}
            </Button>
          )}
        </>
      }
    >
      {!reach.isOperator && <ReachNotice />}
      {place.workspace === DEMO && reach.isServer && <DemoNotice />}
      <HealthPanel who={who} />
      <TabLinks tab={tab} />
      <SearchBar tab={tab} search={search} />
      <div className={isWide && panel ? "grid grid-cols-[minmax(0,1fr)_27rem] gap-5" : ""}>
        <div className="min-w-0">
          <div className="flex min-h-13 flex-wrap items-center gap-3 py-3">
            <p className="caption number" aria-live="polite">
              {isSearching
                ? recalled.data !== undefined && t("memory.found", { count: hits.length })
                : typeof total === "number" && t("memory.count", { count: total })}
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
            {tab === "episodic" && !isSearching && <ViewSwitch isTimeline={isTimeline} />}
          </div>
          {selected.size > 0 && (
            <BulkBar
              records={[...selected.values()]}
              canSelectAll={shown.some((record) => !selected.has(record.id))}
              onSelectAll={() => setSelected(new Map(shown.map((record) => [record.id, record])))}
              onClear={() => setSelected(new Map())}
              onDelete={() => askToDelete([...selected.values()])}
            />
          )}
          {isSearching ? (
            results()
          ) : listed.isError ? (
            <Trouble error={listed.error} retry={() => void listed.refetch()} />
          ) : listed.data === undefined ? (
            <CardSkeletons />
          ) : records.length === 0 ? (
            <Nothing tab={tab} search={search} onAdd={() => setAdding(true)} />
          ) : (
            <RecordList
              records={records}
              isTimeline={isTimeline}
              openId={search.record}
              selected={selectedIds}
              actions={actions}
              hasMore={listed.hasNextPage}
              isLoadingMore={listed.isFetchingNextPage}
              loadMore={() => void listed.fetchNextPage()}
            />
          )}
        </div>
        {isWide && panel && (
          <aside className="panel sticky top-4 mt-13 flex max-h-[calc(100dvh-7rem)] flex-col self-start overflow-hidden">
            {panel}
          </aside>
        )}
      </div>
      {!isWide && (
        <Drawer.Backdrop
          isOpen={opened !== undefined}
          onOpenChange={(isOpen) => !isOpen && openRecord(undefined)}
        >
          <Drawer.Content placement="right">
            <Drawer.Dialog aria-label={t("panel.label")} className="w-full max-w-lg p-0">
              {panel}
            </Drawer.Dialog>
          </Drawer.Content>
        </Drawer.Backdrop>
      )}
      <OnDemand isWanted={edited !== null || isAdding}>
        <RecordEditor
          record={edited}
          isNew={isAdding}
          place={place}
          who={who}
          onClose={() => {
            setEdited(null);
            setAdding(false);
          }}
        />
      </OnDemand>
      <OnDemand isWanted={asked !== null}>
        <ConfirmDelete
          records={asked}
          onClose={() => setAsked(null)}
          onConfirm={(reason) => {
            if (asked === null) return;
            void remove(asked, reason);
            setSelected(new Map());
            setAsked(null);
          }}
        />
      </OnDemand>
      <OnDemand isWanted={explained !== null}>
        <ExplainDrawer hit={explained} recalled={recalled.data} onClose={() => setExplained(null)} />
      </OnDemand>
    </Page>
  );

  function results() {
    if (recalled.isError) {
      return <Trouble error={recalled.error} retry={() => void recalled.refetch()} />;
    }
    if (recalled.data === undefined) return <CardSkeletons />;
    if (hits.length === 0) {
      return (
        <EmptyState icon={SearchX} title={t("search.nothing")}>
          {t("search.nothingLead")}
        </EmptyState>
      );
    }
    return (
      <ol className="space-y-3" aria-label={t("search.results")}>
        {hits.map((hit) => (
          <li key={hit.id}>
            {hit.record !== null && (
              <RecordCard
                record={hit.record}
                isOpen={hit.id === search.record}
                isSelected={selectedIds.has(hit.id)}
                words={hit.explanation.matched_terms}
                actions={actions}
                footer={
                  <div className="border-line relative z-10 mt-3 flex items-center gap-3 border-t pt-3">
                    <span className="caption shrink-0">{t("search.match")}</span>
                    <div className="w-28">
                      <Meter value={hit.score} label={t("search.match")} />
                    </div>
                    <span className="caption number">{Math.round(hit.score * 100)}%</span>
                    <span className="flex-1" />
                    <Button size="sm" variant="ghost" onPress={() => setExplained(hit)}>
                      <Sparkles aria-hidden />
                      {t("search.why")}
                    </Button>
                  </div>
                }
              />
            )}
          </li>
        ))}
      </ol>
    );
  }
}

function ViewSwitch({ isTimeline }: { isTimeline: boolean }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const show = (view: string | undefined) =>
    void navigate({
      to: ".",
      search: ((old: MemorySearch) => ({ ...old, view })) as never,
      replace: true,
    });
  return (
    <div role="group" aria-label={t("view.label")} className="bg-default flex rounded-xl p-0.5">
      <Button
        size="sm"
        variant={isTimeline ? "ghost" : "outline"}
        className={isTimeline ? "" : "bg-surface"}
        aria-pressed={!isTimeline}
        onPress={() => show(undefined)}
      >
        <LayoutList aria-hidden />
        {t("view.cards")}
      </Button>
      <Button
        size="sm"
        variant={isTimeline ? "outline" : "ghost"}
        className={isTimeline ? "bg-surface" : ""}
        aria-pressed={isTimeline}
        onPress={() => show("timeline")}
      >
        <Waypoints aria-hidden />
        {t("view.timeline")}
      </Button>
    </div>
  );
}

function Nothing({
  tab,
  search,
  onAdd,
}: {
  tab: Tab;
  search: MemorySearch;
  onAdd: () => void;
}) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { canWrite, isServer } = useReach();
  const isNarrowed = [search.tag, search.category, search.facet, search.since, search.until, search.agent, search.status, search.user].some(
    (value) => value !== undefined,
  );
  if (isNarrowed) {
    return (
      <EmptyState
        icon={SearchX}
        title={t("memory.noneMatch")}
        action={
          <Button
            variant="secondary"
            onPress={() => void navigate({ to: ".", search: { user: search.user } as never })}
          >
            {t("filter.clearAll")}
          </Button>
        }
      >
        {t("memory.noneMatchLead")}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={Sparkles}
      title={t(`empty.${tab}`)}
      example={TEACHING.replace("$ORIGIN", window.location.origin)}
      action={
        <>
          {canWrite && (
            <Button onPress={onAdd}>
              <Plus aria-hidden />
              {t("memory.add")}
            </Button>
          )}
          {isServer && <DemoOffer />}
        </>
      }
    >
      {t(`empty.${tab}Lead`)}
    </EmptyState>
  );
}

