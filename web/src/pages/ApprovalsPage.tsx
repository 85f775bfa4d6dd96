import { Button, toast } from "@heroui/react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Check, PencilLine, Stamp, X } from "lucide-react";
import { useState } from "react";
import { refreshEverything } from "../api/actions";
import { answer, api, type Schemas } from "../api/client";
import { keys, scopeIn, useReach } from "../api/queries";
import { useTranslation, type MessageKey } from "../i18n";
import { useFormat } from "../lib/format";
import { usePlace } from "../lib/place";
import { Choice } from "../parts/Choice";
import { Dialog } from "../parts/Dialog";
import { Difference } from "../parts/Difference";
import { CardSkeletons, EmptyState, Trouble, useTellTrouble } from "../parts/feedback";
import { Field } from "../parts/Field";
import { Page } from "../parts/Page";
import type { ApprovalsSearch } from "../router";

type Proposal = Schemas["Proposal"];

const STATUSES = ["pending", "approved", "rejected", "withdrawn", "expired"] as const;

const TEACHING = `curl "$ORIGIN/v1/proposals?agent=reviewer" \\
  -H "Content-Type: application/json" \\
  -d '{"type": "preference", "content": "Answers are short"}'`;

/** What agents want all others to know: decide on each. */
export function ApprovalsPage() {
  const { t } = useTranslation();
  const place = usePlace();
  const navigate = useNavigate();
  const search = useSearch({ strict: false }) as ApprovalsSearch;
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
          onChange={(id) =>
            void navigate({
              to: ".",
              search: ((old: ApprovalsSearch) => ({
                ...old,
                status: id === "pending" ? undefined : id,
              })) as never,
            })
          }
        />
      }
    >
      {found.isError ? (
        <Trouble error={found.error} retry={() => void found.refetch()} />
      ) : found.data === undefined ? (
        <CardSkeletons count={3} />
      ) : found.data.items.length === 0 ? (
        <EmptyState
          icon={Stamp}
          title={t("approvals.none")}
          example={TEACHING.replace("$ORIGIN", window.location.origin)}
        >
          {t("approvals.noneLead")}
        </EmptyState>
      ) : (
        <ul className="space-y-4">
          {found.data.items.map((proposal) => (
            <ProposalCard key={proposal.id} proposal={proposal} owner={owner} />
          ))}
        </ul>
      )}
    </Page>
  );
}

function ProposalCard({
  proposal,
  owner,
}: {
  proposal: Proposal;
  owner: { org: string; workspace: string; agent: string; user: string };
}) {
  const { t, has } = useTranslation();
  const format = useFormat();
  const queries = useQueryClient();
  const { canDecide } = useReach();
  const tellTrouble = useTellTrouble();
  const [isWorking, setWorking] = useState(false);
  const [isRejecting, setRejecting] = useState(false);
  const [edited, setEdited] = useState<string>();
  const [reason, setReason] = useState("");
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
  const work = async (deed: () => Promise<unknown>, done: MessageKey) => {
    setWorking(true);
    try {
      await deed();
      toast.success(t(done));
      await refreshEverything(queries);
    } catch (error) {
      tellTrouble(error);
    } finally {
      setWorking(false);
    }
  };
  const params = { path: { proposal_id: proposal.id }, query: owner };
  const approve = () =>
    work(
      () =>
        answer(
          api.POST("/v1/proposals/{proposal_id}/approve", {
            params,
            body: (edited === undefined ? {} : { content: edited }) as never,
          }),
        ),
      "approvals.approved",
    );
  const reject = () =>
    work(
      () =>
        answer(api.POST("/v1/proposals/{proposal_id}/reject", { params, body: { reason } as never })),
      "approvals.rejected",
    );
  const isPending = proposal.status === "pending";
  const type = `type.${proposal.type}`;
  return (
    <li className="panel p-5" data-proposal={proposal.id}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="bg-shared-soft text-shared rounded-full px-2.5 py-0.5 text-xs font-medium">
          {has(type) ? t(type) : proposal.type}
        </span>
        <span className="caption">
          {proposal.role === ""
            ? t("approvals.by", { name: proposal.proposer })
            : t("approvals.byRole", {
                name: proposal.proposer,
                role: proposal.role === "person" ? t("approvals.person") : proposal.role,
              })}
        </span>
        <span className="flex-1" />
        {!isPending && <span className="caption font-medium">{t(`proposal.${proposal.status}`)}</span>}
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
      {!isPending && proposal.decided_by !== null && (
        <p className="caption mt-2">
          {t("approvals.decided", { name: proposal.decided_by })} {proposal.decision}
        </p>
      )}
      {isPending && !canDecide && <p className="caption mt-3">{t("reach.coordinator")}</p>}
      {isPending && canDecide && (
        <div className="mt-4 space-y-3">
          {edited !== undefined && (
            <Field label={t("approvals.edited")} value={edited} rows={3} onChange={setEdited} autoFocus />
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
          <>
            <Button variant="tertiary" onPress={() => setRejecting(false)}>
              {t("action.cancel")}
            </Button>
            <Button
              variant="danger"
              isDisabled={reason.trim() === ""}
              onPress={() => {
                setRejecting(false);
                void reject();
              }}
            >
              {t("approvals.reject")}
            </Button>
          </>
        }
      >
        <Field label={t("editor.reason")} value={reason} rows={3} onChange={setReason} autoFocus />
      </Dialog>
    </li>
  );
}
