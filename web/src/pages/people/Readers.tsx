import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot, ScanText } from "lucide-react";
import { answer, api } from "../../api/client";
import { ownerOf } from "../../api/place";
import { keys } from "../../api/queries";
import { useFormat } from "../../i18n/format";
import { useWords } from "../../i18n/words";
import { usePlace } from "../../lib/place";
import { EmptyState, Loaded, MoreButton } from "../../parts/feedback";
import { itemsOf, usePersonAudit, type Entry } from "./audit";
import type { OfPerson } from "./ProfileSources";
import { words } from "./words";

const MOST = 5;
const LATEST = 3;

/** Which agents were given something about a person, and what they were given most. */
export function Readers({ person, agent }: OfPerson) {
  const { w } = useWords(words);
  const found = usePersonAudit(person, agent, "inject");
  const prompts = found.data?.pages.flatMap((page) => page.items) ?? [];
  const readers = Map.groupBy(prompts, (entry) => entry.scope.agent ?? "");
  return (
    <Loaded query={found}>
      {() =>
        prompts.length === 0 ? (
          <EmptyState icon={ScanText} title={w("readersNone")}>
            {w("readersNoneLead")}
          </EmptyState>
        ) : (
          <>
            <ul className="grid items-start gap-4 lg:grid-cols-2">
              {[...readers].map(([name, entries]) => (
                <Reader key={name} name={name} entries={entries} person={person} />
              ))}
            </ul>
            <MoreButton list={found} />
          </>
        )
      }
    </Loaded>
  );
}

function Reader({ name, entries, person }: { name: string; entries: Entry[]; person: string }) {
  const { w } = useWords(words);
  const format = useFormat();
  const place = usePlace();
  const counts = new Map<string, number>();
  for (const { id, kind } of entries.flatMap(itemsOf)) {
    if (kind !== "turn" && kind !== "document") counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const most = [...counts].sort((one, other) => other[1] - one[1]).slice(0, MOST);
  const [last] = entries;
  return (
    <li className="panel min-w-0 p-4 sm:p-5">
      <div className="flex items-start gap-3">
        <span className="bg-accent-soft text-accent-soft-foreground grid size-9 shrink-0 place-items-center rounded-xl">
          <Bot className="size-4.5" aria-hidden />
        </span>
        <div className="min-w-0">
          <h2 className="said truncate font-semibold">{name === "" ? w("noAgent") : name}</h2>
          <p className="caption number">
            {w("prompts", { count: entries.length })} · {w("read", { count: counts.size })}
            {last !== undefined && ` · ${w("lastRead", { when: format.age(last.at) })}`}
          </p>
        </div>
      </div>
      {most.length > 0 && last !== undefined && (
        <>
          <h3 className="eyebrow mt-4 mb-1.5">{w("readMost")}</h3>
          <ul className="space-y-1.5">
            {most.map(([id, count]) => (
              <ReadRecord key={id} id={id} count={count} scope={last.scope} />
            ))}
          </ul>
        </>
      )}
      <ul className="border-line mt-4 space-y-1 border-t pt-3">
        {entries.slice(0, LATEST).map((entry) => (
          <li key={entry.id} className="flex items-baseline gap-3 text-[13px]">
            <Link
              to="/org/$org/ws/$workspace/audit"
              params={place}
              search={{ target: entry.target, user: person }}
              className="ink-link said line-clamp-1 min-w-0 flex-1"
            >
              {typeof entry.payload["question"] === "string" && entry.payload["question"] !== ""
                ? entry.payload["question"]
                : w("profileOnly")}
            </Link>
            <time className="caption shrink-0" dateTime={entry.at}>
              {format.age(entry.at)}
            </time>
          </li>
        ))}
      </ul>
    </li>
  );
}

function ReadRecord({ id, count, scope }: { id: string; count: number; scope: Entry["scope"] }) {
  const { w } = useWords(words);
  const place = usePlace();
  const found = useQuery({
    queryKey: [keys.live, "record", id],
    retry: false,
    queryFn: () =>
      answer(
        api.GET("/v1/records/{record_id}", {
          params: { path: { record_id: id }, query: ownerOf(scope) },
        }),
      ),
  });
  return (
    <li className="flex items-baseline gap-3">
      <Link
        to="/org/$org/ws/$workspace/memory"
        params={place}
        search={{ user: scope.user ?? undefined, record: id }}
        className="focusable said line-clamp-2 min-w-0 flex-1 rounded-md underline-offset-2 hover:underline"
      >
        {found.data?.content ?? id}
      </Link>
      <span className="caption number shrink-0">{w("times", { count })}</span>
    </li>
  );
}
