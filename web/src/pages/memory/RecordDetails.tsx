import type { ReactNode } from "react";
import type { Record } from "../../api/client";
import { isShared } from "../../api/place";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";

const SHOWN_TAGS = 40;

/** What only a record of its kind has: steps, an outcome, participants. */
export function KindDetails({ record }: { record: Record }) {
  const { t } = useTranslation();
  const format = useFormat();
  if (record.kind === "procedural") {
    const { trigger, steps, success_rate, usage_count } = record;
    return (
      <div className="mt-3 space-y-2">
        {trigger !== "" && (
          <p className="said text-muted">
            <span className="font-medium">{t("panel.trigger")}</span> {trigger}
          </p>
        )}
        {steps.length > 0 && (
          <ol className="marker:text-muted list-decimal space-y-1 ps-5 leading-relaxed">
            {steps.map((step, place) => (
              <li key={place} className="said">
                {step.replace(/^\d+[.)、]\s*/, "")}
              </li>
            ))}
          </ol>
        )}
        {success_rate != null && (
          <p className="caption">
            {t("panel.success", { rate: format.percent(success_rate), count: usage_count })}
          </p>
        )}
      </div>
    );
  }
  if (record.kind === "episodic") {
    const { outcome, participants } = record;
    return (
      <dl className="text-muted mt-3 space-y-1">
        {outcome !== "" && (
          <div className="said">
            <dt className="inline font-medium">{t("panel.outcome")}</dt>{" "}
            <dd className="inline">{outcome}</dd>
          </div>
        )}
        {participants.length > 0 && (
          <div className="said">
            <dt className="inline font-medium">{t("panel.participants")}</dt>{" "}
            <dd className="inline">{participants.join(", ")}</dd>
          </div>
        )}
      </dl>
    );
  }
  return null;
}

export function Tags({ tags }: { tags: string[] }) {
  const { t } = useTranslation();
  return (
    <ul className="mt-3 flex flex-wrap gap-1.5" aria-label={t("card.tags")}>
      {tags.slice(0, SHOWN_TAGS).map((tag) => (
        <li
          key={tag}
          className="bg-default said max-w-full truncate rounded-full px-2.5 py-0.5 text-xs"
        >
          {tag}
        </li>
      ))}
      {tags.length > SHOWN_TAGS && (
        <li className="caption self-center">
          {t("panel.moreTags", { count: tags.length - SHOWN_TAGS })}
        </li>
      )}
    </ul>
  );
}

/** Where a record comes from, how long it holds, and how it was used. */
export function Facts({ record }: { record: Record }) {
  const { t, named } = useTranslation();
  const format = useFormat();
  const facts: [string, ReactNode][] = [
    [t("panel.category"), record.category === "" ? "" : named("category", record.category)],
    [t("panel.about"), record.about !== "" && t(`about.${record.about as "user"}`)],
    [t("panel.person"), record.scope.user],
    [t("panel.agent"), isShared(record) ? t("face.shared") : record.scope.agent],
    [t("panel.source"), record.source],
    [t("panel.session"), record.session],
    [t("panel.firstObserved"), format.moment(record.first_observed)],
    [t("panel.lastConfirmed"), format.moment(record.last_confirmed)],
    [t("panel.validFrom"), record.valid_from && format.day(record.valid_from)],
    [t("panel.validTo"), record.valid_to && format.day(record.valid_to)],
    [t("panel.expires"), record.expires_at && format.moment(record.expires_at)],
    [
      t("panel.used"),
      record.access_count === 0
        ? t("panel.unused")
        : t("panel.usedTimes", { count: record.access_count }),
    ],
    [
      t("panel.helped"),
      record.helped + record.rejected > 0 && `${record.helped} / ${record.rejected}`,
    ],
    [t("panel.id"), <code className="font-mono text-[11px]">{record.id}</code>],
  ];
  return (
    <dl className="border-line grid grid-cols-[7.5rem_1fr] gap-x-3 gap-y-2 border-t pt-5">
      {facts
        .filter(([, value]) => value !== null && value !== "" && value !== false)
        .map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="caption leading-5">{name}</dt>
            <dd className="said text-[13px] leading-5">{value}</dd>
          </div>
        ))}
    </dl>
  );
}
