import type { Chunk, Section } from "../../api/knowledge";
import { useTranslation } from "../../i18n";
import { Trail, withoutTitle } from "./PassageList";
import { headingOf, piecesOf, type Span } from "./pieces";

/** The headings of a document. */
export function Outline({
  sections,
  onChoose,
}: {
  sections: Section[];
  onChoose: (span: Span) => void;
}) {
  const { t } = useTranslation();
  return (
    <nav
      aria-label={t("knowledge.sections")}
      className="hidden max-h-[70dvh] overflow-y-auto xl:block"
    >
      <p className="eyebrow px-2 pb-1.5">{t("knowledge.sections")}</p>
      <ul>
        {sections.map((section) => (
          <li
            key={section.ordinal}
            style={{ paddingInlineStart: `${Math.max(0, section.level - 1) * 0.75}rem` }}
          >
            <button
              type="button"
              className="focusable said text-muted hover:bg-default hover:text-foreground block w-full cursor-pointer truncate rounded-lg px-2 py-1.5 text-start"
              onClick={() => onChoose([section.start, section.end])}
            >
              {section.path.at(-1) ?? t("knowledge.untitled")}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The chunks that are searched, as they are stored. */
export function ChunkList({
  chunks,
  chosen,
  onChoose,
}: {
  chunks: Chunk[];
  chosen: Span | null;
  onChoose: (span: Span) => void;
}) {
  const { t } = useTranslation();
  return (
    <ol className="divide-line divide-y">
      {chunks.map((chunk) => (
        <li key={chunk.ordinal}>
          <button
            type="button"
            aria-pressed={chosen?.[0] === chunk.start && chosen[1] === chunk.end}
            className="focusable hover:bg-surface-secondary aria-pressed:bg-accent-soft block w-full cursor-pointer px-4 py-3 text-start"
            onClick={() => onChoose([chunk.start, chunk.end])}
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
  );
}

/** A chunk's words; the heading that it begins with stands out from them. */
function ChunkText({ text }: { text: string }) {
  const [, heading, rest] = /^#{1,6} (.+)\n\s*([^]*)$/.exec(text) ?? [];
  if (heading === undefined || rest === undefined) return text.replace(/^#{1,6} /, "");
  return (
    <>
      <span className="font-medium">{heading}</span>
      <span aria-hidden className="text-muted">
        {" "}
        ·{" "}
      </span>
      {rest}
    </>
  );
}

/** The text of a section, cut where its chunks begin; what is chosen is marked. */
export function SectionText({
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
  chosen: Span | null;
  onChoose: (span: Span) => void;
}) {
  const heading = isMarkdown ? headingOf(section) : null;
  return (
    <div className="border-line mb-4 border-b pb-4 last:mb-0 last:border-b-0 last:pb-0">
      {heading === null ? (
        <Trail path={withoutTitle(section.path, title)} page={section.page} />
      ) : (
        <h3 className="said text-base font-semibold">{heading.text}</h3>
      )}
      <p className="said mt-1.5 text-[15px] leading-relaxed whitespace-pre-wrap" dir="auto">
        {piecesOf(section, chunks, heading?.length).map(({ chunk, start, text }) => (
          <span
            key={start}
            className={
              chunk === null ? "" : "hover:bg-default cursor-pointer rounded-sm transition-colors"
            }
            onClick={chunk === null ? undefined : () => onChoose([chunk.start, chunk.end])}
          >
            <Marked text={text} start={start} chosen={chosen} />
          </span>
        ))}
      </p>
    </div>
  );
}

function Marked({ text, start, chosen }: { text: string; start: number; chosen: Span | null }) {
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
