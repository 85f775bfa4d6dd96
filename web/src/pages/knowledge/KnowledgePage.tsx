import { Button, Kbd, toast } from "@heroui/react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Database, FileStack, FileX2, Library, Plus, Search, SearchX, X } from "lucide-react";
import { useEffect, useState } from "react";
import { answer, api } from "../../api/client";
import {
  ownerOfCollection,
  passagesQuery,
  useCollections,
  useDocuments,
  type Document,
} from "../../api/knowledge";
import { keys, scopeIn, useReach } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../lib/format";
import { usePlace, useWho } from "../../lib/place";
import { CardSkeletons, EmptyState, Trouble, useTellTrouble } from "../../parts/feedback";
import { Dialog } from "../../parts/Dialog";
import { Field } from "../../parts/Field";
import { Page } from "../../parts/Page";
import { ReachNotice } from "../../parts/reach";
import { Tile } from "../../parts/Tile";
import type { KnowledgeSearch } from "../../router";
import { DemoNotice } from "../../parts/demo";
import { TabLinks } from "../memory/TabLinks";
import { DocumentList } from "./DocumentList";
import { DocumentView } from "./DocumentView";
import { DropZone, UploadList } from "./DropZone";
import { PassageList } from "./PassageList";
import { useUploads } from "./uploads";

const DEFAULT_COLLECTION = "documents";

/** The documents that agents can rely on: add, look into, test the search, delete. */
export function KnowledgePage() {
  const { t } = useTranslation();
  const format = useFormat();
  const place = usePlace();
  const who = useWho();
  const reach = useReach();
  const owner = scopeIn(place, who, reach);
  const search = useSearch({ strict: false }) as KnowledgeSearch;
  const navigate = useNavigate();
  const queries = useQueryClient();
  const tellTrouble = useTellTrouble();
  const collections = useCollections(owner);
  const { uploads, add, stop, clear } = useUploads();
  const [asked, setAsked] = useState<Document | null>(null);
  const [isNaming, setNaming] = useState(false);

  const set = (changes: Partial<KnowledgeSearch>) =>
    void navigate({
      to: ".",
      search: ((old: KnowledgeSearch) => ({ ...old, passage: undefined, ...changes })) as never,
      resetScroll: false,
    });
  const known = collections.data?.items ?? [];
  const names = [...new Set([...known.map((it) => it.name), ...(search.collection === undefined ? [] : [search.collection])])];
  const sum = (of: "documents" | "chunks" | "bytes" | "failed") =>
    collections.data && known.reduce((all, it) => all + it[of], 0);
  const total = sum("documents");
  const failed = sum("failed");
  const isEmpty = total === 0 && search.document === undefined;
  const shown = known.some((it) => it.name === search.collection) ? search.collection : undefined;

  const retry = async (document: Document) => {
    try {
      const read = await answer(
        api.POST("/v1/knowledge/documents/{document_id}/retry", {
          params: { path: { document_id: document.id }, query: ownerOfCollection(document.scope) },
        }),
      );
      if (read.error !== "") toast.danger(read.error);
      else toast.success(t("knowledge.readAgain", { name: read.title }));
    } catch (error) {
      tellTrouble(error);
    }
    await queries.invalidateQueries({ queryKey: [keys.live] });
  };
  const remove = async (document: Document) => {
    setAsked(null);
    try {
      await answer(
        api.DELETE("/v1/knowledge/documents/{document_id}", {
          params: { path: { document_id: document.id }, query: ownerOfCollection(document.scope) },
        }),
      );
      if (search.document === document.id) set({ document: undefined });
      toast.success(t("knowledge.deleted", { name: document.title }));
    } catch (error) {
      tellTrouble(error);
    }
    await queries.invalidateQueries({ queryKey: [keys.live] });
  };
  const changes = { onRetry: (document: Document) => void retry(document), onDelete: setAsked };
  const drop = reach.canWrite && (
    <>
      <DropZone
        isLarge={isEmpty}
        lead={t(who.user === undefined ? "knowledge.dropFor" : "knowledge.dropForUser", {
          collection: search.collection ?? DEFAULT_COLLECTION,
          user: who.user ?? "",
        })}
        onFiles={(files) => add(files, owner, search.collection ?? DEFAULT_COLLECTION)}
      />
      <UploadList
        uploads={uploads}
        onStop={stop}
        onClear={clear}
        onOpen={(document) => set({ document, q: undefined })}
      />
    </>
  );

  return (
    <Page title={t("nav.memory")} lead={t("knowledge.lead")}>
      {!reach.isOperator && <ReachNotice />}
      {search.document === undefined && (
        <>
          {place.workspace === "demo" && reach.isServer && <DemoNotice />}
          <section aria-label={t("knowledge.figures")} className="tiles md:grid-cols-4">
            <Tile icon={FileStack} label={t("knowledge.documents")} value={total === undefined ? undefined : format.number(total)} />
            <Tile icon={Library} label={t("knowledge.chunks")} value={total === undefined ? undefined : format.number(sum("chunks") ?? 0)} />
            <Tile icon={Database} label={t("knowledge.size")} value={total === undefined ? undefined : format.bytes(sum("bytes") ?? 0)} />
            <Tile
              icon={FileX2}
              label={t("knowledge.failed")}
              value={failed === undefined ? undefined : format.number(failed)}
              note={failed !== undefined && failed > 0 ? t("health.toReview") : undefined}
              onOpen={() => set({ status: search.status === "failed" ? undefined : "failed", document: undefined, q: undefined })}
            />
          </section>
        </>
      )}
      <TabLinks tab="knowledge" />
      {collections.isError ? (
        <Trouble error={collections.error} retry={() => void collections.refetch()} />
      ) : collections.data === undefined ? (
        <CardSkeletons count={3} />
      ) : search.document !== undefined ? (
        <DocumentView
          key={`${search.document} ${search.passage}`}
          owner={owner}
          id={search.document}
          passage={spanOf(search.passage)}
          onClose={() => set({ document: undefined })}
          {...(reach.canWrite ? changes : {})}
        />
      ) : isEmpty ? (
        <div className="mx-auto max-w-3xl">
          {drop}
          <EmptyState
            icon={Library}
            title={t("empty.knowledge")}
            example={"recollect kb sync ./handbook\nrecollect kb search \"how much may a hotel cost?\""}
          >
            {t("empty.knowledgeLead")}
          </EmptyState>
        </div>
      ) : (
        <>
          <SearchTest search={search} onSearch={(q) => set({ q })} />
          <div className="my-4 flex flex-wrap items-center gap-2" role="group" aria-label={t("knowledge.collections")}>
            <Chip isOn={search.collection === undefined} onPress={() => set({ collection: undefined })} count={total}>
              {t("knowledge.all")}
            </Chip>
            {names.map((name) => (
              <Chip
                key={name}
                isOn={search.collection === name}
                onPress={() => set({ collection: name })}
                count={known.filter((it) => it.name === name).reduce((all, it) => all + it.documents, 0)}
              >
                {name}
              </Chip>
            ))}
            {reach.canWrite && (
              <Button size="sm" variant="ghost" onPress={() => setNaming(true)}>
                <Plus aria-hidden />
                {t("knowledge.newCollection")}
              </Button>
            )}
            {search.status !== undefined && (
              <Button size="sm" variant="ghost" onPress={() => set({ status: undefined })}>
                <X aria-hidden />
                {t("filter.clear")}
              </Button>
            )}
          </div>
          {search.q === undefined ? (
            <div className="space-y-4">
              <div>{drop}</div>
              {search.collection !== undefined && shown === undefined ? null : (
                <Documents
                  key={`${shown} ${search.status}`}
                  collection={shown}
                  status={search.status}
                  onOpen={(document) => set({ document: document.id })}
                  {...(reach.canWrite ? changes : {})}
                />
              )}
            </div>
          ) : (
            <Passages
              question={search.q}
              collection={shown}
              onOpen={(document, passage) => set({ document, passage })}
            />
          )}
        </>
      )}
      <Dialog
        isOpen={asked !== null}
        onClose={() => setAsked(null)}
        title={t("knowledge.deleteTitle")}
        lead={t("knowledge.deleteLead", { name: asked?.title ?? "" })}
        footer={
          <>
            <Button variant="tertiary" onPress={() => setAsked(null)}>
              {t("action.cancel")}
            </Button>
            <Button variant="danger" onPress={() => asked !== null && void remove(asked)}>
              {t("knowledge.deleteConfirm")}
            </Button>
          </>
        }
      />
      <NewCollection
        isOpen={isNaming}
        onClose={() => setNaming(false)}
        onChoose={(collection) => {
          setNaming(false);
          set({ collection, q: undefined });
        }}
      />
    </Page>
  );
}

/** Read `120-480` from an address. */
function spanOf(text: string | undefined): [number, number] | null {
  const found = /^(\d+)-(\d+)$/.exec(text ?? "");
  return found === null ? null : [Number(found[1]), Number(found[2])];
}

function Chip({
  isOn,
  onPress,
  count,
  children,
}: {
  isOn: boolean;
  onPress: () => void;
  count: number | undefined;
  children: string;
}) {
  const format = useFormat();
  return (
    <Button
      size="sm"
      variant={isOn ? "secondary" : "outline"}
      className={isOn ? "bg-accent-soft text-accent-soft-foreground" : ""}
      aria-pressed={isOn}
      onPress={onPress}
    >
      <span className="said max-w-48 truncate">{children}</span>
      {count !== undefined && <span className="number opacity-75">{format.number(count)}</span>}
    </Button>
  );
}

/** A question as an agent would ask it. */
function SearchTest({ search, onSearch }: { search: KnowledgeSearch; onSearch: (q: string | undefined) => void }) {
  const { t } = useTranslation();
  const [text, setText] = useState(search.q ?? "");
  useEffect(() => setText(search.q ?? ""), [search.q]);
  return (
    <form
      role="search"
      className="relative"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(text.trim() === "" ? undefined : text.trim());
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
          setText("");
          onSearch(undefined);
          event.currentTarget.blur();
        }}
        aria-label={t("knowledge.search")}
        placeholder={t("knowledge.searchPlaceholder")}
        className="border-field-border bg-field placeholder:text-field-placeholder focus:border-accent focus:ring-accent/25 h-12 w-full rounded-2xl border ps-11 pe-12 text-ellipsis sm:pe-24 text-[15px] transition outline-none focus:ring-4 [&::-webkit-search-cancel-button]:hidden"
      />
      <div className="absolute end-3 top-1/2 flex -translate-y-1/2 items-center gap-2">
        {text !== "" && (
          <Button isIconOnly size="sm" variant="ghost" aria-label={t("search.clear")} onPress={() => onSearch(undefined)}>
            <X aria-hidden />
          </Button>
        )}
        <Kbd className="hidden sm:inline-flex">/</Kbd>
      </div>
    </form>
  );
}

function Documents({
  collection,
  status,
  onOpen,
  onRetry,
  onDelete,
}: {
  collection: string | undefined;
  status: string | undefined;
  onOpen: (document: Document) => void;
  onRetry?: (document: Document) => void;
  onDelete?: (document: Document) => void;
}) {
  const { t } = useTranslation();
  const owner = scopeIn(usePlace(), useWho(), useReach());
  const listed = useDocuments(owner, collection, status);
  if (listed.isError) return <Trouble error={listed.error} retry={() => void listed.refetch()} />;
  if (listed.data === undefined) return <CardSkeletons count={3} />;
  const documents = listed.data.pages.flatMap((page) => page.items);
  if (documents.length === 0) {
    return <EmptyState icon={SearchX} title={t("knowledge.noneMatch")} />;
  }
  return (
    <>
      <DocumentList documents={documents} onOpen={onOpen} onRetry={onRetry} onDelete={onDelete} />
      {listed.hasNextPage && (
        <Button variant="secondary" isPending={listed.isFetchingNextPage} onPress={() => void listed.fetchNextPage()}>
          {t("knowledge.more")}
        </Button>
      )}
    </>
  );
}

function Passages({
  question,
  collection,
  onOpen,
}: {
  question: string;
  collection: string | undefined;
  onOpen: (document: string, passage: string) => void;
}) {
  const { t } = useTranslation();
  const owner = scopeIn(usePlace(), useWho(), useReach());
  const found = useQuery(passagesQuery(owner, question, collection));
  if (found.isError) return <Trouble error={found.error} retry={() => void found.refetch()} />;
  if (found.data === undefined) return <CardSkeletons count={3} />;
  const { passages, queries, degraded } = found.data;
  if (passages.length === 0) {
    return (
      <EmptyState icon={SearchX} title={t("knowledge.nothing")}>
        {t("knowledge.nothingLead")}
      </EmptyState>
    );
  }
  return (
    <>
      <p className="caption number mb-3 leading-5" aria-live="polite">
        {t("knowledge.found", { count: passages.length })}
        {queries.length > 1 && <> · {t("knowledge.alsoAsked", { queries: queries.slice(1).join(" · ") })}</>}
        {degraded.length > 0 && <> · {degraded.join(" · ")}</>}
      </p>
      <PassageList
        passages={passages}
        question={question}
        onOpen={({ citation, matched }) => {
          const [start, end] = matched[0] ?? [citation.start, citation.end];
          onOpen(citation.document, `${start}-${end}`);
        }}
      />
    </>
  );
}

function NewCollection({
  isOpen,
  onClose,
  onChoose,
}: {
  isOpen: boolean;
  onClose: () => void;
  onChoose: (name: string) => void;
}) {
  const { t } = useTranslation();
  const [name, setName] = useState("");
  const wanted = name.trim();
  const isGood = wanted !== "" && wanted.length <= 40 && !/[@/]/.test(wanted);
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={t("knowledge.newCollection")}
      lead={t("knowledge.newCollectionLead")}
      footer={
        <>
          <Button variant="tertiary" onPress={onClose}>
            {t("action.cancel")}
          </Button>
          <Button isDisabled={!isGood} onPress={() => onChoose(wanted)}>
            {t("knowledge.useCollection")}
          </Button>
        </>
      }
    >
      <form
        className="py-1"
        onSubmit={(event) => {
          event.preventDefault();
          if (isGood) onChoose(wanted);
        }}
      >
        <Field
          label={t("knowledge.collectionName")}
          description={t("knowledge.collectionRule")}
          value={name}
          onChange={setName}
          autoFocus
        />
      </form>
    </Dialog>
  );
}
