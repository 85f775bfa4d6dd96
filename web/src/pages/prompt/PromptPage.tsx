import { Button } from "@heroui/react";
import { useSearch } from "@tanstack/react-router";
import { Columns2, Plus, ScanText, Sparkles } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { answer, api } from "../../api/client";
import { scopeIn, useNames, useReach } from "../../api/queries";
import { useFormat } from "../../i18n/format";
import { useWords } from "../../i18n/words";
import type { PromptSearch } from "../../lib/address";
import { usePlace, useSetSearch } from "../../lib/place";
import { Choice } from "../../parts/Choice";
import { CardSkeletons, EmptyState, Trouble, useAttempt } from "../../parts/feedback";
import { Field } from "../../parts/Field";
import { NameField } from "../../parts/NameField";
import { Page } from "../../parts/Page";
import { Comparison } from "./Comparison";
import { Outcome } from "./Outcome";
import { counts, plain, usePreview, type Item, type Preview, type Trial } from "./preview";
import { Trials } from "./Trials";
import { words } from "./words";

const TIMES = ["now", "day", "week", "month", "custom"] as const;
type Time = (typeof TIMES)[number];
const AGO: globalThis.Record<string, number> = { day: 1, week: 7, month: 30 };
const DAY_MS = 86_400_000;

interface Kept {
  label: string;
  preview: Preview;
}

/** What an agent would be told for a message: now, at an earlier time, or after changes. */
export function PromptPage() {
  const { w } = useWords(words);
  const format = useFormat();
  const place = usePlace();
  const reach = useReach();
  const setSearch = useSetSearch();
  const { attempt } = useAttempt();
  const search: PromptSearch = useSearch({ strict: false });
  const [agent, setAgent] = useState(search.agent ?? "");
  const [person, setPerson] = useState(search.user ?? "");
  const [message, setMessage] = useState(search.q ?? "");
  const [time, setTime] = useState<Time>(search.as_of === undefined ? "now" : "custom");
  const [moment, setMoment] = useState(localOf(search.as_of));
  const [trials, setTrials] = useState<Trial[]>([]);
  const [kept, setKept] = useState<Kept | null>(null);
  const number = useRef(0);
  const agents = useNames(place, "agents").data?.items.map((it) => it.name) ?? [];
  const people = useNames(place, "users").data?.items.map((it) => it.name) ?? [];

  const owner = scopeIn(place, search, reach);
  const asOf = search.as_of;
  const found = usePreview({ owner, message: search.q ?? "", asOf, trials });
  const label = useMemo(() => {
    const tried = asOf === undefined ? trials.filter(counts).length : 0;
    return [
      search.q ?? "",
      search.agent,
      search.user,
      asOf === undefined ? w("ofNow") : w("ofTime", { when: format.moment(asOf) }),
      tried > 0 && w("withTried", { count: tried }),
    ]
      .filter(Boolean)
      .join(" · ");
  }, [asOf, format, search.agent, search.q, search.user, trials, w]);

  const show = () => {
    const at =
      time === "now"
        ? undefined
        : time === "custom"
          ? moment === ""
            ? undefined
            : new Date(moment).toISOString()
          : new Date(Date.now() - (AGO[time] ?? 0) * DAY_MS).toISOString();
    setSearch({
      q: message.trim() || undefined,
      agent: agent.trim() || undefined,
      user: person.trim() || undefined,
      as_of: at,
    });
  };
  const add = (trial: Omit<Trial, "key">) =>
    setTrials((old) => [
      ...old.filter((it) => it.id === undefined || it.id !== trial.id),
      { ...trial, key: String(number.current++) },
    ]);
  const tryOther = (item: Item) =>
    void attempt(async () => {
      const record = await answer(
        api.GET("/v1/records/{record_id}", {
          params: { path: { record_id: item.id }, query: owner },
        }),
      );
      const { id, content, facet, about } = record;
      add({ sort: "edit", id, before: content, text: content, facet, about });
    });
  const isAsked = search.q !== undefined;

  return (
    <Page title={w("title")} lead={w("lead")} isReady={!isAsked || !found.isPending}>
      <div className="grid items-start gap-5 lg:grid-cols-[20rem_minmax(0,1fr)]">
        <div className="space-y-4">
          <form
            className="panel grid gap-4 p-4 sm:grid-cols-2 sm:p-5 lg:grid-cols-1"
            onSubmit={(event) => {
              event.preventDefault();
              show();
            }}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) show();
            }}
          >
            <NameField
              label={w("agent")}
              value={agent}
              known={agents}
              onChange={setAgent}
              placeholder={w("anyAgent")}
            />
            <NameField
              label={w("person")}
              value={person}
              known={people}
              onChange={setPerson}
              placeholder={w("anyone")}
            />
            <Field
              className="sm:col-span-full"
              label={w("message")}
              value={message}
              onChange={setMessage}
              rows={3}
              placeholder={w("messagePlaceholder")}
              description={w("messageHint")}
            />
            <Choice
              label={w("time")}
              value={time}
              options={TIMES.map((id) => ({ id, label: w(`time.${id}`) }))}
              onChange={setTime}
            />
            {time === "custom" && (
              <Field
                label={w("moment")}
                type="datetime-local"
                value={moment}
                onChange={setMoment}
              />
            )}
            <Button
              type="submit"
              className="self-end sm:col-start-1"
              isDisabled={message.trim() === ""}
            >
              <ScanText aria-hidden />
              {w("show")}
            </Button>
          </form>
          <Trials
            trials={trials}
            isPast={asOf !== undefined}
            onChange={(key, text) =>
              setTrials((old) => old.map((it) => (it.key === key ? { ...it, text } : it)))
            }
            onDrop={(key) => setTrials((old) => old.filter((it) => it.key !== key))}
            onClear={() => setTrials([])}
          />
          <div className="flex flex-wrap gap-2">
            <Button
              variant="secondary"
              size="sm"
              isDisabled={asOf !== undefined}
              onPress={() => add({ sort: "new", before: "", text: "" })}
            >
              <Plus aria-hidden />
              {w("tryNew")}
            </Button>
            {found.data !== undefined && isAsked && (
              <Button
                variant="secondary"
                size="sm"
                onPress={() => setKept(kept === null ? { label, preview: found.data } : null)}
              >
                <Columns2 aria-hidden />
                {w(kept === null ? "pin" : "unpin")}
              </Button>
            )}
          </div>
        </div>
        <div className="min-w-0" aria-busy={found.isFetching} aria-live="polite">
          {!isAsked ? (
            <EmptyState icon={Sparkles} title={w("none")}>
              {w("noneLead")}
            </EmptyState>
          ) : found.isError ? (
            <Trouble error={found.error} retry={() => void found.refetch()} />
          ) : found.data === undefined ? (
            <CardSkeletons count={2} />
          ) : kept !== null ? (
            <Comparison first={kept} second={{ label, preview: found.data }} />
          ) : (
            <Outcome
              preview={found.data}
              message={search.q ?? ""}
              canTry={asOf === undefined}
              tried={trials}
              onTryOther={tryOther}
              onTryWithout={(item) =>
                add({ sort: "delete", id: item.id, before: plain(item.text), text: "" })
              }
            />
          )}
        </div>
      </div>
    </Page>
  );
}

/** Write a moment as the field for a local time wants it. */
function localOf(moment: string | undefined): string {
  if (moment === undefined) return "";
  const at = new Date(moment);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
