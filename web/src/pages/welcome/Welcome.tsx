import { Button } from "@heroui/react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, FileUp, FlaskConical, PlugZap, type LucideIcon } from "lucide-react";
import { useRef, useState, type ReactNode } from "react";
import { answer, api, ApiProblem, csrfHeader, Unreachable, type Schemas } from "../../api/client";
import { keys, useWhoAmI } from "../../api/queries";
import { useWords } from "../../i18n/words";
import type { Place } from "../../lib/address";
import { usePlace } from "../../lib/place";
import { DemoOffer } from "../../parts/demo";
import { CodeExample, useAttempt } from "../../parts/feedback";
import { Field } from "../../parts/Field";
import { Segments } from "../../parts/Segments";
import { words } from "./words";

const WAYS = ["mcp", "python", "http"] as const;
type Way = (typeof WAYS)[number];
const WAITING_MS = 3_000;

/** The three ways into an empty memory: look around, connect an agent, bring what there is. */
export function Welcome() {
  const { w } = useWords(words);
  const [person, setPerson] = useState("ann");
  return (
    <section aria-labelledby="welcome" className="mx-auto max-w-6xl">
      <h2 id="welcome" className="text-base font-semibold">
        {w("title")}
      </h2>
      <p className="text-muted mt-1">{w("lead")}</p>
      <div className="mt-5 grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,1.9fr)]">
        <div className="grid gap-4">
          <Card icon={FlaskConical} title={w("demo.title")} lead={w("demo.lead")}>
            <DemoOffer />
          </Card>
          <Card icon={FileUp} title={w("import.title")} lead={w("import.lead")}>
            <Import person={person} onPerson={setPerson} />
          </Card>
        </div>
        <Card icon={PlugZap} title={w("agent.title")} lead={w("agent.lead")}>
          <Connect person={person.trim() || "ann"} />
        </Card>
      </div>
    </section>
  );
}

function Card({
  icon: Icon,
  title,
  lead,
  children,
}: {
  icon: LucideIcon;
  title: string;
  lead: string;
  children: ReactNode;
}) {
  return (
    <div className="panel min-w-0 p-5">
      <h3 className="flex items-center gap-2.5 font-semibold">
        <span className="bg-accent-soft text-accent-soft-foreground grid size-8 shrink-0 place-items-center rounded-lg">
          <Icon className="size-4" aria-hidden />
        </span>
        {title}
      </h3>
      <p className="text-muted mt-2 mb-4 leading-relaxed">{lead}</p>
      {children}
    </div>
  );
}

/** What to copy into an agent, and whether it has written anything yet. */
function Connect({ person }: { person: string }) {
  const { w } = useWords(words);
  const place = usePlace();
  const me = useWhoAmI();
  const [way, setWay] = useState<Way>("mcp");
  const [since] = useState(() => Date.now());
  const isKeyed = me.data !== undefined && me.data.means !== "open";
  const newest = useQuery({
    queryKey: [keys.live, "first-memory", place],
    // Live updates tell of it at once; this is for when they are cut off.
    refetchInterval: ({ state }) => (state.data === undefined ? false : WAITING_MS),
    queryFn: () =>
      answer(
        api.GET("/v1/workspace/audit", { params: { query: { ...place, limit: 20 } } }),
      ),
  });
  const written = newest.data?.items.find(
    (entry) =>
      ["remember", "observe", "write"].includes(entry.action) &&
      // Clocks differ a little.
      new Date(entry.at).getTime() > since - 2_000,
  );
  return (
    <>
      <Segments
        className="mb-3 w-max"
        value={way}
        options={WAYS.map((id) => [id, w(id)])}
        onChange={setWay}
      />
      <p className="caption">{w(`${way}.lead`)}</p>
      <div className="-mt-3">
        <CodeExample
          key={way}
          width="max-w-none"
          text={snippet(way, window.location.origin, place, person, isKeyed)}
        />
      </div>
      {isKeyed && <p className="caption mt-2">{w("keyed")}</p>}
      <div
        role="status"
        data-arrived={written !== undefined}
        className={`mt-4 flex items-center gap-3 rounded-xl px-4 py-3 ${
          written === undefined ? "bg-default text-muted" : "bg-procedural-soft text-procedural"
        }`}
      >
        {written === undefined ? (
          <>
            <span className="bg-warning size-2.5 animate-pulse rounded-full" aria-hidden />
            {w("waiting")}
          </>
        ) : (
          <>
            <CircleCheck className="size-5 shrink-0" aria-hidden />
            <span className="min-w-0 flex-1">
              <span className="block font-medium">{w("arrived")}</span>
              <span className="said block text-[13px]">
                {w("arrivedLead", {
                  agent: written.scope.agent ?? w("someAgent"),
                  person: written.scope.user ?? w("nobody"),
                })}
              </span>
            </span>
            <Link
              to="/org/$org/ws/$workspace/memory"
              params={place}
              className="focusable rounded-md font-medium whitespace-nowrap underline underline-offset-4"
            >
              {w("see")}
            </Link>
          </>
        )}
      </div>
    </>
  );
}

/** Return what connects an agent to this server. */
export function snippet(
  way: Way,
  origin: string,
  { org, workspace }: Place,
  person: string,
  isKeyed: boolean,
): string {
  const query = new URLSearchParams({ org, workspace, user: person, agent: "helper" }).toString();
  if (way === "mcp") {
    const headers = isKeyed ? { headers: { Authorization: "Bearer KEY" } } : {};
    return JSON.stringify(
      { mcpServers: { recollect: { url: `${origin}/mcp?${query}`, ...headers } } },
      null,
      2,
    );
  }
  if (way === "python") {
    const key = isKeyed ? ', key="KEY"' : "";
    return [
      "import asyncio",
      "from recollect import Memory",
      "",
      "async def main():",
      `    async with Memory.open("${origin}"${key}) as memory:`,
      `        mine = memory.scope(org="${org}", workspace="${workspace}",`,
      `                            user="${person}", agent="helper")`,
      '        await mine.remember("Likes window seats on trains")',
      '        print((await mine.context("Book a seat")).text)',
      "",
      "asyncio.run(main())",
    ].join("\n");
  }
  const key = isKeyed ? ['  -H "Authorization: Bearer KEY" \\'] : [];
  return [
    `curl "${origin}/v1/observe?${query}" \\`,
    '  -H "Content-Type: application/json" \\',
    ...key,
    '  -d \'{"session": "monday", "messages":',
    '       [{"role": "user", "content": "I like window seats on trains"}]}\'',
  ].join("\n");
}

interface Done {
  name: string;
  added: number;
  known: number;
  bad: number;
  isChat: boolean;
}

/** Import a file as an export of everybody, or as the chats of a person. */
async function send(file: File, place: Place, person: string, isExport: boolean): Promise<Done> {
  const owner = isExport
    ? { ...place, user: "-", agent: "-", all_scopes: "true" }
    : { ...place, user: person.trim() || "-", agent: "-" };
  const query = new URLSearchParams({ ...owner, skip_bad: "true" }).toString();
  const response = await fetch(`/v1/import${isExport ? "" : "/chat"}?${query}`, {
    method: "PUT",
    headers: { "Content-Type": "application/octet-stream", ...csrfHeader() },
    body: file,
  }).catch(() => {
    throw new Unreachable("The server does not answer");
  });
  const told: unknown = await response.json();
  if (!response.ok) throw new ApiProblem(told as Schemas["Problem"], response.status);
  if (isExport) {
    const { added, unchanged, bad } = told as Schemas["Imported"];
    return { name: file.name, added, known: unchanged, bad, isChat: false };
  }
  const { added, known, bad } = told as Schemas["ImportedChats"];
  return { name: file.name, added, known, bad, isChat: true };
}

/** Takes a chat history or an export. */
function Import({ person, onPerson }: { person: string; onPerson: (person: string) => void }) {
  const { w } = useWords(words);
  const place = usePlace();
  const input = useRef<HTMLInputElement>(null);
  const { attempt, isWorking } = useAttempt();
  const [name, setName] = useState("");
  const [done, setDone] = useState<Done | null>(null);
  const take = (file: File) =>
    attempt(async () => {
      setName(file.name);
      setDone(null);
      const isExport = (await file.slice(0, 40).text()).startsWith('{"recollect"');
      // A compressed file does not show what it is.
      const isZipped = file.name.endsWith(".gz");
      try {
        setDone(await send(file, place, person, isExport || isZipped));
      } catch (error) {
        if (!isZipped || !(error instanceof ApiProblem)) throw error;
        setDone(await send(file, place, person, false));
      }
    });
  return (
    <div className="space-y-3">
      <Field
        label={w("person")}
        value={person}
        onChange={onPerson}
        description={w("personHint")}
      />
      <input
        ref={input}
        type="file"
        className="sr-only"
        tabIndex={-1}
        aria-label={w("file")}
        accept=".json,.jsonl,.gz,.zip,.ndjson"
        onChange={(event) => {
          const file = event.target.files?.[0];
          event.target.value = "";
          if (file !== undefined) void take(file);
        }}
      />
      <Button variant="secondary" isPending={isWorking} onPress={() => input.current?.click()}>
        <FileUp aria-hidden />
        {w("choose")}
      </Button>
      <p role="status" className={done === null ? "text-muted" : "text-procedural"}>
        {isWorking
          ? w("importing", { name })
          : done !== null &&
            [
              w(done.isChat ? "imported" : "importedRecords", {
                count: done.added,
                name: done.name,
              }),
              done.known > 0 && w("known", { count: done.known }),
              done.bad > 0 && w("bad", { count: done.bad }),
            ]
              .filter(Boolean)
              .join("; ")}
      </p>
      <details className="caption">
        <summary className="focusable cursor-pointer rounded-md">{w("commandLine")}</summary>
        <CodeExample text={`recollect import conversations.zip --chat --user ${person || "ann"}`} />
      </details>
    </div>
  );
}
