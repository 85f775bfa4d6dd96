import { Button } from "@heroui/react";
import { ArrowLeft, Download, RotateCw, Trash2 } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import {
  originalAddress,
  useChunks,
  useDocument,
  useSections,
  type Document,
} from "../../api/knowledge";
import type { Owner } from "../../api/place";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { CardSkeletons, Trouble } from "../../parts/feedback";
import { Segments } from "../../parts/Segments";
import { DocumentIcon, DocumentStatus } from "./DocumentList";
import { ChunkList, Outline, SectionText } from "./DocumentText";
import type { Span } from "./pieces";

/** One document: its sections, its text, and beside it the chunks that are searched. */
export function DocumentView({
  owner,
  id,
  passage,
  onClose,
  onRetry,
  onDelete,
}: {
  owner: Owner;
  id: string;
  passage: Span | null;
  onClose: () => void;
  onRetry?: (document: Document) => void;
  onDelete?: (document: Document) => void;
}) {
  const { t } = useTranslation();
  const found = useDocument(owner, id);
  const document = found.data;
  const sections = useSections(owner, id, document?.version);
  const chunks = useChunks(owner, id, document?.version);
  const [chosen, setChosen] = useState<Span | null>(passage);
  const [side, setSide] = useState<"text" | "chunks">("text");
  const text = useRef<HTMLDivElement>(null);
  const read = useMemo(
    () => sections.data?.pages.flatMap((page) => page.items) ?? [],
    [sections.data],
  );
  const pieces = useMemo(
    () => chunks.data?.pages.flatMap((page) => page.items) ?? [],
    [chunks.data],
  );
  const isThere = read.length > 0 && pieces.length > 0;

  useEffect(() => {
    if (chosen === null || !isThere) return;
    text.current?.querySelector("[data-chosen]")?.scrollIntoView({ block: "center" });
  }, [chosen, isThere, side]);

  const show = (span: Span) => {
    setChosen(span);
    setSide("text");
  };
  if (found.isError) {
    return (
      <>
        <Back onClose={onClose} />
        <Trouble error={found.error} retry={() => void found.refetch()} />
      </>
    );
  }
  if (document === undefined) return <CardSkeletons count={3} />;
  return (
    <section aria-label={document.title}>
      <Back onClose={onClose} />
      <DocumentHead owner={owner} document={document} onRetry={onRetry} onDelete={onDelete} />
      {document.sections > 0 && (
        <>
          <Segments
            className="mt-5 w-fit lg:hidden"
            value={side}
            options={[
              ["text", t("knowledge.text")],
              ["chunks", t("knowledge.chunks")],
            ]}
            onChange={setSide}
          />
          <div className="mt-4 grid gap-4 lg:grid-cols-[minmax(0,1fr)_22rem] xl:grid-cols-[13rem_minmax(0,1fr)_24rem]">
            <Outline sections={read} onChoose={show} />
            <div
              ref={text}
              role="region"
              aria-label={t("knowledge.text")}
              tabIndex={0}
              className={`panel focusable max-h-[70dvh] overflow-y-auto p-5 ${side === "text" ? "" : "hidden lg:block"}`}
            >
              {read.map((section) => (
                <SectionText
                  key={section.ordinal}
                  section={section}
                  title={document.title}
                  isMarkdown={document.type === "markdown"}
                  chunks={pieces}
                  chosen={chosen}
                  onChoose={setChosen}
                />
              ))}
              {sections.hasNextPage && (
                <Button size="sm" variant="secondary" onPress={() => void sections.fetchNextPage()}>
                  {t("knowledge.more")}
                </Button>
              )}
            </div>
            <div
              role="region"
              aria-label={t("knowledge.chunks")}
              tabIndex={0}
              className={`panel focusable max-h-[70dvh] overflow-y-auto ${side === "chunks" ? "" : "hidden lg:block"}`}
            >
              <ChunkList chunks={pieces} chosen={chosen} onChoose={show} />
              {chunks.hasNextPage && (
                <Button
                  size="sm"
                  variant="secondary"
                  className="m-4"
                  onPress={() => void chunks.fetchNextPage()}
                >
                  {t("knowledge.more")}
                </Button>
              )}
            </div>
          </div>
        </>
      )}
    </section>
  );
}

/** What a document is, and what can be done with it. */
function DocumentHead({
  owner,
  document,
  onRetry,
  onDelete,
}: {
  owner: Owner;
  document: Document;
  onRetry?: (document: Document) => void;
  onDelete?: (document: Document) => void;
}) {
  const { t } = useTranslation();
  const format = useFormat();
  const summary = document.summary.replace(`${document.title}\n`, "");
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-3">
        <DocumentIcon type={document.type} />
        <div className="min-w-0 flex-1 basis-60">
          <div className="flex items-center gap-2.5">
            <h2 className="said min-w-0 truncate text-lg font-semibold">{document.title}</h2>
            <DocumentStatus document={document} />
          </div>
          <p className="caption said number leading-5">
            {document.source} · {t("knowledge.inCollection", { name: document.collection })} ·{" "}
            {format.bytes(document.bytes)} ·{" "}
            {t("knowledge.sectionCount", { count: document.sections })} ·{" "}
            {t("knowledge.chunkCount", { count: document.chunks })} ·{" "}
            {format.age(document.updated_at)}
          </p>
        </div>
        <div className="flex flex-wrap gap-2">
          {onRetry !== undefined && document.error !== "" && (
            <Button variant="secondary" size="sm" onPress={() => onRetry(document)}>
              <RotateCw aria-hidden />
              {t("action.retry")}
            </Button>
          )}
          <a
            className="button button--secondary button--sm"
            href={originalAddress(owner, document.id)}
            download={document.source.split("/").at(-1)}
          >
            <Download className="size-4" aria-hidden />
            {t("knowledge.original")}
          </a>
          {onDelete !== undefined && (
            <Button variant="danger-soft" size="sm" onPress={() => onDelete(document)}>
              <Trash2 aria-hidden />
              {t("action.delete")}
            </Button>
          )}
        </div>
      </div>
      {document.error !== "" && (
        <p
          role="alert"
          className="said bg-danger-soft text-danger-soft-foreground mt-4 rounded-xl px-4 py-3"
        >
          {document.error}
        </p>
      )}
      {summary !== "" && (
        <section className="mt-4 max-w-3xl">
          <h3 className="eyebrow">{t("knowledge.summary")}</h3>
          <p className="said text-muted mt-1 leading-relaxed">{summary}</p>
        </section>
      )}
    </>
  );
}

function Back({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Button size="sm" variant="ghost" className="mb-3 -ms-2" onPress={onClose}>
      <ArrowLeft aria-hidden />
      {t("knowledge.back")}
    </Button>
  );
}
