import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { answer, api, type Record, type Schemas } from "../../api/client";
import { ownerOf, type Owner } from "../../api/place";
import { keys, scopeIn, useReach } from "../../api/queries";
import { useFormat } from "../../i18n/format";
import { useWords } from "../../i18n/words";
import { usePlace, useWho } from "../../lib/place";
import { CardSkeletons, Loaded } from "../../parts/feedback";
import { Page } from "../../parts/Page";
import { Evidence } from "../memory/Evidence";
import { words } from "./words";

type Step = Schemas["Step"];
type Result = globalThis.Record<string, unknown>;
// They are written together, after everything was decided.
const IN_ONE_TRANSACTION = new Set(["store", "audit"]);

/** How something came to be remembered, step by step and with its times. */
export function WritePage() {
  const { w, named } = useWords(words);
  const format = useFormat();
  const place = usePlace();
  const owner = scopeIn(place, useWho(), useReach());
  const { write = "" } = useParams({ strict: false });
  const trace = useQuery({
    queryKey: [keys.live, "trace", owner, write],
    retry: false,
    queryFn: () =>
      answer(
        api.GET("/v1/writes/{write_id}", {
          params: { path: { write_id: write }, query: owner },
        }),
      ),
  });
  const stored = resultOf(trace.data?.steps, "store")["record"];
  const record = useRecord(trace.data && ownerOf(trace.data.scope), stored);
  return (
    <Page title={w("title")} lead={w("lead")} isReady={!trace.isPending}>
      <Loaded query={trace} waiting={<CardSkeletons count={3} />}>
        {({ id, created_at, steps, scope, session }) => {
          const bars = barsOf(steps);
          const total = bars.at(-1)?.end ?? 0;
          return (
            <>
              <p className="caption said mb-4">
                <span className="font-mono">{id}</span> ·{" "}
                {w("at", { when: format.moment(created_at) })} ·{" "}
                {[scope.agent, scope.user, session].filter(Boolean).join(" · ")}
                {total > 0 && ` · ${w("total", { count: rounded(total) })}`}
              </p>
              <ol className="panel divide-line divide-y overflow-hidden" aria-label={w("chart")}>
                <li className="grid gap-x-6 gap-y-2 px-4 py-4 sm:px-5 lg:grid-cols-[13rem_minmax(0,1fr)]">
                  <span className="font-semibold">{w("message")}</span>
                  <div className="min-w-0">
                    {record.data !== undefined && record.data.evidence.length > 0 ? (
                      <Evidence record={record.data} />
                    ) : (
                      <p className="text-muted">{w("noMessage")}</p>
                    )}
                  </div>
                </li>
                {bars.map(({ step, start, end }) => (
                  <li
                    key={step.name}
                    className="grid gap-x-6 gap-y-2 px-4 py-3.5 sm:px-5 lg:grid-cols-[13rem_minmax(0,1fr)]"
                  >
                    <span>
                      <span className="block font-semibold">
                        {named("step", step.name)}
                      </span>
                      <span className="caption number">
                        {step.ms === null
                          ? w(IN_ONE_TRANSACTION.has(step.name) ? "together" : "unmeasured")
                          : w("ms", { count: rounded(step.ms) })}
                      </span>
                    </span>
                    <div className="min-w-0 space-y-2">
                      <span className="bg-default/70 block h-2 overflow-hidden rounded-full" aria-hidden>
                        {total > 0 && (
                          <span
                            className={`block h-full rounded-full ${step.ms === null ? "bg-muted/60" : "bg-accent"}`}
                            style={{
                              marginInlineStart: `${Math.min(99, (100 * start) / total)}%`,
                              width: `${Math.max(0.8, (100 * (end - start)) / total)}%`,
                            }}
                          />
                        )}
                      </span>
                      <Decision step={step} owner={ownerOf(scope)} stored={record.data} />
                    </div>
                  </li>
                ))}
              </ol>
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

const rounded = (ms: number) => (ms < 10 ? Math.round(ms * 100) / 100 : Math.round(ms));

const resultOf = (steps: Step[] | undefined, name: string): Result =>
  steps?.find((step) => step.name === name)?.result ?? {};

/** The steps one after the other; what was not measured takes no time. */
function barsOf(steps: Step[]): { step: Step; start: number; end: number }[] {
  let at = 0;
  return steps.map((step) => {
    const start = at;
    at += step.ms ?? 0;
    return { step, start, end: at };
  });
}

function useRecord(owner: Owner | undefined, id: unknown) {
  const place = usePlace();
  return useQuery({
    queryKey: [keys.live, "record", id],
    enabled: owner !== undefined && typeof id === "string",
    retry: false,
    queryFn: () =>
      answer(
        api.GET("/v1/records/{record_id}", {
          params: {
            path: { record_id: String(id) },
            query: owner ?? { ...place, agent: "-", user: "-" },
          },
        }),
      ),
  });
}

const text = (value: unknown) => (typeof value === "string" ? value : "");
const list = (value: unknown) =>
  Array.isArray(value) ? value.filter((it): it is string => typeof it === "string") : [];

/** What a step decided, in words. */
function Decision({ step, owner, stored }: { step: Step; owner: Owner; stored?: Record }) {
  const { w, named } = useWords(words);
  const format = useFormat();
  const result: Result = step.result;
  const degraded = text(result["degraded"]) || text(result["judge_degraded"]);
  const notes: string[] = [];
  const why = text(result["reason"]) === "" ? "" : named("why", text(result["reason"]));
  switch (step.name) {
    case "route":
      if (text(result["category"]) !== "")
        notes.push(w("category", { name: text(result["category"]) }));
      notes.push(why);
      if (text(result["policy"]) !== "") notes.push(w("policy", { name: text(result["policy"]) }));
      if (text(result["kept"]) !== "") notes.push(w("kept", { name: text(result["kept"]) }));
      break;
    case "redact": {
      const counts = Object.entries((result["counts"] ?? {}) as globalThis.Record<string, number>);
      const removed = counts.reduce((sum, [, count]) => sum + count, 0);
      if (removed > 0)
        notes.push(w("masked", { count: removed, names: counts.map(([name]) => name).join(", ") }));
      else notes.push(w("mode", { name: text(result["mode"]) }));
      break;
    }
    case "extract":
      notes.push(named("by", text(result["by"])));
      break;
    case "ground":
      notes.push(w(result["ok"] === false ? "ungrounded" : "grounded"), why);
      if (list(result["missing"]).length > 0)
        notes.push(w("missing", { words: list(result["missing"]).join(", ") }));
      break;
    case "embed":
      notes.push(w("model", { name: text(result["model"]) }));
      break;
    case "reconcile":
      notes.push(
        w("relation", {
          relation: named("relation", text(result["relation"])),
          probability: format.percent(Number(result["probability"] ?? 0)),
        }),
        why,
        w("decidedBy", { name: named("judge", text(result["decided_by"])) }),
      );
      if (text(result["strategy"]) !== "")
        notes.push(w("strategy", { name: text(result["strategy"]) }));
      break;
    case "store":
      notes.push(named("status", text(result["status"])));
      break;
    default:
  }
  const about = text(result["with"]);
  const against = list(result["against"]).filter((id) => id !== about);
  return (
    <div className="text-[13px] leading-relaxed">
      <p className="said">{notes.filter((note) => note !== "").join(" · ")}</p>
      {degraded !== "" && (
        <p className="text-warning-soft-foreground">{w("degraded", { code: degraded })}</p>
      )}
      {step.name === "reconcile" && (
        <>
          {about !== "" && (
            <p className="mt-1.5">
              <span className="caption block">{w("with")}</span>
              <RecordLine id={about} owner={owner} />
            </p>
          )}
          {against.length > 0 ? (
            <>
              <p className="caption mt-1.5">{w("against", { count: against.length })}</p>
              <ul className="mt-0.5 space-y-0.5">
                {against.map((id) => (
                  <li key={id} className="text-muted">
                    <RecordLine id={id} owner={owner} />
                  </li>
                ))}
              </ul>
            </>
          ) : (
            about === "" && <p className="text-muted">{w("alone")}</p>
          )}
        </>
      )}
      {step.name === "store" && text(result["record"]) !== "" && (
        <RecordLine id={text(result["record"])} owner={owner} record={stored} />
      )}
    </div>
  );
}

function RecordLine({ id, owner, record }: { id: string; owner: Owner; record?: Record }) {
  const { w } = useWords(words);
  const place = usePlace();
  const found = useRecord(owner, id);
  const shown = record ?? found.data;
  if (shown === undefined && found.isError) return <span className="text-muted">{w("recordGone")}</span>;
  return (
    <Link
      to="/org/$org/ws/$workspace/memory"
      params={place}
      search={{ user: owner.user === "-" ? undefined : owner.user, record: id }}
      className="focusable said line-clamp-2 rounded-md underline-offset-2 hover:underline"
    >
      {shown?.content ?? id}
    </Link>
  );
}
