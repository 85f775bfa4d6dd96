import { Button, Skeleton, toast } from "@heroui/react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { History, ScrollText, ShieldCheck, X } from "lucide-react";
import { useEffect, useState } from "react";
import { answer, api, type Schemas } from "../api/client";
import { keys, scopeIn, useReach } from "../api/queries";
import { useTranslation, type MessageKey } from "../i18n";
import { useFormat } from "../lib/format";
import { usePlace } from "../lib/place";
import { Choice } from "../parts/Choice";
import { Dialog } from "../parts/Dialog";
import { CardSkeletons, EmptyState, Trouble, useTellTrouble } from "../parts/feedback";
import { Field } from "../parts/Field";
import { Page } from "../parts/Page";
import type { AuditSearch } from "../router";

type Entry = Schemas["AuditEntry"];

const ANY = "*any";
const PAGE = 100;
const ACTIONS = [
  "remember",
  "write",
  "update",
  "delete",
  "supersede",
  "expire",
  "promote",
  "purge",
  "observe",
  "archive",
  "inject",
  "propose",
  "approve",
  "reject",
  "withdraw",
  "resolve",
  "erase",
  "inspect",
  "ingest",
  "redact",
];

interface Owner {
  org: string;
  workspace: string;
  user: string;
  agent: string;
}

/** Who did what, when and why; nothing here can be changed unnoticed. */
export function AuditPage() {
  const { t } = useTranslation();
  const place = usePlace();
  const navigate = useNavigate();
  const tellTrouble = useTellTrouble();
  const search = useSearch({ strict: false }) as AuditSearch;
  const reach = useReach();
  const owner: Owner = scopeIn(place, search, reach);
  const [target, setTarget] = useState(search.target ?? "");
  const [replayed, setReplayed] = useState<Entry | null>(null);
  useEffect(() => setTarget(search.target ?? ""), [search.target]);
  const set = (changes: AuditSearch) =>
    void navigate({ to: ".", search: ((old: AuditSearch) => ({ ...old, ...changes })) as never });
  const found = useInfiniteQuery({
    queryKey: [keys.live, "audit", owner, search, reach.isOperator],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      reach.isOperator
        ? answer(
            api.GET("/v1/workspace/audit", {
              params: {
                query: {
                  ...place,
                  user: search.user,
                  agent: search.agent,
                  action: search.action,
                  about: search.target,
                  limit: PAGE,
                  cursor: pageParam,
                },
              },
            }),
          )
        : search.target === undefined
          ? answer(
              api.GET("/v1/audit", {
                params: {
                  query: { ...owner, limit: PAGE, cursor: pageParam, action: search.action ?? null },
                },
              }),
            )
          : answer(
              api.GET("/v1/audit/{id}", {
                params: {
                  path: { id: search.target },
                  query: { ...owner, limit: PAGE, cursor: pageParam },
                },
              }),
            ),
    getNextPageParam: (page) => page.next_cursor,
  });
  const entries = (found.data?.pages.flatMap((page) => page.items) ?? []).filter(
    (entry) => search.action === undefined || entry.action === search.action,
  );
  const verify = async () => {
    try {
      const verdict = await answer(
        api.GET("/v1/audit/verify", { params: { query: { ...place, agent: "-", user: "-" } } }),
      );
      if (verdict.is_intact) toast.success(t("audit.intact", { count: verdict.sealed }));
      else toast.danger(t("audit.broken", { count: verdict.faults.length }), { timeout: 0 });
    } catch (error) {
      tellTrouble(error);
    }
  };
  return (
    <Page
      title={t("nav.audit")}
      lead={t("audit.lead")}
      actions={
        reach.isOperator && (
          <Button variant="secondary" onPress={() => void verify()}>
            <ShieldCheck aria-hidden />
            {t("audit.verify")}
          </Button>
        )
      }
    >
      <div className="mb-5 flex flex-wrap items-end gap-3">
        <Choice
          label={t("audit.action")}
          className="min-w-44"
          value={search.action ?? ANY}
          options={[
            { id: ANY, label: t("audit.anyAction") },
            ...ACTIONS.map((id) => ({ id, label: t(`did.${id}` as MessageKey) })),
          ]}
          onChange={(id) => set({ action: id === ANY ? undefined : id })}
        />
        <form
          className="flex min-w-64 flex-1 items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            set({ target: target.trim() === "" ? undefined : target.trim() });
          }}
        >
          <Field
            label={t("audit.follow")}
            placeholder="mem_…, turn_…, recall_…"
            value={target}
            onChange={setTarget}
          />
          <Button type="submit" variant="secondary">
            {t("audit.show")}
          </Button>
          {search.target !== undefined && (
            <Button
              isIconOnly
              variant="ghost"
              aria-label={t("filter.clear")}
              onPress={() => set({ target: undefined })}
            >
              <X aria-hidden />
            </Button>
          )}
        </form>
      </div>
      {found.isError ? (
        <Trouble error={found.error} retry={() => void found.refetch()} />
      ) : found.data === undefined ? (
        <CardSkeletons count={4} />
      ) : entries.length === 0 ? (
        <EmptyState icon={ScrollText} title={t("audit.none")}>
          {t("audit.noneLead")}
        </EmptyState>
      ) : (
        <>
          <ol className="panel divide-line divide-y overflow-hidden">
            {entries.map((entry) => (
              <EntryRow
                key={entry.id}
                entry={entry}
                onFollow={() => set({ target: entry.target, action: undefined })}
                onReplay={() => setReplayed(entry)}
              />
            ))}
          </ol>
          {found.hasNextPage && (
            <div className="mt-4 text-center">
              <Button
                variant="tertiary"
                isPending={found.isFetchingNextPage}
                onPress={() => void found.fetchNextPage()}
              >
                {t("action.more")}
              </Button>
            </div>
          )}
        </>
      )}
      <ReplayDialog entry={replayed} onClose={() => setReplayed(null)} />
    </Page>
  );
}

const isId = (target: string) => /^[a-z]+_[0-9a-z]/.test(target);

function EntryRow({
  entry,
  onFollow,
  onReplay,
}: {
  entry: Entry;
  onFollow: () => void;
  onReplay: () => void;
}) {
  const { t, has } = useTranslation();
  const format = useFormat();
  const key = `did.${entry.action}`;
  const name = has(key) ? t(key) : entry.action;
  const isPrompt = entry.action === "inject";
  const why = [entry.payload["reason"], entry.payload["question"]].find(
    (text): text is string => typeof text === "string" && text !== "",
  ) ?? "";
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-5 py-3.5">
      <time className="caption number w-36 shrink-0" dateTime={entry.at}>
        {format.moment(entry.at)}
      </time>
      <span className="w-32 shrink-0">
        <span className="bg-default rounded-full px-2.5 py-1 text-xs font-medium whitespace-nowrap">{name}</span>
      </span>
      <span className="min-w-0 flex-1 basis-52">
        {isId(entry.target) ? (
          <button
            type="button"
            className="ink-link said font-mono text-xs"
            onClick={onFollow}
            title={t("audit.follow")}
          >
            {entry.target}
          </button>
        ) : (
          <span className="said text-xs">{entry.target}</span>
        )}
        <span className="caption said ms-2">
          {entry.actor}
          {entry.scope.user !== null && ` · ${entry.scope.user}`}
          {entry.is_erased && ` · ${t("audit.erased")}`}
        </span>
        {why !== "" && <span className="said text-muted line-clamp-2 block text-[13px]">{why}</span>}
      </span>
      {isPrompt && (
        <Button size="sm" variant="ghost" onPress={onReplay}>
          <History aria-hidden />
          {t("audit.replay")}
        </Button>
      )}
      {entry.seq !== null && (
        <span className="caption number hidden sm:inline" title={t("audit.sealed")}>
          #{entry.seq}
        </span>
      )}
    </li>
  );
}

function ReplayDialog({ entry, onClose }: { entry: Entry | null; onClose: () => void }) {
  const { t } = useTranslation();
  const format = useFormat();
  const replay = useQuery({
    queryKey: ["replay", entry?.target],
    enabled: entry !== null,
    staleTime: 0,
    queryFn: () => {
      const scope = entry?.scope;
      return answer(
        api.GET("/v1/recalls/{recall_id}/replay", {
          params: {
            path: { recall_id: entry?.target ?? "" },
            query: {
              org: scope?.org,
              workspace: scope?.workspace,
              agent: scope?.agent ?? "-",
              user: scope?.user ?? "-",
            },
          },
        }),
      );
    },
  });
  return (
    <Dialog
      isOpen={entry !== null}
      onClose={onClose}
      title={t("replay.title")}
      lead={replay.data === undefined ? undefined : `“${replay.data.question}”`}
      width="max-w-2xl"
    >
      {replay.isError ? (
        <Trouble error={replay.error} />
      ) : replay.data === undefined ? (
        <Skeleton className="h-24 rounded-xl" />
      ) : (
        <div className="space-y-4">
          <p className={replay.data.is_same ? "text-procedural" : "text-shared"}>
            {t(replay.data.is_same ? "replay.same" : "replay.different", {
              when: format.moment(replay.data.at),
            })}
          </p>
          <ul className="space-y-3">
            {replay.data.items.map((item) => (
              <li key={item.id} className="border-line rounded-xl border p-3">
                <p className="caption">
                  {t(`fate.${item.fate}` as MessageKey)}
                  {item.score_then !== null && ` · ${t("replay.then")} ${format.percent(item.score_then)}`}
                  {item.score_now !== null && ` · ${t("replay.now")} ${format.percent(item.score_now)}`}
                </p>
                <p className="said mt-1">{item.content || item.id}</p>
              </li>
            ))}
          </ul>
        </div>
      )}
    </Dialog>
  );
}
