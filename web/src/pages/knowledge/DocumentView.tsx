import { Button } from "@heroui/react";
import { ArrowLeft, Download, RotateCw, Trash2 } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import {
  originalAddress,
  useChunks,
  useDocument,
  useSections,
  type Chunk,
  type Document,
  type Owner,
  type Section,
} from "../../api/knowledge";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../lib/format";
import { CardSkeletons, Trouble } from "../../parts/feedback";
import { DocumentIcon, DocumentStatus } from "./DocumentList";
import { Trail, withoutTitle } from "./PassageList";

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
  passage: [number, number] | null;
  onClose: () => void;
  onRetry?: (document: Document) => void;
  onDelete?: (document: Document) => void;
}) {
  const { t } = useTranslation();
  const format = useFormat();
  const found = useDocument(owner, id);
  const document = found.data;
  const sections = useSections(owner, id, document?.version);
  const chunks = useChunks(owner, id, document?.version);
  const [chosen, setChosen] = useState<[number, number] | null>(passage);
  const [side, setSide] = useState<"text" | "chunks">("text");
  const text = useRef<HTMLDivElement>(null);
  const read = useMemo(() => sections.data?.pages.flatMap((page) => page.items) ?? [], [sections.data]);
  const pieces = useMemo(() => chunks.data?.pages.flatMap((page) => page.items) ?? [], [chunks.data]);
  const isThere = read.length > 0 && pieces.length > 0;

  useEffect(() => {
    if (chosen === null || !isThere) return;
    text.current?.querySelector("[data-chosen]")?.scrollIntoView({ block: "center" });
  }, [chosen, isThere, side]);

  const show = (span: [number, number]) => {
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
  const summary = document.summary.replace(`${document.title}\n`, "");
  return (
    <section aria-label={document.title}>
      <Back onClose={onClose} />
      <div className="flex flex-wrap items-center gap-x-4 gap-y-3">
        <DocumentIcon type={document.type} />
        <div className="min-w-0 flex-1 basis-60">
          <div className="flex items-center gap-2.5">
            <h2 className="said min-w-0 truncate text-lg font-semibold">{document.title}</h2>
            <DocumentStatus document={document} />
          </div>
          <p className="caption said number leading-5">
            {document.source} · {t("knowledge.inCollection", { name: document.collection })} ·{" "}
            {format.bytes(document.bytes)} · {t("knowledge.sectionCount", { count: document.sections })} ·{" "}
            {t("knowledge.chunkCount", { count: document.chunks })} · {format.age(document.updated_at)}
          </p>
        </div>
        <div className="flex flex-wrap gap-2">
          {onRetry !== undefined && document.error !== "" && (
            <Button variant="secondary" size="sm" onPress={() => onRetry(document)}>
              <RotateCw aria-hidden />
              {t("action.retry")}
            </Button>
          )}
          <a className="button button--secondary button--sm" href={originalAddress(owner, id)} download={document.source.split("/").at(-1)}>
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
        <p role="alert" className="said bg-danger-soft text-danger-soft-foreground mt-4 rounded-xl px-4 py-3">
          {document.error}
        </p>
      )}
      {summary !== "" && (
        <section className="mt-4 max-w-3xl">
          <h3 className="eyebrow">{t("knowledge.summary")}</h3>
          <p className="said text-muted mt-1 leading-relaxed">{summary}</p>
        </section>
      )}
      {document.sections > 0 && (
        <>
          <div className="bg-default mt-5 flex w-fit rounded-xl p-0.5 lg:hidden" role="group" aria-label={t("view.label")}>
            {(["text", "chunks"] as const).map((name) => (
              <Button
                key={name}
                size="sm"
                variant={side === name ? "outline" : "ghost"}
                className={side === name ? "bg-surface" : ""}
                aria-pressed={side === name}
                onPress={() => setSide(name)}
              >
                {t(name === "text" ? "knowledge.text" : "knowledge.chunks")}
              </Button>
            ))}
          </div>
          <div className="mt-4 grid gap-4 lg:grid-cols-[minmax(0,1fr)_22rem] xl:grid-cols-[13rem_minmax(0,1fr)_24rem]">
            <Outline sections={read} onChoose={(section) => show([section.start, section.end])} />
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
              <ol className="divide-line divide-y">
                {pieces.map((chunk) => (
                  <li key={chunk.ordinal}>
                    <button
                      type="button"
                      aria-pressed={isSame(chosen, chunk)}
                      className="focusable hover:bg-surface-secondary aria-pressed:bg-accent-soft block w-full cursor-pointer px-4 py-3 text-start"
                      onClick={() => show([chunk.start, chunk.end])}
                    >
                      <span className="caption number flex justify-between">
                        <span className="font-medium">{t("knowledge.chunk", { number: chunk.ordinal })}</span>
                        <span>{t("knowledge.characters", { count: chunk.end - chunk.start })}</span>
                      </span>
                      <span className="said mt-1 line-clamp-4 leading-relaxed" dir="auto">
                        <ChunkText text={chunk.text} />
                      </span>
                    </button>
                  </li>
                ))}
              </ol>
              {chunks.hasNextPage && (
                <Button size="sm" variant="secondary" className="m-4" onPress={() => void chunks.fetchNextPage()}>
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

function Back({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Button size="sm" variant="ghost" className="mb-3 -ms-2" onPress={onClose}>
      <ArrowLeft aria-hidden />
      {t("knowledge.back")}
    </Button>
  );
}

function Outline({ sections, onChoose }: { sections: Section[]; onChoose: (section: Section) => void }) {
  const { t } = useTranslation();
  return (
    <nav aria-label={t("knowledge.sections")} className="hidden max-h-[70dvh] overflow-y-auto xl:block">
      <p className="eyebrow px-2 pb-1.5">{t("knowledge.sections")}</p>
      <ul>
        {sections.map((section) => (
          <li key={section.ordinal} style={{ paddingInlineStart: `${Math.max(0, section.level - 1) * 0.75}rem` }}>
            <button
              type="button"
              className="focusable said text-muted hover:bg-default hover:text-foreground block w-full cursor-pointer truncate rounded-lg px-2 py-1.5 text-start"
              onClick={() => onChoose(section)}
            >
              {section.path.at(-1) ?? t("knowledge.untitled")}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** A chunk's words; the heading that it begins with stands out from them. */
function ChunkText({ text }: { text: string }) {
  const [, heading, rest] = /^#{1,6} (.+)\n\s*([^]*)$/.exec(text) ?? [];
  if (heading === undefined || rest === undefined) return text.replace(/^#{1,6} /, "");
  return (
    <>
      <span className="font-medium">{heading}</span>
      <span aria-hidden className="text-muted"> · </span>
      {rest}
    </>
  );
}

function isSame(span: [number, number] | null, chunk: Chunk): boolean {
  return span !== null && span[0] === chunk.start && span[1] === chunk.end;
}

/** The text of a section, cut where its chunks begin; what is chosen is marked. */
function SectionText({
  section,
  title,
  isMarkdown,
  chunks,
  chosen,
  onChoose,
}: {
  section: Section;
  title: string;
  isMarkdown: boolean;
  chunks: Chunk[];
  chosen: [number, number] | null;
  onChoose: (span: [number, number]) => void;
}) {
  const within = chunks.filter((chunk) => chunk.section === section.ordinal);
  const parts: { chunk: Chunk | null; start: number; text: string }[] = [];
  // The heading that a Markdown section begins with is shown as one.
  const heading = isMarkdown ? /^#{1,6} ([^\n]*)\n*/.exec(section.text) : null;
  let at = section.start + (heading?.[0].length ?? 0);
  const cut = (from: number, to: number) => section.text.slice(from - section.start, to - section.start);
  for (const chunk of within) {
    const from = Math.max(at, chunk.start);
    const to = Math.min(section.end, chunk.end);
    if (to <= from) continue;
    if (from > at) parts.push({ chunk: null, start: at, text: cut(at, from) });
    parts.push({ chunk, start: from, text: cut(from, to) });
    at = to;
  }
  if (at < section.end) parts.push({ chunk: null, start: at, text: cut(at, section.end) });
  return (
    <div className="border-line mb-4 border-b pb-4 last:mb-0 last:border-b-0 last:pb-0">
      {heading === null ? (
        <Trail path={withoutTitle(section.path, title)} page={section.page} />
      ) : (
        <h3 className="said text-base font-semibold">{heading[1]}</h3>
      )}
      <p className="said mt-1.5 text-[15px] leading-relaxed whitespace-pre-wrap" dir="auto">
        {parts.map(({ chunk, start, text }) => (
          <span
            key={start}
            className={chunk === null ? "" : "hover:bg-default cursor-pointer rounded-sm transition-colors"}
            onClick={chunk === null ? undefined : () => onChoose([chunk.start, chunk.end])}
          >
            <Marked text={text} start={start} chosen={chosen} />
          </span>
        ))}
      </p>
    </div>
  );
}

function Marked({ text, start, chosen }: { text: string; start: number; chosen: [number, number] | null }) {
  if (chosen === null) return text;
  const from = Math.max(0, chosen[0] - start);
  const to = Math.min(text.length, chosen[1] - start);
  if (to <= from) return text;
  return (
    <>
      {text.slice(0, from)}
      <mark data-chosen>{text.slice(from, to)}</mark>
      {text.slice(to)}
    </>
  );
}
