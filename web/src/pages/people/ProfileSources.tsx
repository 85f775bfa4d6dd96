import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { IdCard, MessageSquareQuote, PenLine } from "lucide-react";
import { answer, api, type Schemas } from "../../api/client";
import { ownerOf } from "../../api/place";
import { keys, scopeIn, useFacets, useReach } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { useWords } from "../../i18n/words";
import type { Place } from "../../lib/address";
import { usePlace } from "../../lib/place";
import { CardSkeletons, EmptyState, Loaded } from "../../parts/feedback";
import { words } from "./words";

type Line = Schemas["ProfileLine"];
export interface OfPerson {
  person: string;
  agent?: string;
}

/** The lines that stand in every prompt of a person, each with the words it comes from. */
export function ProfileSources({ person, agent }: OfPerson) {
  const { w } = useWords(words);
  const place = usePlace();
  const reach = useReach();
  const profile = useQuery({
    queryKey: [keys.live, "profiles", place, person, agent, reach],
    queryFn: async (): Promise<Profiles> => {
      const agents =
        !reach.isOperator || agent !== undefined
          ? [scopeIn(place, { user: person, agent }, reach).agent]
          : await agentsOf(place, person);
      const found = await Promise.all(
        agents.map(async (name) => ({
          name,
          profile: await answer(
            api.GET("/v1/profile", {
              params: { query: { ...place, user: person, agent: name } },
            }),
          ),
        })),
      );
      return merged(found);
    },
  });
  return (
    <Loaded query={profile} waiting={<CardSkeletons count={3} />}>
      {({ lines, hidden, left_out, readers }) =>
        lines.length + hidden.length + left_out.length === 0 ? (
          <EmptyState icon={IdCard} title={w("profileNone")}>
            {w("profileNoneLead")}
          </EmptyState>
        ) : (
          <div className="space-y-6">
            <section aria-labelledby="lines">
              <h2 id="lines" className="sr-only">
                {w("view.profile")}
              </h2>
              <p className="text-muted mb-3">{w("profileLead")}</p>
              <ul className="panel divide-line divide-y">
                {lines.map((line) => (
                  <SourcedLine
                    key={line.id}
                    line={line}
                    person={person}
                    agent={agentFor(line, readers)}
                    readers={readers.get(line.id)}
                  />
                ))}
              </ul>
            </section>
            {hidden.length + left_out.length > 0 && (
              <section aria-labelledby="left">
                <h2 id="left" className="mb-2 font-semibold">
                  {w("left")}
                </h2>
                <ul className="panel divide-line divide-y">
                  {[...left_out, ...hidden].map((line) => (
                    <SourcedLine
                      key={line.id}
                      line={line}
                      person={person}
                      agent={agentFor(line, readers)}
                      why={w(hidden.includes(line) ? "hidden" : "noRoom")}
                    />
                  ))}
                </ul>
              </section>
            )}
          </div>
        )
      }
    </Loaded>
  );
}

interface Profiles {
  lines: Line[];
  hidden: Line[];
  left_out: Line[];
  /** The agents that are told each line; `-` is none in particular. */
  readers: Map<string, string[]>;
}

const MOST_AGENTS = 12;

/** The agents that know something of a person; what belongs to none is told to all of them. */
async function agentsOf(place: Place, person: string): Promise<string[]> {
  const { items } = await answer(
    api.GET("/v1/workspace/scopes", {
      params: { query: { ...place, user: person, limit: 100 } },
    }),
  );
  const names = items.flatMap(({ scope }) =>
    scope.agent === null || scope.agent.startsWith("*") ? [] : [scope.agent],
  );
  return ["-", ...new Set(names)].slice(0, MOST_AGENTS);
}

function merged(found: { name: string; profile: Schemas["Profile"] }[]): Profiles {
  const readers = new Map<string, string[]>();
  const once = (part: "lines" | "hidden" | "left_out") => {
    const known = new Map<string, Line>();
    for (const { name, profile } of found) {
      for (const line of profile[part]) {
        known.set(line.id, line);
        readers.set(line.id, [...(readers.get(line.id) ?? []), name]);
      }
    }
    return [...known.values()];
  };
  const lines = once("lines");
  const shown = new Set(lines.map((line) => line.id));
  const others = (part: Line[]) => part.filter((line) => !shown.has(line.id));
  return { lines, hidden: others(once("hidden")), left_out: others(once("left_out")), readers };
}

/** An agent that may read a line. */
const agentFor = (line: Line, readers: Profiles["readers"]) => {
  const [first] = readers.get(line.id) ?? [];
  return first === "-" ? undefined : first;
};

function SourcedLine({
  line,
  person,
  agent,
  why,
  readers = [],
}: { line: Line; why?: string; readers?: string[] } & OfPerson) {
  const { language } = useTranslation();
  const { w } = useWords(words);
  const format = useFormat();
  const place = usePlace();
  const reach = useReach();
  const facet = useFacets().find((it) => it.name === line.facet);
  const owner = scopeIn(place, { user: person, agent }, reach);
  const source = useQuery({
    queryKey: [keys.live, "source", owner, line.id, line.version],
    queryFn: async () => {
      const record = await answer(
        api.GET("/v1/records/{record_id}", {
          params: { path: { record_id: line.id }, query: owner },
        }),
      );
      const evidence = record.evidence.at(-1);
      if (evidence === undefined) return { record, turn: null };
      // What is told to all agents was said to one of them.
      const listeners = record.scope.agent === null ? readers.filter((it) => it !== "-") : [];
      const owners = [
        ...listeners.map((name) => ({ ...owner, agent: name })),
        ...(listeners.length === 0 ? [ownerOf(record.scope)] : []),
      ];
      for (const query of owners) {
        const path = { turn_id: evidence.turn };
        const turn = await answer(
          api.GET("/v1/turns/{turn_id}", { params: { path, query } }),
        ).catch(() => null);
        if (turn !== null) return { record, turn };
      }
      return { record, turn: null };
    },
  });
  const { record, turn } = source.data ?? {};
  const evidence = record?.evidence.at(-1);
  return (
    <li className="grid gap-x-5 gap-y-1 px-4 py-3.5 sm:grid-cols-[9rem_minmax(0,1fr)] sm:px-5">
      <span className="caption pt-0.5">
        {facet?.[language] ?? "–"}
        {why !== undefined && <span className="text-warning-soft-foreground block">{why}</span>}
      </span>
      <div className="min-w-0">
        <Link
          to="/org/$org/ws/$workspace/memory"
          params={place}
          search={{ user: person, agent, record: line.id }}
          className="focusable said rounded-md text-[15px] underline-offset-2 hover:underline"
        >
          {line.text.slice(0, 600)}
        </Link>
        {readers.length > 0 && (
          <p className="caption mt-0.5">
            {readers.includes("-")
              ? w("toAll")
              : w("toAgents", { names: readers.join(", ") })}
          </p>
        )}
        <div className="text-muted mt-1.5 flex items-start gap-2 text-[13px] leading-relaxed">
          {evidence !== undefined ? (
            <MessageSquareQuote className="mt-0.5 size-4 shrink-0" aria-hidden />
          ) : (
            <PenLine className="mt-0.5 size-4 shrink-0" aria-hidden />
          )}
          {record === undefined ? (
            w(source.isError ? "gone" : "loading")
          ) : turn != null ? (
            <p className="min-w-0">
              <q className="said text-foreground">{quoted(turn.content, evidence)}</q>{" "}
              <span className="whitespace-nowrap">
                {w("said", { when: format.moment(turn.at) })} ·{" "}
                <Link
                  to="/org/$org/ws/$workspace/sessions/$session"
                  params={{ ...place, session: turn.session }}
                  search={{
                    user: turn.scope.user ?? undefined,
                    agent: turn.scope.agent ?? undefined,
                  }}
                  className="ink-link"
                >
                  {turn.session}
                </Link>
              </span>
            </p>
          ) : evidence !== undefined ? (
            w("gone")
          ) : (
            <p>
              {record.source === ""
                ? w("saved", { when: format.moment(record.recorded_at) })
                : w("savedBy", { when: format.moment(record.recorded_at), name: record.source })}
              {record.version > 1 && ` · ${w("edits", { count: record.version })}`}
            </p>
          )}
        </div>
      </div>
    </li>
  );
}

/** The words of a message that support a record; positions count characters, not code units. */
function quoted(text: string, evidence?: Schemas["Evidence"]): string {
  const said =
    evidence?.start == null || evidence.end == null
      ? text
      : Array.from(text).slice(evidence.start, evidence.end).join("");
  return said.length > 300 ? `${said.slice(0, 300)}…` : said;
}
