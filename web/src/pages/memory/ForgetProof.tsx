import { ProgressBar } from "@heroui/react";
import { ShieldCheck, TriangleAlert } from "lucide-react";
import type { Forgotten, Progress } from "../../api/forgetting";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";

/** How much is gone; then files are cleaned and searched, which takes a time nobody knows. */
export function Erasing({ progress: { done, total } }: { progress: Progress }) {
  const { t } = useTranslation();
  const format = useFormat();
  const isErased = total > 0 && done >= total;
  const label = isErased
    ? t("forget.searching")
    : t("forget.erasing", { done: format.number(done), total: format.number(total) });
  return (
    <ProgressBar
      aria-label={label}
      isIndeterminate={isErased || total === 0}
      value={done}
      maxValue={Math.max(total, 1)}
    >
      <p className="text-muted number" aria-live="polite">
        {total === 0 ? t("forget.beginning") : label}
      </p>
      <ProgressBar.Track>
        <ProgressBar.Fill />
      </ProgressBar.Track>
    </ProgressBar>
  );
}

/** How many of each sort. */
export function Counts({ counts }: { counts: { [name: string]: number } }) {
  const { t, named } = useTranslation();
  const format = useFormat();
  const found = Object.entries(counts).filter(([, count]) => count > 0);
  if (found.length === 0) return <p className="text-muted">{t("forget.nothing")}</p>;
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-1">
      {found.map(([name, count]) => (
        <div key={name} className="flex justify-between gap-3">
          <dt className="text-muted">{named("counted", name)}</dt>
          <dd className="number font-medium">{format.number(count)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What was searched for traces after forgetting, and what was found. */
export function Proof({ forgotten }: { forgotten: Forgotten }) {
  const { t } = useTranslation();
  const verification = forgotten.verification;
  const hasTraces = verification !== null && verification.traces.length > 0;
  // A search for nothing proves nothing.
  const isClean = verification !== null && !hasTraces && verification.terms > 0;
  const verdict = isClean ? "forget.proved" : hasTraces ? "forget.traces" : "forget.unproved";
  const Icon = isClean ? ShieldCheck : TriangleAlert;
  return (
    <div className="space-y-4">
      <div
        className={`flex gap-3 rounded-xl p-4 ${isClean ? "bg-success-soft" : "bg-warning-soft"}`}
        role="status"
      >
        <Icon className="mt-0.5 size-5 shrink-0" aria-hidden />
        <div>
          <p className="font-medium">{t(verdict)}</p>
          {verification !== null && (
            <p className="text-muted mt-1">
              {t("forget.searched", {
                terms: verification.terms,
                places: verification.searched.length,
              })}
            </p>
          )}
        </div>
      </div>
      {verification !== null && !isClean && (
        <ul className="said list-disc space-y-0.5 ps-5">
          {verification.traces.map(({ term, place, detail }) => (
            <li key={`${term} ${place} ${detail}`}>
              {[term, place, detail].filter((part) => part !== "").join(" · ")}
            </li>
          ))}
        </ul>
      )}
      <Counts counts={forgotten.counts} />
      {verification !== null && (
        <details className="text-muted">
          <summary className="focusable cursor-pointer rounded-md">{t("forget.where")}</summary>
          <ul className="said mt-2 list-disc space-y-0.5 ps-5 text-xs">
            {verification.searched.map((place) => (
              <li key={place}>{place}</li>
            ))}
          </ul>
        </details>
      )}
      <p className="caption">
        {t("forget.receipt")} <code className="font-mono">{forgotten.forget_id}</code>
      </p>
    </div>
  );
}
