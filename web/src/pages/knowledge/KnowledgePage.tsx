import { toast } from "@heroui/react";
import { useQueryClient } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { Library } from "lucide-react";
import { useState } from "react";
import { answer, api } from "../../api/client";
import { ownerOfCollection, useCollections, type Document } from "../../api/knowledge";
import { keys, scopeIn, useReach } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { spanOf, type KnowledgeSearch } from "../../lib/address";
import { usePlace, useSetSearch, useWho } from "../../lib/place";
import { DEMO, DemoNotice } from "../../parts/demo";
import { Dialog, DialogButtons } from "../../parts/Dialog";
import { EmptyState, Loaded, useAttempt } from "../../parts/feedback";
import { Page } from "../../parts/Page";
import { ReachNotice } from "../../parts/reach";
import { SearchBox } from "../../parts/SearchBox";
import { TabLinks } from "../memory/TabLinks";
import { CollectionBar, Figures, NewCollectionDialog, sumOf } from "./collections";
import { Documents } from "./DocumentList";
import { DocumentView } from "./DocumentView";
import { DropZone, UploadList } from "./DropZone";
import { Passages } from "./PassageList";
import { useUploads } from "./uploads";

const DEFAULT_COLLECTION = "documents";

/** The documents that agents can rely on: add, look into, test the search, delete. */
export function KnowledgePage() {
  const { t } = useTranslation();
  const place = usePlace();
  const who = useWho();
  const reach = useReach();
  const owner = scopeIn(place, who, reach);
  const search: KnowledgeSearch = useSearch({ strict: false });
  const setSearch = useSetSearch();
  const queries = useQueryClient();
  const { attempt } = useAttempt();
  const collections = useCollections(owner);
  const { uploads, add, stop, clear } = useUploads();
  const [asked, setAsked] = useState<Document | null>(null);
  const [isNaming, setNaming] = useState(false);

  const set = (changes: KnowledgeSearch) =>
    setSearch({ passage: undefined, ...changes }, { resetScroll: false });
  const known = collections.data?.items ?? [];
  const total = collections.data && sumOf(known, "documents");
  const isEmpty = total === 0 && search.document === undefined;
  const shown = known.some((it) => it.name === search.collection) ? search.collection : undefined;

  const change = (deed: () => Promise<void>) =>
    void attempt(deed).then(() => queries.invalidateQueries({ queryKey: [keys.live] }));
  const paramsOf = (document: Document) => ({
    path: { document_id: document.id },
    query: ownerOfCollection(document.scope),
  });
  const retry = (document: Document) =>
    change(async () => {
      const params = paramsOf(document);
      const read = await answer(
        api.POST("/v1/knowledge/documents/{document_id}/retry", { params }),
      );
      if (read.error !== "") toast.danger(read.error);
      else toast.success(t("knowledge.readAgain", { name: read.title }));
    });
  const remove = (document: Document) =>
    change(async () => {
      const params = paramsOf(document);
      await answer(api.DELETE("/v1/knowledge/documents/{document_id}", { params }));
      if (search.document === document.id) set({ document: undefined });
      toast.success(t("knowledge.deleted", { name: document.title }));
    });
  const changes = { onRetry: retry, onDelete: setAsked };
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
          {place.workspace === DEMO && reach.isServer && <DemoNotice />}
          <Figures
            collections={collections.data?.items}
            onShowFailed={() =>
              set({
                status: search.status === "failed" ? undefined : "failed",
                document: undefined,
                q: undefined,
              })
            }
          />
        </>
      )}
      <TabLinks tab="knowledge" />
      <Loaded query={collections}>
        {() =>
          search.document !== undefined ? (
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
                example={
                  'recollect kb sync ./handbook\nrecollect kb search "how much may a hotel cost?"'
                }
              >
                {t("empty.knowledgeLead")}
              </EmptyState>
            </div>
          ) : (
            <>
              <SearchBox
                question={search.q}
                onSearch={(q) => set({ q })}
                label={t("knowledge.search")}
                placeholder={t("knowledge.searchPlaceholder")}
              />
              <CollectionBar
                collections={known}
                search={search}
                onChoose={set}
                onNew={reach.canWrite ? () => setNaming(true) : undefined}
              />
              {search.q === undefined ? (
                <div className="space-y-4">
                  <div>{drop}</div>
                  {search.collection !== undefined && shown === undefined ? null : (
                    <Documents
                      key={`${shown} ${search.status}`}
                      owner={owner}
                      collection={shown}
                      status={search.status}
                      onOpen={(document) => set({ document: document.id })}
                      {...(reach.canWrite ? changes : {})}
                    />
                  )}
                </div>
              ) : (
                <Passages
                  owner={owner}
                  question={search.q}
                  collection={shown}
                  onOpen={(document, passage) => set({ document, passage })}
                />
              )}
            </>
          )
        }
      </Loaded>
      <Dialog
        isOpen={asked !== null}
        onClose={() => setAsked(null)}
        title={t("knowledge.deleteTitle")}
        lead={t("knowledge.deleteLead", { name: asked?.title ?? "" })}
        footer={
          <DialogButtons
            onCancel={() => setAsked(null)}
            onConfirm={() => {
              setAsked(null);
              if (asked !== null) remove(asked);
            }}
            label={t("knowledge.deleteConfirm")}
            isDanger
          />
        }
      />
      <NewCollectionDialog
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
