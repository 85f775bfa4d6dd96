import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { answer, api, type Schemas } from "../api/client";
import { keys } from "../api/queries";
import { useTranslation, type MessageKey } from "../i18n";
import { useFormat } from "../i18n/format";
import { Choice } from "../parts/Choice";
import { Loaded } from "../parts/feedback";
import { LineChart } from "../parts/LineChart";
import { Page } from "../parts/Page";
import { ForOperators } from "../parts/reach";

type Figures = Schemas["MetricFigures"];

const HOUR_MS = 3_600_000;
const SPANS = { day: [24, 1], week: [168, 6], month: [720, 24] } as const;
type Span = keyof typeof SPANS;

/** How memory does its work, hour by hour. */
export function MetricsPage() {
  return (
    <ForOperators of="server">
      <Metrics />
    </ForOperators>
  );
}

function Metrics() {
  const { t } = useTranslation();
  const format = useFormat();
  const [span, setSpan] = useState<Span>("day");
  const [hours, step] = SPANS[span];
  const found = useQuery({
    queryKey: [keys.live, "metrics", span],
    refetchInterval: 60_000,
    queryFn: () => {
      const from = new Date(Date.now() - hours * HOUR_MS).toISOString();
      return answer(api.GET("/v1/metrics", { params: { query: { from, step } } }));
    },
  });
  const whole = (value: number) => format.compact(value);
  const milliseconds = (value: number) => `${format.number(Math.round(value))} ms`;
  const charts: {
    title: MessageKey;
    lead: MessageKey;
    total: (figures: Figures) => string;
    lines: { label: MessageKey; tone: string; value: (figures: Figures) => number | null }[];
    unit: (value: number) => string;
    /** What has to happen before there is something to see. */
    waits?: MessageKey;
  }[] = [
    {
      title: "metrics.hitRate",
      lead: "metrics.hitRateLead",
      waits: "metrics.recallWaits",
      total: (all) => (all.recalls === 0 ? "–" : format.percent(hitRate(all) ?? 0)),
      lines: [{ label: "metrics.hitRate", tone: "var(--accent)", value: hitRate }],
      unit: format.percent,
    },
    {
      title: "metrics.saved",
      lead: "metrics.savedLead",
      waits: "metrics.savedWaits",
      total: (all) => whole(all.window_tokens_saved + all.archive_tokens_saved),
      lines: [
        {
          label: "metrics.byWindow",
          tone: "var(--accent)",
          value: (all) => all.window_tokens_saved,
        },
        {
          label: "metrics.byArchive",
          tone: "var(--episodic)",
          value: (all) => all.archive_tokens_saved,
        },
      ],
      unit: whole,
    },
    {
      title: "metrics.duplicates",
      lead: "metrics.duplicatesLead",
      waits: "metrics.writesWaits",
      total: (all) => `${whole(all.duplicate_writes)} / ${whole(all.writes)}`,
      lines: [
        { label: "metrics.writes", tone: "var(--procedural)", value: (all) => all.writes },
        { label: "metrics.merged", tone: "var(--shared)", value: (all) => all.duplicate_writes },
      ],
      unit: whole,
    },
    {
      title: "metrics.latency",
      lead: "metrics.latencyLead",
      waits: "metrics.recallWaits",
      total: (all) => (all.recall_p95_ms === null ? "–" : milliseconds(all.recall_p95_ms)),
      lines: [
        { label: "metrics.p50", tone: "var(--procedural)", value: (all) => all.recall_p50_ms },
        { label: "metrics.p95", tone: "var(--accent)", value: (all) => all.recall_p95_ms },
      ],
      unit: milliseconds,
    },
    {
      title: "metrics.prompts",
      lead: "metrics.promptsLead",
      waits: "metrics.promptsWaits",
      total: (all) => whole(all.prompts),
      lines: [
        { label: "metrics.prompts", tone: "var(--accent)", value: (all) => all.prompts },
        { label: "metrics.items", tone: "var(--episodic)", value: (all) => all.injected_items },
      ],
      unit: whole,
    },
    {
      title: "metrics.used",
      lead: "metrics.usedLead",
      waits: "metrics.usedWaits",
      total: (all) => (all.used_share === null ? "–" : format.percent(all.used_share)),
      lines: [{ label: "metrics.used", tone: "var(--accent)", value: (all) => all.used_share }],
      unit: format.percent,
    },
    {
      title: "metrics.reused",
      lead: "metrics.reusedLead",
      waits: "metrics.reusedWaits",
      total: (all) => (all.reused_share === null ? "–" : format.percent(all.reused_share)),
      lines: [
        { label: "metrics.reused", tone: "var(--procedural)", value: (all) => all.reused_share },
      ],
      unit: format.percent,
    },
    {
      title: "metrics.requests",
      lead: "metrics.requestsLead",
      total: (all) => whole(all.requests),
      lines: [
        { label: "metrics.requests", tone: "var(--procedural)", value: (all) => all.requests },
        { label: "metrics.failed", tone: "var(--danger)", value: (all) => all.failed_requests },
      ],
      unit: whole,
    },
  ];
  return (
    <Page
      title={t("nav.metrics")}
      lead={t("metrics.lead")}
      actions={
        <Choice
          label={t("filter.time")}
          isLabelHidden
          className="min-w-40"
          value={span}
          options={(Object.keys(SPANS) as Span[]).map((id) => ({ id, label: t(`span.${id}`) }))}
          onChange={setSpan}
        />
      }
    >
      <Stores />
      <Loaded query={found}>
        {({ total, points }) => (
          <div className="grid gap-4 md:grid-cols-2">
            {charts.map((chart) => (
              <section key={chart.title} className="panel p-5" aria-label={t(chart.title)}>
                <div className="flex items-start justify-between gap-4">
                  <div>
                    <h2 className="font-semibold">{t(chart.title)}</h2>
                    <p className="caption mt-0.5">{t(chart.lead)}</p>
                  </div>
                  <p className="number text-2xl font-semibold tracking-tight whitespace-nowrap">
                    {chart.total(total)}
                  </p>
                </div>
                <LineChart
                  times={points.map((point) => point.at)}
                  lines={chart.lines.map((line) => ({
                    label: t(line.label),
                    tone: line.tone,
                    values: points.map((point) => line.value(point.figures)),
                  }))}
                  unit={chart.unit}
                  nothing={t(chart.waits ?? "metrics.nothing")}
                />
              </section>
            ))}
          </div>
        )}
      </Loaded>
    </Page>
  );
}

/** The stores that follow the database, if there are any, and how far each of them is. */
function Stores() {
  const { t } = useTranslation();
  const format = useFormat();
  const found = useQuery({
    queryKey: [keys.live, "stores"],
    refetchInterval: 10_000,
    queryFn: () => answer(api.GET("/v1/stats")),
  });
  const stores = found.data?.followers ?? [];
  if (stores.length === 0) return null;
  return (
    <section className="panel mb-4 p-5" aria-label={t("metrics.stores")}>
      <h2 className="font-semibold">{t("metrics.stores")}</h2>
      <p className="caption mt-0.5">{t("metrics.storesLead")}</p>
      <ul className="mt-3 space-y-2">
        {stores.map((store) => (
          <li key={store.name} className="flex flex-wrap justify-between gap-x-4">
            <span className="break-all">{store.name}</span>
            <span className="number">
              {t(`metrics.store.${store.condition}`)}{" · "}
              {t("metrics.storeHas", {
                done: format.number(store.done),
                total: format.number(store.total),
                lag: format.number(store.lag),
              })}
            </span>
            {store.problem !== "" && <p className="caption w-full">{store.problem}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The share of recalls that found something. */
function hitRate(figures: Figures): number | null {
  return figures.recalls === 0 ? null : 1 - figures.empty_recalls / figures.recalls;
}
