import { Button, toast } from "@heroui/react";
import { useQueryClient } from "@tanstack/react-query";
import { GitCompareArrows } from "lucide-react";
import { useState } from "react";
import { refreshEverything } from "../../api/cache";
import { answer, api, type Record, type Schemas } from "../../api/client";
import { faceOf, ownerOf } from "../../api/place";
import { useConflicts } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import type { Who } from "../../lib/address";
import { usePlace } from "../../lib/place";
import { Dialog } from "../../parts/Dialog";
import { CardSkeletons, EmptyState, Loaded, useAttempt } from "../../parts/feedback";
import { FaceBadge } from "../../parts/faces";
import { Field } from "../../parts/Field";
import { Evidence } from "./Evidence";
import { Origin } from "./RecordCard";

type Dispute = Schemas["Dispute"];
type Resolution = Schemas["Decision"]["resolution"];

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
            <ul className="space-y-8">
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

function DisputeView({ dispute }: { dispute: Dispute }) {
  const { t, named } = useTranslation();
  const queries = useQueryClient();
  const [merged, setMerged] = useState<string>();
  const { attempt, isWorking } = useAttempt();
  const resolve = (resolution: Resolution, content?: string) =>
    void attempt(async () => {
      const { id, scope } = dispute.conflict;
      await answer(
        api.POST("/v1/upkeep/conflicts/{conflict_id}/resolve", {
          params: { path: { conflict_id: id }, query: ownerOf(scope) },
          body: { resolution, ...(content === undefined ? {} : { content }) },
        }),
      );
      toast.success(t("conflicts.resolved"));
      await refreshEverything(queries);
    });
  return (
    <li className="space-y-3" data-conflict={dispute.conflict.id}>
      {dispute.conflict.reason !== "" && (
        <p className="text-muted said">{named("verdict", dispute.conflict.reason)}</p>
      )}
      <div className="grid gap-3 md:grid-cols-2">
        <Side name="A" record={dispute.first} />
        <Side name="B" record={dispute.second} />
      </div>
      {merged === undefined ? (
        <div className="flex flex-wrap gap-2">
          <Button size="sm" isDisabled={isWorking} onPress={() => resolve("keep_first")}>
            {t("conflicts.keepA")}
          </Button>
          <Button size="sm" isDisabled={isWorking} onPress={() => resolve("keep_second")}>
            {t("conflicts.keepB")}
          </Button>
          <Button
            size="sm"
            variant="secondary"
            isDisabled={isWorking}
            onPress={() => setMerged(`${dispute.first.content}\n${dispute.second.content}`)}
          >
            {t("conflicts.merge")}
          </Button>
          <Button
            size="sm"
            variant="tertiary"
            isDisabled={isWorking}
            onPress={() => resolve("both_at_different_times")}
          >
            {t("conflicts.bothTimes")}
          </Button>
        </div>
      ) : (
        <div className="space-y-3">
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
    </li>
  );
}

function Side({ name, record }: { name: string; record: Record }) {
  const { t } = useTranslation();
  const format = useFormat();
  return (
    <section className="border-line rounded-2xl border p-4">
      <div className="mb-2 flex items-center gap-2">
        <span className="bg-default grid size-6 place-items-center rounded-full text-xs font-semibold">
          {name}
        </span>
        <FaceBadge face={faceOf(record)} />
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
