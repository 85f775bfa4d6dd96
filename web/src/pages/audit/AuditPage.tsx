import { Button, toast } from "@heroui/react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { ScrollText, ShieldCheck, X } from "lucide-react";
import { useState } from "react";
import { answer, api } from "../../api/client";
import { keys, scopeIn, useReach } from "../../api/queries";
import { useTranslation } from "../../i18n";
import type { AuditSearch, Place } from "../../lib/address";
import { useCommand } from "../../lib/commands";
import { useOnChange } from "../../lib/changed";
import { usePlace, useSetSearch } from "../../lib/place";
import { Choice } from "../../parts/Choice";
import { CardSkeletons, EmptyState, Loaded, MoreButton, useAttempt } from "../../parts/feedback";
import { Field } from "../../parts/Field";
import { Page } from "../../parts/Page";
import { AuditEntry, type Entry } from "./AuditEntry";
import { ReplayDialog } from "./ReplayDialog";

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

/** The entries that the address asks for, wherever the key may look for them. */
function useAudit(place: Place, search: AuditSearch) {
  const reach = useReach();
  const owner = scopeIn(place, search, reach);
  return useInfiniteQuery({
    queryKey: [keys.live, "audit", owner, search, reach.isOperator],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam: cursor }) => {
      const { user, agent, action, target } = search;
      const page = { limit: PAGE, cursor };
      if (reach.isOperator) {
        const query = { ...place, user, agent, action, about: target, ...page };
        return answer(api.GET("/v1/workspace/audit", { params: { query } }));
      }
      if (target === undefined) {
        const query = { ...owner, ...page, action: action ?? null };
        return answer(api.GET("/v1/audit", { params: { query } }));
      }
      const params = { path: { id: target }, query: { ...owner, ...page } };
      return answer(api.GET("/v1/audit/{id}", { params }));
    },
    getNextPageParam: (page) => page.next_cursor,
  });
}

/** Who did what, when and why; nothing here can be changed unnoticed. */
export function AuditPage() {
  const { t, named } = useTranslation();
  const place = usePlace();
  const set = useSetSearch();
  const { attempt } = useAttempt();
  const search: AuditSearch = useSearch({ strict: false });
  const reach = useReach();
  const [replayed, setReplayed] = useState<Entry | null>(null);
  const found = useAudit(place, search);
  const entries = (found.data?.pages.flatMap((page) => page.items) ?? []).filter(
    (entry) => search.action === undefined || entry.action === search.action,
  );
  const verify = async () => {
    const verdict = await answer(
      api.GET("/v1/audit/verify", { params: { query: { ...place, agent: "-", user: "-" } } }),
    );
    if (verdict.is_intact) toast.success(t("audit.intact", { count: verdict.sealed }));
    else toast.danger(t("audit.broken", { count: verdict.faults.length }), { timeout: 0 });
  };
  useCommand("verify", () => void attempt(verify));
  return (
    <Page
      title={t("nav.audit")}
      lead={t("audit.lead")}
      actions={
        reach.isOperator && (
          <Button variant="secondary" onPress={() => void attempt(verify)}>
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
            ...ACTIONS.map((id) => ({ id, label: named("did", id) })),
          ]}
          onChange={(id) => set({ action: id === ANY ? undefined : id })}
        />
        <FollowForm target={search.target} onFollow={(target) => set({ target })} />
      </div>
      <Loaded query={found} waiting={<CardSkeletons count={4} />}>
        {() =>
          entries.length === 0 ? (
            <EmptyState icon={ScrollText} title={t("audit.none")}>
              {t("audit.noneLead")}
            </EmptyState>
          ) : (
            <>
              <ol className="panel divide-line divide-y overflow-hidden">
                {entries.map((entry) => (
                  <AuditEntry
                    key={entry.id}
                    entry={entry}
                    onFollow={() => set({ target: entry.target, action: undefined })}
                    onReplay={() => setReplayed(entry)}
                  />
                ))}
              </ol>
              <MoreButton list={found} />
            </>
          )
        }
      </Loaded>
      <ReplayDialog entry={replayed} onClose={() => setReplayed(null)} />
    </Page>
  );
}

/** Asks for the id of one thing, to show what happened to it. */
function FollowForm({
  target,
  onFollow,
}: {
  target: string | undefined;
  onFollow: (target: string | undefined) => void;
}) {
  const { t } = useTranslation();
  const [text, setText] = useState("");
  useOnChange([target], () => setText(target ?? ""));
  return (
    <form
      className="flex min-w-64 flex-1 items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onFollow(text.trim() === "" ? undefined : text.trim());
      }}
    >
      <Field
        label={t("audit.follow")}
        placeholder="mem_…, turn_…, recall_…"
        value={text}
        onChange={setText}
      />
      <Button type="submit" variant="secondary">
        {t("audit.show")}
      </Button>
      {target !== undefined && (
        <Button
          isIconOnly
          variant="ghost"
          aria-label={t("filter.clear")}
          onPress={() => onFollow(undefined)}
        >
          <X aria-hidden />
        </Button>
      )}
    </form>
  );
}
