import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ShieldCheck } from "lucide-react";
import { refreshEverything, removeFromWaiting } from "../../api/cache";
import { answer, api, type Record } from "../../api/client";
import { faceOf, ownerOf } from "../../api/place";
import { keys, scopeIn, useReach } from "../../api/queries";
import { useTranslation } from "../../i18n";
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
import { QueueItem, useFirstInQueue } from "../../parts/Queue";
import { useRecordActions } from "./actions";
import { Evidence } from "./Evidence";
import { nameOf } from "./RecordCard";

/** Records that their source does not bear out: accept or reject each. */
export function QuarantineDialog({
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
  const reach = useReach();
  const found = useQuery({
    queryKey: [keys.live, "quarantine", place, who, reach],
    enabled: isOpen,
    queryFn: () =>
      answer(
        reach.isOperator
          ? api.GET("/v1/workspace/records", {
              params: { query: { ...place, ...who, status: ["quarantined"], limit: 50 } },
            })
          : api.GET("/v1/upkeep/quarantine", {
              params: { query: { ...scopeIn(place, who, reach), limit: 50 } },
            }),
      ),
  });
  const list = useFirstInQueue(isOpen && (found.data?.items.length ?? 0) > 0);
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={t("quarantine.title")}
      lead={t("quarantine.lead")}
      width="max-w-2xl"
    >
      <Loaded query={found} waiting={<CardSkeletons count={2} />}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState icon={ShieldCheck} title={t("quarantine.none")}>
              {t("quarantine.noneLead")}
            </EmptyState>
          ) : (
            <ul className="space-y-4 p-1" ref={list}>
              {items.map((record) => (
                <Suspect key={record.id} record={record} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Dialog>
  );
}

function Suspect({ record }: { record: Record }) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const { attempt, isWorking } = useAttempt();
  const offerUndo = useOfferUndo();
  const { takeBack } = useRecordActions();
  const decide = async (verdict: "accept" | "reject") => {
    removeFromWaiting(queries, "quarantine", record.id);
    try {
      const decided = await answer(
        api.POST(`/v1/upkeep/quarantine/{record_id}/${verdict}`, {
          params: { path: { record_id: record.id }, query: ownerOf(record.scope) },
          body: {},
        }),
      );
      offerUndo(t(`quarantine.${verdict}ed`), () => takeBack([decided], t("quarantine.undone")));
    } finally {
      void refreshEverything(queries);
    }
  };
  return (
    <QueueItem
      label={nameOf(record)}
      decisions={[
        {
          label: t("quarantine.accept"),
          isDisabled: isWorking,
          onDecide: () => void attempt(() => decide("accept")),
        },
        {
          label: t("quarantine.reject"),
          look: "danger-soft",
          isDisabled: isWorking,
          onDecide: () => void attempt(() => decide("reject")),
        },
      ]}
    >
      <FaceBadge face={faceOf(record)} />
      <p className="said mt-2 text-[15px] leading-relaxed">{record.content}</p>
      <div className="mt-3">
        <Evidence record={record} />
      </div>
    </QueueItem>
  );
}
