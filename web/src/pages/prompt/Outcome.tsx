import { Button, toast } from "@heroui/react";
import { Link } from "@tanstack/react-router";
import { Braces, Copy, PencilLine, ScanText, SquareMinus } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { useWords } from "../../i18n/words";
import { usePlace } from "../../lib/place";
import { EmptyState } from "../../parts/feedback";
import { Segments } from "../../parts/Segments";
import { plain, type Item, type Preview, type Trial } from "./preview";
import { words } from "./words";

const SHADES: globalThis.Record<string, string> = {
  profile: "bg-semantic",
  recalled: "bg-episodic",
  documents: "bg-procedural",
  guide: "bg-shared",
};
const RECORD_KINDS = new Set(["semantic", "episodic", "procedural"]);

/** The block for a message, what each part of it costs, and the fate of everything found. */
export function Outcome({
  preview,
  message,
  canTry,
  tried,
  onTryOther,
  onTryWithout,
}: {
  preview: Preview;
  message: string;
  canTry: boolean;
  tried: Trial[];
  onTryOther: (item: Item) => void;
  onTryWithout: (item: Item) => void;
}) {
  const { w } = useWords(words);
  const [view, setView] = useState<"items" | "block" | "guide">("block");
  const guide = preview.parts.find((part) => part.name === "guide")?.text ?? "";
  const { text, degraded } = preview.context;
  const given = preview.items.filter((item) => item.fate === "given");
  const leftOut = preview.items.filter((item) => item.fate !== "given");
  const copy = async (form: "text" | "messages") => {
    const system = [guide, text].filter(Boolean).join("\n\n");
    const messages = [
      ...(system === "" ? [] : [{ role: "system", content: system }]),
      { role: "user", content: message },
    ];
    await navigator.clipboard.writeText(
      form === "messages"
        ? JSON.stringify(messages, null, 2)
        : [system, message].filter(Boolean).join("\n\n"),
    );
    toast.success(w("copied"));
  };
  const row = (item: Item) => (
    <ItemRow
      key={`${item.part} ${item.id} ${item.text.length}`}
      item={item}
      isTried={tried.some((it) => it.id === item.id) || preview.tried.includes(item.id)}
      canTry={canTry}
      onTryOther={onTryOther}
      onTryWithout={onTryWithout}
    />
  );
  return (
    <div className="space-y-5">
      <Budget preview={preview} />
      {degraded.length > 0 && (
        <p className="bg-warning-soft text-warning-soft-foreground said rounded-xl px-4 py-2.5">
          {w("degraded")} {degraded.join("; ")}
        </p>
      )}
      {preview.as_of !== null && preview.parts.some((it) => it.name === "documents" && it.tokens > 0) && (
        <p className="caption">{w("documentsNow")}</p>
      )}
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Segments
          value={view}
          options={[
            ["block", w("block")],
            ["items", `${w("items")} ${given.length} + ${leftOut.length}`],
            ["guide", w("guide")],
          ]}
          onChange={setView}
        />
        <span className="flex flex-wrap gap-2">
          <Button size="sm" variant="tertiary" onPress={() => void copy("text")}>
            <Copy aria-hidden />
            {w("copyText")}
          </Button>
          <Button size="sm" variant="tertiary" onPress={() => void copy("messages")}>
            <Braces aria-hidden />
            {w("copyMessages")}
          </Button>
        </span>
      </div>
      {view === "guide" ? (
        guide === "" ? (
          <p className="text-muted">{w("guideNone")}</p>
        ) : (
          <Verbatim label={w("guide")} text={guide} />
        )
      ) : view === "items" ? (
        <div className="grid items-start gap-5 2xl:grid-cols-2">
          <Items title={w("given")} count={given.length}>
            {given.map(row)}
          </Items>
          <Items title={w("leftOut")} count={leftOut.length} none={w("leftOutNone")}>
            {leftOut.map(row)}
          </Items>
        </div>
      ) : text === "" ? (
        <EmptyState icon={ScanText} title={w("nothing")}>
          {w("nothingLead")}
        </EmptyState>
      ) : (
        <Verbatim label={w("block")} text={text} />
      )}
    </div>
  );
}

/** A text exactly as an agent gets it. */
export function Verbatim({ label, text }: { label: string; text: string }) {
  return (
    <pre
      aria-label={label}
      role="region"
      tabIndex={0}
      className="panel focusable max-h-[70dvh] overflow-auto p-4 font-mono text-[12.5px] leading-relaxed break-words whitespace-pre-wrap sm:p-5"
    >
      {text}
    </pre>
  );
}

/** What each part costs, beside what it may. */
export function Budget({ preview, title }: { preview: Preview; title?: string }) {
  const { w } = useWords(words);
  const format = useFormat();
  const most = Math.max(preview.tokens, 1);
  return (
    <section aria-label={w("bar")} className="panel p-4 sm:p-5">
      <p className="flex flex-wrap items-baseline justify-between gap-x-4">
        {title !== undefined && <span className="said font-medium">{title}</span>}
        <span className="number font-semibold">{w("total", { count: preview.tokens })}</span>
      </p>
      <div className="bg-default mt-3 flex h-2.5 gap-px overflow-hidden rounded-full" aria-hidden>
        {preview.parts
          .filter((part) => part.tokens > 0)
          .map((part) => (
            <span
              key={part.name}
              className={SHADES[part.name]}
              style={{ width: `${(100 * part.tokens) / most}%` }}
            />
          ))}
      </div>
      <dl className="mt-4 grid grid-cols-2 gap-x-6 gap-y-4 xl:grid-cols-4">
        {preview.parts.map((part) => (
          <div key={part.name} className="min-w-0">
            <dt className="eyebrow flex items-center gap-2">
              <span className={`size-2 shrink-0 rounded-full ${SHADES[part.name]}`} aria-hidden />
              {w(`part.${part.name}`)}
            </dt>
            <dd className="mt-1">
              <span className="number text-lg font-semibold">{format.number(part.tokens)}</span>
              {part.budget !== null && part.name !== "recalled" && (
                <span className="caption number ms-1.5">
                  {w("of", { budget: part.budget })}
                </span>
              )}
              <span className={title === undefined ? "caption block" : "hidden"}>
                {w(`partLead.${part.name}`, { budget: preview.budget })}
              </span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Items({
  title,
  count,
  none,
  children,
}: {
  title: string;
  count: number;
  none?: string;
  children: React.ReactNode;
}) {
  return (
    <section className="min-w-0">
      <h2 className="mb-2 flex items-baseline gap-2 font-semibold">
        {title} <span className="caption number font-normal">{count}</span>
      </h2>
      {count === 0 && none !== undefined ? (
        <p className="text-muted">{none}</p>
      ) : (
        <ul className="panel divide-line divide-y overflow-hidden">{children}</ul>
      )}
    </section>
  );
}

function ItemRow({
  item,
  isTried,
  canTry,
  onTryOther,
  onTryWithout,
}: {
  item: Item;
  isTried: boolean;
  canTry: boolean;
  onTryOther: (item: Item) => void;
  onTryWithout: (item: Item) => void;
}) {
  const { w, named } = useWords(words);
  const { named: common } = useTranslation();
  const format = useFormat();
  const place = usePlace();
  const isRecord = RECORD_KINDS.has(item.kind);
  const name = plain(item.text).slice(0, 60);
  const matched = item.explanation?.matched_terms ?? [];
  const paths = item.explanation?.paths ?? [];
  const facts = [
    named("kind", item.kind),
    item.score !== null &&
      item.part !== "profile" &&
      w("match", { score: format.percent(item.score) }),
    item.tokens > 0 && w("tokens", { count: item.tokens }),
    ...paths.map((path) => `${common("path", path.path)} ${path.score.toFixed(2)}`),
    matched.length > 0 && w("why", { words: matched.slice(0, 6).join(", ") }),
  ].filter(Boolean);
  return (
    <li className={`flex items-start gap-3 px-4 py-3 ${isTried ? "bg-accent-soft/50" : ""}`}>
      <span
        className={`mt-1.5 size-2 shrink-0 rounded-full ${SHADES[item.part]} ${item.fate === "given" ? "" : "opacity-35"}`}
        aria-hidden
      />
      <div className="min-w-0 flex-1">
        {item.reason !== "" && (
          <p className="text-warning-soft-foreground text-xs font-medium">
            {named("reason", item.reason.replace(/^(says the same) as .*/, "$1"))}
          </p>
        )}
        <p className={`said line-clamp-4 ${item.fate === "given" ? "" : "text-muted"}`} dir="auto">
          {plain(item.text) || item.id}
        </p>
        <p className="caption number mt-1">
          <span className="sr-only">{w(`part.${item.part}`)} · </span>
          {facts.join(" · ")}
          {isRecord && !isTried && (
            <>
              {" · "}
              <Link
                to="/org/$org/ws/$workspace/memory"
                params={place}
                search={(old) => ({ user: old.user, agent: old.agent, record: item.id })}
                className="ink-link"
              >
                {w("open")}
              </Link>
            </>
          )}
        </p>
      </div>
      {isRecord && canTry && !isTried && (
        <span className="flex shrink-0">
          <Button
            isIconOnly
            size="sm"
            variant="ghost"
            aria-label={w("tryOther", { name })}
            onPress={() => onTryOther(item)}
          >
            <PencilLine aria-hidden />
          </Button>
          <Button
            isIconOnly
            size="sm"
            variant="ghost"
            aria-label={w("tryWithout", { name })}
            onPress={() => onTryWithout(item)}
          >
            <SquareMinus aria-hidden />
          </Button>
        </span>
      )}
    </li>
  );
}
