import { Button, toast } from "@heroui/react";
import { useQueryClient } from "@tanstack/react-query";
import { GitCompareArrows } from "lucide-react";
import { useState } from "react";
import { refreshEverything, removeFromWaiting } from "../../api/cache";
import { answer, api, type Record, type Schemas } from "../../api/client";
import { faceOf, ownerOf } from "../../api/place";
import { useConflicts } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import type { Who } from "../../lib/address";
import { usePlace } from "../../lib/place";
import { Dialog } from "../../parts/Dialog";
import {
  CardSkeletons,
  EmptyState,
  Loaded,
  useAttempt,
  useOfferUndo,
} from "../../parts/feedback";
import { FaceBadge } from "../../parts/faces";
import { Field } from "../../parts/Field";
import { QueueItem, useFirstInQueue } from "../../parts/Queue";
import { Evidence } from "./Evidence";
import { nameOf, Origin } from "./RecordCard";

type Dispute = Schemas["Dispute"];
type Resolution = Schemas["Decision"]["resolution"];

// What was noticed within this time was noticed together.
const TOGETHER_MS = 60_000;

/** Records that contradict each other, side by side, each with what it rests on. */
export function ConflictsDialog({
  isOpen,
  who,
  onClose,
}: {
  isOpen: boolean;
  who: Who;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const place = usePlace();
  const conflicts = useConflicts(place, who, isOpen);
  const list = useFirstInQueue(isOpen && (conflicts.data?.items.length ?? 0) > 0);
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={t("conflicts.title")}
      lead={t("conflicts.lead")}
      width="max-w-4xl"
    >
      <Loaded query={conflicts} waiting={<CardSkeletons count={1} />}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState icon={GitCompareArrows} title={t("conflicts.none")}>
              {t("conflicts.noneLead")}
            </EmptyState>
          ) : (
            <ul className="space-y-4 p-1" ref={list}>
              {items.map((dispute) => (
                <DisputeView key={dispute.conflict.id} dispute={dispute} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Dialog>
  );
}

/** Of records about one thing the newer one wins or, of two noticed together, the more certain. */
function winnerOf({ first, second }: Dispute): "first" | "second" | null {
  const apart = Date.parse(first.last_confirmed) - Date.parse(second.last_confirmed);
  if (Math.abs(apart) > TOGETHER_MS) return apart > 0 ? "first" : "second";
  if (first.confidence !== second.confidence)
    return first.confidence > second.confidence ? "first" : "second";
  return apart === 0 ? null : apart > 0 ? "first" : "second";
}

function DisputeView({ dispute }: { dispute: Dispute }) {
  const { t, named } = useTranslation();
  const queries = useQueryClient();
  const [merged, setMerged] = useState<string>();
  const [isDecided, setDecided] = useState(false);
  const { attempt, isWorking } = useAttempt();
  const offerUndo = useOfferUndo();
  const { id, scope } = dispute.conflict;
  const params = { path: { conflict_id: id }, query: ownerOf(scope) };
  /** Take back the decision that was seen; a newer one of somebody else stays. */
  const reopen = ({ resolved_at }: Dispute["conflict"]) =>
    attempt(async () => {
      const body = { resolved_at };
      await answer(api.POST("/v1/upkeep/conflicts/{conflict_id}/reopen", { params, body }));
      toast.success(t("conflicts.undone"));
      await refreshEverything(queries);
    });
  const resolve = (resolution: Resolution, content?: string) =>
    void attempt(async () => {
      setDecided(true);
      try {
        const { conflict } = await answer(
          api.POST("/v1/upkeep/conflicts/{conflict_id}/resolve", {
            params,
            body: { resolution, ...(content === undefined ? {} : { content }) },
          }),
        );
        removeFromWaiting(queries, "conflicts", id);
        offerUndo(t("conflicts.resolved"), () => reopen(conflict));
      } finally {
        setDecided(false);
        void refreshEverything(queries);
      }
    });
  const winner = winnerOf(dispute);
  const { first, second } = dispute;
  const apart = Math.abs(Date.parse(first.last_confirmed) - Date.parse(second.last_confirmed));
  const isNewest = apart > TOGETHER_MS || first.confidence === second.confidence;
  const look = (side: "first" | "second") => (winner === side ? "primary" : "secondary");
  // Hidden at once; it comes back with what was typed if the server refuses.
  if (isDecided) return null;
  return (
    <QueueItem
      data-conflict={dispute.conflict.id}
      label={`${nameOf(dispute.first)} / ${nameOf(dispute.second)}`}
      decisions={
        merged !== undefined
          ? []
          : [
              {
                label: t("conflicts.keepA"),
                look: look("first"),
                isDisabled: isWorking,
                onDecide: () => resolve("keep_first"),
              },
              {
                label: t("conflicts.keepB"),
                look: look("second"),
                isDisabled: isWorking,
                onDecide: () => resolve("keep_second"),
              },
              {
                label: t("conflicts.bothTimes"),
                look: "tertiary",
                isDisabled: isWorking,
                onDecide: () => resolve("both_at_different_times"),
              },
              {
                label: t("conflicts.merge"),
                look: "tertiary",
                isDisabled: isWorking,
                onDecide: () => setMerged(`${dispute.first.content}\n${dispute.second.content}`),
              },
            ]
      }
    >
      {dispute.conflict.reason !== "" && (
        <p className="text-muted said mb-3">{named("verdict", dispute.conflict.reason)}</p>
      )}
      <div className="grid gap-3 md:grid-cols-2">
        <Side name="A" record={dispute.first} isWinner={winner === "first"} />
        <Side name="B" record={dispute.second} isWinner={winner === "second"} />
      </div>
      {winner !== null && (
        <p className="caption mt-2">
          {t(isNewest ? "conflicts.newest" : "conflicts.surest", {
            name: winner === "first" ? "A" : "B",
          })}
        </p>
      )}
      {merged !== undefined && (
        <div className="mt-3 space-y-3">
          <Field label={t("conflicts.mergedText")} value={merged} rows={3} onChange={setMerged} />
          <div className="flex gap-2">
            <Button
              size="sm"
              isDisabled={merged.trim() === ""}
              isPending={isWorking}
              onPress={() => resolve("merge", merged)}
            >
              {t("conflicts.saveMerge")}
            </Button>
            <Button size="sm" variant="tertiary" onPress={() => setMerged(undefined)}>
              {t("action.cancel")}
            </Button>
          </div>
        </div>
      )}
    </QueueItem>
  );
}

function Side({ name, record, isWinner }: { name: string; record: Record; isWinner: boolean }) {
  const { t } = useTranslation();
  const format = useFormat();
  return (
    <section
      className={`rounded-2xl border p-4 ${isWinner ? "border-accent bg-accent-soft/40" : "border-line"}`}
    >
      <div className="mb-2 flex items-center gap-2">
        <span className="bg-default grid size-6 place-items-center rounded-full text-xs font-semibold">
          {name}
        </span>
        <FaceBadge face={faceOf(record)} />
        {isWinner && (
          <span className="text-accent-soft-foreground text-xs font-medium">
            {t("conflicts.recommended")}
          </span>
        )}
        <span className="flex-1" />
        <span className="caption number">{format.percent(record.confidence)}</span>
      </div>
      <p className="said text-[15px] leading-relaxed">{record.content}</p>
      <p className="caption mt-2">
        <Origin record={record} /> · {format.moment(record.last_confirmed)}
      </p>
      {record.evidence.length > 0 && (
        <div className="border-line mt-3 border-t pt-3">
          <h4 className="eyebrow mb-2">{t("panel.evidence")}</h4>
          <Evidence record={record} />
        </div>
      )}
    </section>
  );
}
