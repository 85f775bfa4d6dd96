import { Button, Skeleton } from "@heroui/react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { Archive, ChevronLeft, Circle, CircleCheck, FileText, ListTodo, NotebookPen } from "lucide-react";
import { useState, type ReactNode } from "react";
import { answer, api, type Schemas, type Turn } from "../../api/client";
import { keys } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../lib/format";
import { usePlace, useWho } from "../../lib/place";
import { CardSkeletons, Trouble } from "../../parts/feedback";
import { Page } from "../../parts/Page";
import { roleOf } from "../memory/Evidence";

const MARKS = [60, 75, 90];

/** One conversation: how full its window is, what was said, and what stands beside it. */
export function SessionPage() {
  const { t } = useTranslation();
  const place = usePlace();
  const who = useWho();
  const { session: id = "" } = useParams({ strict: false });
  const owner = { ...place, user: who.user ?? "-", agent: who.agent ?? "-" };
  const status = useQuery({
    queryKey: [keys.live, "session", owner, id],
    queryFn: () =>
      answer(
        api.GET("/v1/sessions/{session_id}", { params: { path: { session_id: id }, query: owner } }),
      ),
  });
  const archives = useArchives(owner, id);
  return (
    <Page
      title={id}
      lead={
        <Link to="/org/$org/ws/$workspace/sessions" params={place} className="ink-link inline-flex items-center gap-1">
          <ChevronLeft className="size-4" aria-hidden />
          {t("sessions.all")}
        </Link>
      }
    >
      <div className="grid gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="min-w-0 space-y-5">
          <Summaries id={id} owner={owner} />
          <Conversation id={id} owner={owner} />
        </div>
        <div className="space-y-4 max-lg:contents">
          <div className="max-lg:-order-1">
            {status.isError ? (
              <Trouble error={status.error} retry={() => void status.refetch()} />
            ) : status.data === undefined ? (
              <Skeleton className="h-44 rounded-2xl" />
            ) : (
              <WindowUse usage={status.data.usage} archives={archives.data?.items ?? []} />
            )}
          </div>
          <ScratchpadView id={id} owner={owner} />
          <NotesView id={id} owner={owner} />
        </div>
      </div>
    </Page>
  );
}

interface Owner {
  org: string;
  workspace: string;
  user: string;
  agent: string;
}

/** The results that were put away in a session. */
function useArchives(owner: Owner, id: string) {
  return useQuery({
    queryKey: [keys.live, "archives", owner, id],
    queryFn: () =>
      answer(api.GET("/v1/archives", { params: { query: { ...owner, session: id, limit: 100 } } })),
  });
}

function WindowUse({
  usage,
  archives,
}: {
  usage: Schemas["SessionUsage"];
  archives: Schemas["Archive"][];
}) {
  const { t } = useTranslation();
  const format = useFormat();
  const share = usage.budget_tokens === 0 ? 0 : usage.window_tokens / usage.budget_tokens;
  const tone = share >= 0.9 ? "bg-danger" : share >= 0.75 ? "bg-warning" : "bg-accent";
  const facts: [string, string][] = [
    [t("window.level"), t(`level.${Math.min(usage.level, 3)}` as "level.0")],
    [t("window.messages"), `${format.number(Math.min(usage.window_messages, usage.messages))} / ${format.number(usage.messages)}`],
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
        <div
          role="meter"
          aria-label={t("window.title")}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.round(share * 100)}
          className="bg-default h-2.5 overflow-hidden rounded-full"
        >
          <div className={`h-full rounded-full ${tone}`} style={{ width: `${Math.min(share, 1) * 100}%` }} />
        </div>
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

function Conversation({ id, owner }: { id: string; owner: Owner }) {
  const { t } = useTranslation();
  const turns = useInfiniteQuery({
    queryKey: [keys.live, "turns", owner, id],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      answer(
        api.GET("/v1/turns", {
          params: { query: { ...owner, session: id, limit: 100, cursor: pageParam } },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  });
  const archives = useArchives(owner, id);
  if (turns.isError) return <Trouble error={turns.error} retry={() => void turns.refetch()} />;
  if (turns.data === undefined) return <CardSkeletons count={4} />;
  const said = turns.data.pages.flatMap((page) => page.items);
  const put = archives.data?.items ?? [];
  const apart = put.filter((archive) => !said.some((turn) => turn.content.includes(archive.id)));
  return (
    <section aria-label={t("session.conversation")}>
      <h2 className="mb-3 font-semibold">{t("session.conversation")}</h2>
      {said.length === 0 && <p className="text-muted">{t("session.nothingSaid")}</p>}
      <ol className="space-y-3">
        {said.map((turn) => (
          <Message key={turn.id} turn={turn} owner={owner} archives={put} />
        ))}
      </ol>
      {turns.hasNextPage && (
        <div className="mt-4 text-center">
          <Button
            variant="tertiary"
            isPending={turns.isFetchingNextPage}
            onPress={() => void turns.fetchNextPage()}
          >
            {t("action.more")}
          </Button>
        </div>
      )}
      {apart.length > 0 && (
        <div className="mt-6">
          <h2 className="mb-3 font-semibold">{t("session.archives")}</h2>
          <ul className="space-y-3">
            {apart.map((archive) => (
              <Placeholder key={archive.id} archive={archive} owner={owner} />
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

function Message({
  turn,
  owner,
  archives,
}: {
  turn: Turn;
  owner: Owner;
  archives: Schemas["Archive"][];
}) {
  const { t } = useTranslation();
  const format = useFormat();
  const role = roleOf(turn);
  const archived = archives.filter((archive) => turn.content.includes(archive.id));
  const tools = toolsOf(turn).join(", ");
  return (
    <li className={`flex ${role === "user" ? "justify-end" : ""}`}>
      <div
        className={`max-w-[46rem] rounded-2xl px-4 py-3 ${role === "user" ? "bg-accent-soft" : "panel"} ${role === "tool" || role === "system" ? "font-mono text-xs" : ""}`}
      >
        <p className="caption mb-1 font-sans">
          <span className="font-medium">{turn.speaker || t(`role.${role}`)}</span> ·{" "}
          <time dateTime={turn.at}>{format.moment(turn.at)}</time>
        </p>
        {tools !== "" && <p className="text-muted">{t("session.called", { tools })}</p>}
        {archived.length === 0 ? (
          <p className="said leading-relaxed whitespace-pre-wrap" dir="auto">
            {turn.content}
          </p>
        ) : (
          <ul className="space-y-3 font-sans text-sm">
            {archived.map((archive) => (
              <Placeholder key={archive.id} archive={archive} owner={owner} />
            ))}
          </ul>
        )}
      </div>
    </li>
  );
}

/** The names of the tools that a message calls: as a session keeps them, or as they were observed. */
function toolsOf(turn: Turn): string[] {
  const payload = turn.payload as {
    recollect?: { calls?: [string, string, string][] };
    tool_calls?: { name?: string; function?: { name?: string } }[];
  };
  const kept = (payload.recollect?.calls ?? []).map(([, name]) => name);
  return [...kept, ...(payload.tool_calls ?? []).flatMap((call) => call.name ?? call.function?.name ?? [])];
}

function Placeholder({ archive, owner }: { archive: Schemas["Archive"]; owner: Owner }) {
  const { t } = useTranslation();
  const format = useFormat();
  const [isOpen, setOpen] = useState(false);
  const text = useQuery({
    queryKey: ["archive", archive.id],
    enabled: isOpen,
    queryFn: () =>
      answer(
        api.GET("/v1/archives/{archive_id}/text", {
          params: { path: { archive_id: archive.id }, query: owner },
        }),
      ),
  });
  return (
    <li className="border-line bg-canvas rounded-2xl border border-dashed p-4">
      <div className="flex items-start gap-3">
        <Archive className="text-muted mt-0.5 size-4 shrink-0" aria-hidden />
        <div className="min-w-0 flex-1">
          <p className="font-medium">{t("archive.title", { tool: archive.tool })}</p>
          <p className="caption number">
            {t("archive.size", { chars: archive.chars, lines: archive.lines })} ·{" "}
            {format.moment(archive.created_at)}
          </p>
          {archive.summary !== "" && (
            <p className="said text-muted mt-2 line-clamp-3 text-[13px]">{archive.summary}</p>
          )}
        </div>
        <Button size="sm" variant="tertiary" aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
          {t(isOpen ? "archive.hide" : "archive.show")}
        </Button>
      </div>
      {isOpen &&
        (text.isError ? (
          <Trouble error={text.error} />
        ) : text.data === undefined ? (
          <Skeleton className="mt-3 h-24 rounded-lg" />
        ) : (
          <pre
            tabIndex={0}
            className="focusable bg-surface border-line said mt-3 max-h-96 overflow-auto rounded-xl border p-3 font-mono text-xs whitespace-pre-wrap"
          >
            {text.data.text}
          </pre>
        ))}
    </li>
  );
}

function Summaries({ id, owner }: { id: string; owner: Owner }) {
  const { t } = useTranslation();
  const found = useQuery({
    queryKey: [keys.live, "summaries", owner, id],
    queryFn: () =>
      answer(
        api.GET("/v1/sessions/{session_id}/summaries", {
          params: { path: { session_id: id }, query: owner },
        }),
      ),
  });
  const summaries = found.data?.items ?? [];
  if (summaries.length === 0) return null;
  return (
    <section aria-label={t("session.summaries")}>
      <h2 className="mb-3 flex items-center gap-2 font-semibold">
        <FileText className="text-muted size-4" aria-hidden />
        {t("session.summaries")}
      </h2>
      <ul className="space-y-3">
        {summaries.map((summary) => (
          <SummaryView key={summary.id} summary={summary} id={id} owner={owner} />
        ))}
      </ul>
    </section>
  );
}

function SummaryView({
  summary,
  id,
  owner,
}: {
  summary: Schemas["Summary"];
  id: string;
  owner: Owner;
}) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const turns = useQuery({
    queryKey: ["summary-turns", summary.id],
    enabled: isOpen,
    queryFn: () =>
      answer(
        api.GET("/v1/sessions/{session_id}/summaries/{summary_id}/turns", {
          params: { path: { session_id: id, summary_id: summary.id }, query: { ...owner, limit: 100 } },
        }),
      ),
  });
  return (
    <li className="panel p-4">
      <div className="flex items-center justify-between gap-3">
        <p className="caption number">{t("session.stands", { start: summary.start + 1, end: summary.end })}</p>
        <Button size="sm" variant="tertiary" aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
          {t(isOpen ? "session.hideTurns" : "session.showTurns")}
        </Button>
      </div>
      <ul className="mt-2 list-disc space-y-1 ps-5">
        {summary.points.map((point, place) => (
          <li key={place} className="said">
            {point.text}
          </li>
        ))}
      </ul>
      {isOpen && turns.data !== undefined && (
        <ol className="border-line mt-3 space-y-2 border-s-2 ps-3">
          {turns.data.items.map((turn) => (
            <li key={turn.id} className="text-[13px]">
              <span className="caption me-2 font-medium">{t(`role.${roleOf(turn)}`)}</span>
              <span className="said">{turn.content}</span>
            </li>
          ))}
        </ol>
      )}
    </li>
  );
}

function ScratchpadView({ id, owner }: { id: string; owner: Owner }) {
  const { t } = useTranslation();
  const found = useQuery({
    queryKey: [keys.live, "scratchpad", owner, id],
    queryFn: () =>
      answer(
        api.GET("/v1/sessions/{session_id}/scratchpad", {
          params: { path: { session_id: id }, query: owner },
        }),
      ),
  });
  const pad = found.data;
  const steps = pad?.sub_goals ?? [];
  const done = pad?.completed ?? [];
  const lists: [string, string[]][] = [
    [t("pad.completed"), done.filter((step) => !steps.includes(step))],
    [t("pad.decisions"), (pad?.decisions ?? []).map(({ what, why }) => t("pad.decision", { what, why }))],
    [t("pad.blockers"), pad?.blockers ?? []],
  ];
  const isEmpty =
    pad !== undefined &&
    pad.current_goal === "" &&
    steps.length === 0 &&
    lists.every(([, all]) => all.length === 0);
  return (
    <Side icon={<ListTodo className="text-muted size-4" aria-hidden />} title={t("pad.title")}>
      {pad === undefined ? (
        <Skeleton className="h-8 rounded-lg" />
      ) : isEmpty ? (
        <p className="text-muted">{t("pad.empty")}</p>
      ) : (
        <div className="space-y-3">
          <p className="said font-medium">{pad.current_goal}</p>
          {steps.length > 0 && (
            <ul className="space-y-1" aria-label={t("pad.subGoals")}>
              {steps.map((step) => {
                const isDone = done.includes(step);
                const Icon = isDone ? CircleCheck : Circle;
                return (
                  <li key={step} className="said flex gap-2">
                    <Icon
                      className={`mt-0.5 size-4 shrink-0 ${isDone ? "text-procedural" : "text-muted"}`}
                      aria-label={isDone ? t("pad.completed") : undefined}
                      aria-hidden={!isDone}
                    />
                    <span className={isDone ? "text-muted" : ""}>{step}</span>
                  </li>
                );
              })}
            </ul>
          )}
          {lists
            .filter(([, all]) => all.length > 0)
            .map(([name, all]) => (
              <div key={name}>
                <h3 className="eyebrow mb-1">{name}</h3>
                <ul className="list-disc space-y-0.5 ps-4">
                  {all.map((one, place) => (
                    <li key={place} className="said">
                      {one}
                    </li>
                  ))}
                </ul>
              </div>
            ))}
        </div>
      )}
    </Side>
  );
}

function NotesView({ id, owner }: { id: string; owner: Owner }) {
  const { t } = useTranslation();
  const found = useQuery({
    queryKey: [keys.live, "notes", owner, id],
    queryFn: () =>
      answer(
        api.GET("/v1/sessions/{session_id}/notes", {
          params: { path: { session_id: id }, query: owner },
        }),
      ),
  });
  const chunks = found.data?.chunks ?? [];
  return (
    <Side icon={<NotebookPen className="text-muted size-4" aria-hidden />} title={t("notes.title")}>
      {found.data === undefined ? (
        <Skeleton className="h-8 rounded-lg" />
      ) : chunks.length === 0 ? (
        <p className="text-muted">{t("notes.empty")}</p>
      ) : (
        <ul className="space-y-2">
          {chunks.map((chunk, place) => (
            <li key={place}>
              <p className="said line-clamp-3">{chunk.content}</p>
              <p className="caption">{chunk.source}</p>
            </li>
          ))}
        </ul>
      )}
    </Side>
  );
}

function Side({ icon, title, children }: { icon: ReactNode; title: string; children: ReactNode }) {
  return (
    <section className="panel p-5" aria-label={title}>
      <h2 className="mb-3 flex items-center gap-2 font-semibold">
        {icon}
        {title}
      </h2>
      {children}
    </section>
  );
}
