import { Button, Drawer } from "@heroui/react";
import { useParams, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useCallback, useEffect, useMemo, useState } from "react";
import type { Hit, Record } from "../../api/client";
import { isShared } from "../../api/place";
import { findAll, useReach } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { isNarrowed, TABS, type MemorySearch } from "../../lib/address";
import { useMedia } from "../../lib/media";
import { useCommand } from "../../lib/commands";
import { usePlace, useSetSearch } from "../../lib/place";
import { useReady } from "../../lib/ready";
import { DEMO, DemoNotice } from "../../parts/demo";
import { CardSkeletons, Loaded } from "../../parts/feedback";
import { useKeys } from "../../parts/help";
import { lazyPart } from "../../parts/lazyPart";
import { OnDemand } from "../../parts/OnDemand";
import { Page } from "../../parts/Page";
import { ReachNotice } from "../../parts/reach";
import { useRecordActions } from "./actions";
import { BulkBar } from "./BulkBar";
import { FirstMemory } from "./FirstMemory";
import { HealthPanel } from "./HealthPanel";
import { ListHeader, OrderChoice, useView, ViewSwitch } from "./ListHeader";
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
const RecordEditor = lazyPart(async () => (await loadEditor()).RecordEditor);
const RecordPanel = lazyPart(async () => (await loadPanel()).RecordPanel);
const ConfirmDelete = lazyPart(async () => (await import("./ConfirmDelete")).ConfirmDelete);
const ExplainDrawer = lazyPart(async () => (await import("./ExplainDrawer")).ExplainDrawer);

const MOST_SELECTED = 10_000;

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
  const view = useView(tab, search);

  const { listed, recalled, records, hits, shown, total, missed } = useShown(place, tab, search);
  const isListed = isSearching ? recalled.isSuccess : listed.isSuccess;
  const { opened, open, toggle, step } = useOpenRecord(shown, search.record, isListed);

  const [selected, setSelected] = useState<ReadonlyMap<string, Record>>(new Map());
  const [edited, setEdited] = useState<Record | null>(null);
  const [isAdding, setAdding] = useState(false);
  const [explained, setExplained] = useState<Hit | null>(null);
  const [asked, setAsked] = useState<Record[] | null>(null);
  const { remove, undo } = useRecordActions();

  const askToDelete = useCallback(
    (some: Record[]) => {
      // What is shared is taken from everybody, and many are easily too many.
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
  const everything = useCallback(
    () => findAll(place, tab, search, reach, MOST_SELECTED),
    [place, tab, search, reach],
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
      aside={
        isWide && panel ? (
          <aside className="border-line bg-surface sticky top-0 flex h-[calc(100dvh-3.5rem)] w-[27rem] shrink-0 flex-col overflow-hidden border-s">
            {panel}
          </aside>
        ) : undefined
      }
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
      <HealthPanel who={who} isBeginning={isBeginning} />
      {tab === "all" && !isSearching && (
        <ProfilePanel who={who} onOpen={toggle} onEdit={setEdited} />
      )}
      <FirstMemory isEmpty={isEmpty} />
      <TabLinks tab={tab} />
      {!isBeginning && (
        <div className="bg-background top-0 z-20 -mx-4 sm:sticky px-4 pt-1 sm:-mx-6 sm:px-6">
          <SearchBar tab={tab} search={search} />
          {selected.size > 0 ? (
            <BulkBar
              records={[...selected.values()]}
              shown={shown}
              total={isSearching ? undefined : total}
              onSelect={(records) => setSelected(new Map(records.map((it) => [it.id, it])))}
              everything={everything}
              onDelete={() => askToDelete([...selected.values()])}
            />
          ) : (
            <ListHeader
              count={isSearching ? recalled.data && hits.length : total}
              isSearching={isSearching}
              missed={missed}
            >
              <OrderChoice search={search} />
              <ViewSwitch tab={tab} view={view} />
            </ListHeader>
          )}
        </div>
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
                view={view}
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
