import type { Schemas } from "../../api/client";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { Meter } from "../../parts/Meter";
import type { Archive } from "./Archives";

const MARKS = [60, 75, 90];

/** How full the window is, and what was done to keep it from overflowing. */
export function WindowUse({
  usage,
  archives,
}: {
  usage: Schemas["SessionUsage"];
  archives: Archive[];
}) {
  const { t } = useTranslation();
  const format = useFormat();
  const share = usage.budget_tokens === 0 ? 0 : usage.window_tokens / usage.budget_tokens;
  const tone = share >= 0.9 ? "bg-danger" : share >= 0.75 ? "bg-warning" : "bg-accent";
  const facts: [string, string][] = [
    [t("window.level"), t(`level.${Math.min(usage.level, 3)}` as "level.0")],
    [
      t("window.messages"),
      `${format.number(Math.min(usage.window_messages, usage.messages))} / ${format.number(usage.messages)}`,
    ],
    [t("window.saved"), format.number(usage.saved_tokens)],
    [
      t("window.archived"),
      archives.length === 0
        ? format.number(0)
        : t("window.archivedSize", {
            count: archives.length,
            chars: format.compact(archives.reduce((sum, archive) => sum + archive.chars, 0)),
          }),
    ],
  ];
  return (
    <section className="panel p-5" aria-label={t("window.title")}>
      <div className="flex items-baseline justify-between">
        <h2 className="font-semibold">{t("window.title")}</h2>
        <span className="number text-lg font-semibold">
          {share > 0 && share < 0.01 ? t("window.tiny") : format.percent(share)}
        </span>
      </div>
      <div className="relative mt-3 pb-5">
        <Meter value={share} label={t("window.title")} tone={tone} className="h-2.5" />
        {MARKS.map((mark) => (
          <span
            key={mark}
            className="absolute top-0 flex -translate-x-1/2 flex-col items-center"
            style={{ left: `${mark}%` }}
            aria-hidden
          >
            <span className="bg-foreground/40 h-3.5 w-px" />
            <span className="text-muted number text-[10px] leading-3.5">{mark}</span>
          </span>
        ))}
      </div>
      <p className="caption number">
        {t("window.tokens", { used: usage.window_tokens, budget: usage.budget_tokens })}
      </p>
      <dl className="mt-4 space-y-1.5">
        {facts.map(([name, value]) => (
          <div key={name} className="flex justify-between gap-3">
            <dt className="text-muted">{name}</dt>
            <dd className="number font-medium">{value}</dd>
          </div>
        ))}
      </dl>
      {usage.pending && <p className="caption mt-3">{t("window.pending")}</p>}
    </section>
  );
}
