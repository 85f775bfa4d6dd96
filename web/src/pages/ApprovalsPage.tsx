import { Button, toast } from "@heroui/react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { Check, PencilLine, Stamp, Undo2, X } from "lucide-react";
import { useState } from "react";
import { refreshEverything, removeFromWaiting } from "../api/cache";
import { answer, api, type Schemas } from "../api/client";
import type { Owner } from "../api/place";
import { keys, scopeIn, useReach } from "../api/queries";
import { useTranslation } from "../i18n";
import { authorOf } from "../i18n/author";
import { useFormat } from "../i18n/format";
import type { ApprovalsSearch } from "../lib/address";
import { usePlace, useSetSearch } from "../lib/place";
import { Choice } from "../parts/Choice";
import { Dialog, DialogButtons } from "../parts/Dialog";
import { Difference } from "../parts/Difference";
import { EmptyState, Loaded, useAttempt, useOfferUndo } from "../parts/feedback";
import { Field } from "../parts/Field";
import { Page } from "../parts/Page";

type Proposal = Schemas["Proposal"];

const STATUSES = ["pending", "approved", "rejected", "withdrawn", "expired"] as const;

const TEACHING = `curl "$ORIGIN/v1/proposals?agent=reviewer" \\
  -H "Content-Type: application/json" \\
  -d '{"type": "preference", "content": "Answers are short"}'`;

/** What agents want all others to know: decide on each. */
export function ApprovalsPage() {
  const { t } = useTranslation();
  const place = usePlace();
  const setSearch = useSetSearch();
  const search: ApprovalsSearch = useSearch({ strict: false });
  const status = STATUSES.find((name) => name === search.status) ?? "pending";
  const reach = useReach();
  const owner = scopeIn(place, { user: search.user }, reach);
  const found = useQuery({
    queryKey: [keys.live, "proposals", owner, status],
    queryFn: () =>
      answer(api.GET("/v1/proposals", { params: { query: { ...owner, status, limit: 100 } } })),
  });
  return (
    <Page
      title={t("nav.approvals")}
      lead={t("approvals.lead")}
      actions={
        <Choice
          label={t("filter.status")}
          isLabelHidden
          className="min-w-40"
          value={status}
          options={STATUSES.map((id) => ({ id, label: t(`proposal.${id}`) }))}
          onChange={(id) => setSearch({ status: id === "pending" ? undefined : id })}
        />
      }
    >
      <Loaded query={found}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState icon={Stamp} title={t("approvals.none")} example={TEACHING}>
              {t("approvals.noneLead")}
            </EmptyState>
          ) : (
            <ul className="space-y-4">
              {items.map((proposal) => (
                <ProposalCard key={proposal.id} proposal={proposal} owner={owner} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Page>
  );
}

function ProposalCard({ proposal, owner }: { proposal: Proposal; owner: Owner }) {
  const { t, named } = useTranslation();
  const format = useFormat();
  const queries = useQueryClient();
  const { canDecide } = useReach();
  const { attempt, isWorking } = useAttempt();
  const offerUndo = useOfferUndo();
  const [isRejecting, setRejecting] = useState(false);
  const [edited, setEdited] = useState<string>();
  const [reason, setReason] = useState("");
  const [isDecided, setDecided] = useState(false);
  const target = useQuery({
    queryKey: [keys.live, "shared", proposal.target],
    enabled: proposal.target !== null,
    retry: false,
    queryFn: () =>
      answer(
        api.GET("/v1/shared/{record_id}", {
          params: { path: { record_id: proposal.target ?? "" }, query: owner },
        }),
      ),
  });
  const params = { path: { proposal_id: proposal.id }, query: owner };
  /** Take back the decision that was seen; a newer one of somebody else stays. */
  const reopen = async ({ decided_at }: Proposal) => {
    await answer(api.POST("/v1/proposals/{proposal_id}/reopen", { params, body: { decided_at } }));
    toast.success(t("approvals.reopened"));
    await refreshEverything(queries);
  };
  /** Hide the card at once; it comes back with what was typed if the server refuses, or by undo. */
  const decide = (deed: Promise<Proposal>, done: string) =>
    attempt(async () => {
      setDecided(true);
      try {
        const decided = await deed;
        removeFromWaiting(queries, "proposals", proposal.id);
        offerUndo(done, () => attempt(() => reopen(decided)));
      } finally {
        setDecided(false);
        void refreshEverything(queries);
      }
    });
  const approve = () =>
    decide(
      answer(
        api.POST("/v1/proposals/{proposal_id}/approve", {
          params,
          body: edited === undefined ? {} : { content: edited },
        }),
      ),
      t("approvals.approved"),
    );
  const reject = () =>
    decide(
      answer(api.POST("/v1/proposals/{proposal_id}/reject", { params, body: { reason } })),
      t("approvals.rejected"),
    );
  const isPending = proposal.status === "pending";
  if (isDecided) return null;
  return (
    <li className="panel p-5" data-proposal={proposal.id}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="bg-shared-soft text-shared rounded-full px-2.5 py-0.5 text-xs font-medium">
          {named("type", proposal.type)}
        </span>
        <span className="caption">
          {proposal.role === "" || proposal.role === "person"
            ? t("approvals.by", { name: authorOf(proposal.proposer, t) })
            : t("approvals.byRole", {
                name: authorOf(proposal.proposer, t),
                role: proposal.role,
              })}
        </span>
        <span className="flex-1" />
        {!isPending && (
          <span className="caption font-medium">{t(`proposal.${proposal.status}`)}</span>
        )}
        <time className="caption" dateTime={proposal.created_at}>
          {format.age(proposal.created_at)}
        </time>
      </div>
      {proposal.title !== "" && <h2 className="said mt-3 font-semibold">{proposal.title}</h2>}
      <div className="mt-3 text-[15px]">
        {target.data !== undefined ? (
          <Difference before={target.data.content} after={edited ?? proposal.content} />
        ) : edited !== undefined ? (
          <Difference before={proposal.content} after={edited} />
        ) : (
          <p className="said leading-relaxed whitespace-pre-wrap">{proposal.content}</p>
        )}
      </div>
      {proposal.reason !== "" && (
        <p className="said text-muted mt-2">
          {t("approvals.because", { reason: proposal.reason })}
        </p>
      )}
      {proposal.nearest.length > 0 && (
        <section className="bg-canvas mt-3 rounded-xl px-4 py-3">
          <h3 className="eyebrow mb-1.5">{t("approvals.near")}</h3>
          <ul className="space-y-2">
            {proposal.nearest.map(({ record, verdict }) => (
              <li key={record.id}>
                <p className="caption">
                  {named("relation", verdict.relation)} · {format.percent(verdict.probability)} ·{" "}
                  {format.age(record.last_confirmed)}
                </p>
                <Difference before={record.content} after={edited ?? proposal.content} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {!isPending && proposal.decided_by !== null && (
        <p className="caption mt-2">
          {t("approvals.decided", { name: authorOf(proposal.decided_by, t) })} {proposal.decision}
        </p>
      )}
      {canDecide && (proposal.status === "approved" || proposal.status === "rejected") && (
        <Button
          size="sm"
          variant="secondary"
          className="mt-3"
          isPending={isWorking}
          onPress={() => void attempt(() => reopen(proposal))}
        >
          <Undo2 aria-hidden />
          {t("approvals.reopen")}
        </Button>
      )}
      {isPending && !canDecide && <p className="caption mt-3">{t("reach.coordinator")}</p>}
      {isPending && canDecide && (
        <div className="mt-4 space-y-3">
          {edited !== undefined && (
            <Field
              label={t("approvals.edited")}
              value={edited}
              rows={3}
              onChange={setEdited}
              autoFocus
            />
          )}
          <div className="flex flex-wrap gap-2">
            <Button size="sm" isPending={isWorking} onPress={() => void approve()}>
              <Check aria-hidden />
              {t(edited === undefined ? "approvals.approve" : "approvals.approveEdited")}
            </Button>
            <Button
              size="sm"
              variant="secondary"
              onPress={() => setEdited(edited === undefined ? proposal.content : undefined)}
            >
              <PencilLine aria-hidden />
              {t(edited === undefined ? "action.edit" : "action.cancel")}
            </Button>
            <Button size="sm" variant="danger-soft" onPress={() => setRejecting(true)}>
              <X aria-hidden />
              {t("approvals.reject")}
            </Button>
          </div>
        </div>
      )}
      <Dialog
        isOpen={isRejecting}
        onClose={() => setRejecting(false)}
        title={t("approvals.rejectTitle")}
        lead={t("approvals.rejectLead")}
        footer={
          <DialogButtons
            onCancel={() => setRejecting(false)}
            onConfirm={() => {
              setRejecting(false);
              void reject();
            }}
            label={t("approvals.reject")}
            isDanger
            isDisabled={reason.trim() === ""}
          />
        }
      >
        <Field label={t("editor.reason")} value={reason} rows={3} onChange={setReason} autoFocus />
      </Dialog>
    </li>
  );
}
