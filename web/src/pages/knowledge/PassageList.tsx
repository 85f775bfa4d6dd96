import { useQuery } from "@tanstack/react-query";
import { ChevronRight, SearchX } from "lucide-react";
import { useMemo } from "react";
import { passagesQuery, type Passage } from "../../api/knowledge";
import type { Owner } from "../../api/place";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { EmptyState, Loaded } from "../../parts/feedback";
import { Highlighted } from "../../parts/Highlighted";
import { Meter } from "../../parts/Meter";
import { DocumentIcon } from "./DocumentList";

const LONG_WORD = 4;

/** Return the words of a question that are worth marking: short ones stand everywhere. */
function useWordsOf(question: string): string[] {
  const { locale } = useTranslation();
  return useMemo(() => {
    const words = new Intl.Segmenter(locale, { granularity: "word" }).segment(question);
    return [...words]
      .filter(({ isWordLike, segment }) => {
        const isLatin = /^[\p{Script=Latin}\d]+$/u.test(segment);
        return isWordLike === true && segment.length >= (isLatin ? LONG_WORD : 2);
      })
      .map(({ segment }) => segment);
  }, [locale, question]);
}

/** What a question finds in the documents, as an agent would be given it. */
export function Passages({
  owner,
  question,
  collection,
  onOpen,
}: {
  owner: Owner;
  question: string;
  collection: string | undefined;
  onOpen: (document: string, passage: string) => void;
}) {
  const { t } = useTranslation();
  const found = useQuery(passagesQuery(owner, question, collection));
  return (
    <Loaded query={found}>
      {({ passages, queries, degraded }) =>
        passages.length === 0 ? (
          <EmptyState icon={SearchX} title={t("knowledge.nothing")}>
            {t("knowledge.nothingLead")}
          </EmptyState>
        ) : (
          <>
            <p className="caption number mb-3 leading-5" aria-live="polite">
              {t("knowledge.found", { count: passages.length })}
              {queries.length > 1 && (
                <> · {t("knowledge.alsoAsked", { queries: queries.slice(1).join(" · ") })}</>
              )}
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
        )
      }
    </Loaded>
  );
}

/** The passages, each in its surroundings, with where it stands. */
function PassageList({
  passages,
  question,
  onOpen,
}: {
  passages: Passage[];
  question: string;
  onOpen: (passage: Passage) => void;
}) {
  const { t } = useTranslation();
  const format = useFormat();
  const words = useWordsOf(question);
  return (
    <ol className="space-y-3" aria-label={t("knowledge.passages")}>
      {passages.map((passage) => {
        const { citation } = passage;
        return (
          <li
            key={`${citation.document} ${citation.start}`}
            className="panel hover:border-border-tertiary relative p-4 transition-colors sm:p-5"
          >
            <div className="flex items-center gap-3.5">
              <DocumentIcon type={passage.type} />
              <div className="min-w-0 flex-1">
                <button
                  type="button"
                  className="focusable said cursor-pointer rounded-sm text-start font-medium after:absolute after:inset-0 after:rounded-2xl"
                  onClick={() => onOpen(passage)}
                >
                  {citation.title}
                </button>
                <Trail path={withoutTitle(citation.path, citation.title)} page={citation.page} />
              </div>
              <div className="hidden w-24 shrink-0 sm:block">
                <Meter value={passage.score} label={t("search.match")} />
              </div>
              <span className="caption number shrink-0">{format.percent(passage.score)}</span>
            </div>
            <Surroundings passage={passage} words={words} />
          </li>
        );
      })}
    </ol>
  );
}

/** Return the headings below a document's title, which stands above them already. */
export function withoutTitle(path: string[], title: string): string[] {
  return path[0] === title ? path.slice(1) : path;
}

/** The headings that lead to a passage. */
export function Trail({ path, page }: { path: string[]; page: number | null }) {
  const { t } = useTranslation();
  if (path.length === 0 && page === null) return null;
  return (
    <p className="caption said flex flex-wrap items-center gap-x-1 leading-5">
      {path.map((heading, place) => (
        <span key={place} className="inline-flex items-center gap-x-1">
          {place > 0 && <ChevronRight className="size-3 shrink-0" aria-hidden />}
          {heading}
        </span>
      ))}
      {page !== null && (
        <span className="number">
          {path.length > 0 && "· "}
          {t("knowledge.page", { page })}
        </span>
      )}
    </p>
  );
}

/** The text of a passage: what was found stands out from what surrounds it. */
function Surroundings({ passage, words }: { passage: Passage; words: string[] }) {
  const begin = passage.citation.start;
  const parts: { text: string; isFound: boolean }[] = [];
  // The heading that a Markdown passage begins with stands in the trail above it.
  let at =
    passage.type === "markdown" ? (/^#{1,6} [^\n]*\n+/.exec(passage.content)?.[0].length ?? 0) : 0;
  for (const [start, end] of passage.matched) {
    const from = Math.max(at, start - begin);
    const to = Math.min(passage.content.length, end - begin);
    if (to <= from) continue;
    parts.push({ text: passage.content.slice(at, from), isFound: false });
    parts.push({ text: passage.content.slice(from, to), isFound: true });
    at = to;
  }
  parts.push({ text: passage.content.slice(at), isFound: false });
  return (
    <p
      className="said mt-3 max-h-56 overflow-hidden text-[15px] leading-relaxed whitespace-pre-line"
      dir="auto"
    >
      {parts.map((part, place) => (
        <span key={place} className={part.isFound ? "" : "text-muted"}>
          <Highlighted text={part.text} words={words} />
        </span>
      ))}
    </p>
  );
}
