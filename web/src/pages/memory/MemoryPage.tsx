import { Button, Drawer } from "@heroui/react";
import { useParams, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { lazy, useCallback, useEffect, useMemo, useState } from "react";
import type { Hit, Record } from "../../api/client";
import { isShared } from "../../api/place";
import { useReach } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { isNarrowed, TABS, type MemorySearch } from "../../lib/address";
import { useMedia } from "../../lib/media";
import { useCommand } from "../../lib/commands";
import { usePlace, useSetSearch } from "../../lib/place";
import { useReady } from "../../lib/ready";
import { DEMO, DemoNotice } from "../../parts/demo";
import { CardSkeletons, Loaded } from "../../parts/feedback";
import { useKeys } from "../../parts/help";
import { OnDemand } from "../../parts/OnDemand";
import { Page } from "../../parts/Page";
import { ReachNotice } from "../../parts/reach";
import { useRecordActions } from "./actions";
import { BulkBar } from "./BulkBar";
import { FirstMemory } from "./FirstMemory";
import { HealthPanel } from "./HealthPanel";
import { ListHeader, ViewSwitch } from "./ListHeader";
import { MoreMenu } from "./MoreMenu";
import { NoRecords } from "./NoRecords";
import { useOpenRecord } from "./opened";
import { ProfilePanel } from "./ProfilePanel";
import type { CardActions } from "./RecordCard";
import { RecordList } from "./RecordList";
import { SearchBar } from "./SearchBar";
import { SearchResults } from "./SearchResults";
import { useShown } from "./shown";
import { TabLinks } from "./TabLinks";

const loadEditor = () => import("./RecordEditor");
const loadPanel = () => import("./RecordPanel");
const RecordEditor = lazy(async () => ({ default: (await loadEditor()).RecordEditor }));
const RecordPanel = lazy(async () => ({ default: (await loadPanel()).RecordPanel }));
const ConfirmDelete = lazy(async () => ({
  default: (await import("./ConfirmDelete")).ConfirmDelete,
}));
const ExplainDrawer = lazy(async () => ({
  default: (await import("./ExplainDrawer")).ExplainDrawer,
}));

/** Everything that is remembered: look, search, correct, delete. */
export function MemoryPage() {
  const { t } = useTranslation();
  const place = usePlace();
  const reach = useReach();
  const { canWrite } = reach;
  const setSearch = useSetSearch();
  const params = useParams({ strict: false });
  const search: MemorySearch = useSearch({ strict: false });
  const tab = TABS.find((name) => name === params.tab) ?? "all";
  const isWide = useMedia("(min-width: 1180px)");
  const isSearching = search.q !== undefined;
  const isTimeline = tab === "episodic" && search.view === "timeline";

  const { listed, recalled, records, hits, shown, total, missed } = useShown(place, tab, search);
  const { opened, open, toggle, step } = useOpenRecord(shown, search.record);

  const [selected, setSelected] = useState<ReadonlyMap<string, Record>>(new Map());
  const [edited, setEdited] = useState<Record | null>(null);
  const [isAdding, setAdding] = useState(false);
  const [explained, setExplained] = useState<Hit | null>(null);
  const [asked, setAsked] = useState<Record[] | null>(null);
  const { remove, undo } = useRecordActions();

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
      onOpen: toggle,
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
      onTag: (tag) => setSearch({ tag: [tag], record: undefined }),
    }),
    [askToDelete, canWrite, setSearch, toggle, undo],
  );
  const selectedIds = useMemo(() => new Set(selected.keys()), [selected]);

  useCommand("add", () => setAdding(true));
  const isEmpty = tab === "all" && !isSearching && listed.isSuccess && records.length === 0;
  // The ways to begin then have the page for themselves.
  const isBeginning =
    isEmpty && reach.isServer && search.user === undefined && !isNarrowed(search);
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    e: () => canWrite && opened !== undefined && setEdited(opened),
    Escape: () => search.record !== undefined && open(undefined),
  });

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
        onClose={() => open(undefined)}
        onEdit={setEdited}
        onDelete={(record) => {
          open(undefined);
          askToDelete([record]);
        }}
        onOpen={open}
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
      {!isBeginning && <HealthPanel who={who} />}
      {tab === "all" && !isSearching && (
        <ProfilePanel who={who} onOpen={toggle} onEdit={setEdited} />
      )}
      <FirstMemory isEmpty={isEmpty} />
      <TabLinks tab={tab} />
      {!isBeginning && <SearchBar tab={tab} search={search} />}
      <div className={isWide && panel ? "grid grid-cols-[minmax(0,1fr)_27rem] gap-5" : ""}>
        <div className="min-w-0">
          {!isBeginning && (
            <ListHeader
              count={isSearching ? recalled.data && hits.length : total}
              isSearching={isSearching}
              missed={missed}
              view={tab === "episodic" && !isSearching && <ViewSwitch isTimeline={isTimeline} />}
            />
          )}
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
            <Loaded query={recalled} waiting={<CardSkeletons />}>
              {() => (
                <SearchResults
                  hits={hits}
                  openId={search.record}
                  selected={selectedIds}
                  actions={actions}
                  onExplain={setExplained}
                />
              )}
            </Loaded>
          ) : (
            <Loaded query={listed} waiting={<CardSkeletons />}>
              {() =>
                records.length === 0 ? (
                  <NoRecords tab={tab} search={search} onAdd={() => setAdding(true)} />
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
                )
              }
            </Loaded>
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
          onOpenChange={(isOpen) => !isOpen && open(undefined)}
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
        <ExplainDrawer
          hit={explained}
          recalled={recalled.data}
          onClose={() => setExplained(null)}
        />
      </OnDemand>
    </Page>
  );
}
