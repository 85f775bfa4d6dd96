import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Clock, MessageCircle, PencilLine, ScanText, type LucideIcon } from "lucide-react";
import { useState } from "react";
import { answer, api } from "../../api/client";
import { ownerOf } from "../../api/place";
import { keys } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { useWords } from "../../i18n/words";
import { usePlace } from "../../lib/place";
import { CardSkeletons, EmptyState, Loaded, MoreButton } from "../../parts/feedback";
import { Segments } from "../../parts/Segments";
import { calledOf } from "../audit/called";
import { itemsOf, recordsOf, usePersonAudit, writesOf, type Entry } from "./audit";
import type { OfPerson } from "./ProfileSources";
import { words } from "./words";

type Sort = "told" | "changed" | "recalled";
const SORTS = ["all", "told", "changed", "recalled"] as const;
const TOLD = new Set(["observe", "archive", "ingest"]);
const ICONS: globalThis.Record<Sort, LucideIcon> = {
  told: MessageCircle,
  changed: PencilLine,
  recalled: ScanText,
};
const LOOKS: globalThis.Record<Sort, string> = {
  told: "bg-episodic-soft text-episodic",
  changed: "bg-semantic-soft text-semantic",
  recalled: "bg-procedural-soft text-procedural",
};

function sortOf(entry: Entry): Sort | null {
  if (entry.action === "inject") return "recalled";
  if (entry.action === "inspect") return null;
  return TOLD.has(entry.action) ? "told" : "changed";
}

/** What was told, changed and recalled of a person, the latest first, day by day. */
export function Timeline({ person, agent }: OfPerson) {
  const { w } = useWords(words);
  const format = useFormat();
  const [sort, setSort] = useState<(typeof SORTS)[number]>("all");
  const found = usePersonAudit(person, agent);
  const entries = shownOf(found.data?.pages.flatMap((page) => page.items) ?? []).filter(
    (entry) => sort === "all" || sortOf(entry) === sort,
  );
  const days = Map.groupBy(entries, (entry) => format.longDay(entry.at));
  return (
    <>
      <Segments
        className="mb-5 w-max"
        value={sort}
        options={SORTS.map((id) => [id, w(`sort.${id}`)])}
        onChange={setSort}
      />
      <Loaded query={found} waiting={<CardSkeletons count={3} />}>
        {() =>
          entries.length === 0 ? (
            <EmptyState icon={Clock} title={w("timelineNone")}>
              {w("timelineNoneLead")}
            </EmptyState>
          ) : (
            <>
              {[...days].map(([day, ofDay]) => (
                <section key={day} aria-label={day} className="mb-7">
                  <h2 className="eyebrow mb-3">{day}</h2>
                  <ol className="border-line ms-4 space-y-4 border-s">
                    {ofDay.map((entry) => (
                      <Happening key={entry.id} entry={entry} />
                    ))}
                  </ol>
                </section>
              ))}
              <MoreButton list={found} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

/** Leave out what another entry of the same transaction tells better. */
function shownOf(entries: Entry[]): Entry[] {
  const told = new Set(
    entries.filter((it) => it.action !== "write").flatMap((entry) => writesOf(entry)),
  );
  return entries.filter(
    (entry) => sortOf(entry) !== null && !(entry.action === "write" && told.has(entry.target)),
  );
}

function Happening({ entry }: { entry: Entry }) {
  const { named } = useTranslation();
  const { w } = useWords(words);
  const format = useFormat();
  const place = usePlace();
  const sort = sortOf(entry) ?? "changed";
  const Icon = ICONS[sort];
  const who = { user: entry.scope.user ?? undefined, agent: entry.scope.agent ?? undefined };
  const writes = writesOf(entry);
  const reasons: unknown = entry.payload["reasons"];
  const reason = Array.isArray(reasons)
    ? reasons
        .filter(Boolean)
        .map((why) => named("verdict", String(why)))
        .join("; ")
    : "";
  return (
    <li className="relative ps-8">
      <span
        className={`absolute -start-4 top-0 grid size-8 place-items-center rounded-full ${LOOKS[sort]}`}
      >
        <Icon className="size-4" aria-hidden />
      </span>
      <p className="caption flex flex-wrap items-center gap-x-2 pt-1.5">
        <time className="number" dateTime={entry.at}>
          {format.clock(entry.at)}
        </time>
        <span className="text-foreground font-medium">{named("did", entry.action)}</span>
        <span className="said">{entry.actor}</span>
        {reason !== "" && <span className="said">{reason}</span>}
        {writes[0] !== undefined && !entry.is_erased && (
          <Link
            to="/org/$org/ws/$workspace/writes/$write"
            params={{ ...place, write: writes[0] }}
            search={who}
            className="ink-link"
          >
            {w("trace")}
          </Link>
        )}
        {sort === "recalled" && (
          <Link
            to="/org/$org/ws/$workspace/audit"
            params={place}
            search={{ target: entry.target, user: who.user }}
            className="ink-link"
          >
            {w("replay")}
          </Link>
        )}
      </p>
      <div className="mt-1 leading-relaxed">
        {entry.is_erased || Object.keys(entry.payload).length === 0 ? (
          <p className="text-muted">{w("erased")}</p>
        ) : sort === "recalled" ? (
          <Recalled entry={entry} />
        ) : sort === "told" ? (
          <Told entry={entry} />
        ) : (
          <Changed entry={entry} />
        )}
      </div>
    </li>
  );
}

function Recalled({ entry }: { entry: Entry }) {
  const { w } = useWords(words);
  const question = entry.payload["question"];
  const items = itemsOf(entry);
  return (
    <>
      {typeof question === "string" && question !== "" && (
        <p className="said line-clamp-2">{w("recalledFor", { question })}</p>
      )}
      <p className="caption">
        {items.length === 0 ? w("profileOnly") : w("itemsGiven", { count: items.length })}
      </p>
    </>
  );
}

function Told({ entry }: { entry: Entry }) {
  const translation = useTranslation();
  const { w } = useWords(words);
  const place = usePlace();
  const turns: unknown = entry.payload["turns"];
  const named = typeof turns === "object" && turns !== null ? Object.entries(turns) : [];
  const [first] = named;
  const count = named.length;
  const session = typeof first?.[1] === "string" ? first[1] : undefined;
  const turn = useQuery({
    queryKey: [keys.live, "turn", first?.[0]],
    enabled: first !== undefined,
    retry: false,
    queryFn: () =>
      answer(
        api.GET("/v1/turns/{turn_id}", {
          params: { path: { turn_id: first?.[0] ?? "" }, query: ownerOf(entry.scope) },
        }),
      ),
  });
  if (count === 0) return <p className="said text-muted">{calledOf(entry, translation) || w("vanished")}</p>;
  return (
    <>
      <p className="said line-clamp-2">{turn.data?.content ?? entry.title}</p>
      <p className="caption">
        {session === undefined ? (
          w("messagesAlone", { count })
        ) : (
          <Link
            to="/org/$org/ws/$workspace/sessions/$session"
            params={{ ...place, session }}
            search={{ user: entry.scope.user ?? undefined, agent: entry.scope.agent ?? undefined }}
            className="ink-link"
          >
            {w("messages", { count, session })}
          </Link>
        )}
      </p>
    </>
  );
}

function Changed({ entry }: { entry: Entry }) {
  const translation = useTranslation();
  const { w } = useWords(words);
  const payload = entry.payload["record"];
  const ids = recordsOf(entry);
  const all = ids.length > 0 || typeof payload !== "string" ? ids : [payload];
  return (
    <>
      {all.slice(0, 3).map((id) => (
        <RecordLine key={id} id={id} entry={entry} />
      ))}
      {all.length > 3 && <p className="caption">{w("entries", { count: all.length })}</p>}
      {all.length === 0 && <p className="said text-muted">{calledOf(entry, translation) || w("vanished")}</p>}
    </>
  );
}

function RecordLine({ id, entry }: { id: string; entry: Entry }) {
  const place = usePlace();
  const versions = entry.payload["records"];
  const version =
    typeof versions === "object" && versions !== null
      ? (versions as globalThis.Record<string, unknown>)[id]
      : undefined;
  const found = useQuery({
    queryKey: [keys.live, "history", id, "timeline"],
    retry: false,
    queryFn: () =>
      answer(
        api.GET("/v1/records/{record_id}/history", {
          params: { path: { record_id: id }, query: { ...ownerOf(entry.scope), limit: 100 } },
        }),
      ),
  });
  const then = found.data?.items.find(({ record }) => record.version === version);
  const record = then?.record ?? found.data?.items.at(-1)?.record;
  return (
    <Link
      to="/org/$org/ws/$workspace/memory"
      params={place}
      search={{ user: entry.scope.user ?? undefined, record: id }}
      className="focusable said line-clamp-2 rounded-md underline-offset-2 hover:underline"
    >
      {record?.content ?? (id === entry.target && entry.title !== "" ? entry.title : id)}
    </Link>
  );
}
