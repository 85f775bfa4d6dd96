import { Button, toast } from "@heroui/react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ShieldCheck } from "lucide-react";
import { useState } from "react";
import { refreshEverything } from "../../api/actions";
import { answer, api, type Record } from "../../api/client";
import { faceOf, ownerOf } from "../../api/place";
import { keys, scopeIn, useReach, type Who } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { usePlace } from "../../lib/place";
import { Dialog } from "../../parts/Dialog";
import { CardSkeletons, EmptyState, Trouble, useTellTrouble } from "../../parts/feedback";
import { FaceBadge } from "../../parts/faces";
import { Evidence } from "./Evidence";

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
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={t("quarantine.title")}
      lead={t("quarantine.lead")}
      width="max-w-2xl"
    >
      {found.isError ? (
        <Trouble error={found.error} retry={() => void found.refetch()} />
      ) : found.data === undefined ? (
        <CardSkeletons count={2} />
      ) : found.data.items.length === 0 ? (
        <EmptyState icon={ShieldCheck} title={t("quarantine.none")}>
          {t("quarantine.noneLead")}
        </EmptyState>
      ) : (
        <ul className="space-y-4">
          {found.data.items.map((record) => (
            <Suspect key={record.id} record={record} />
          ))}
        </ul>
      )}
    </Dialog>
  );
}

function Suspect({ record }: { record: Record }) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const tellTrouble = useTellTrouble();
  const [isWorking, setWorking] = useState(false);
  const decide = async (verdict: "accept" | "reject") => {
    setWorking(true);
    try {
      await answer(
        api.POST(`/v1/upkeep/quarantine/{record_id}/${verdict}`, {
          params: { path: { record_id: record.id }, query: ownerOf(record.scope) },
          body: {} as never,
        }),
      );
      toast.success(t(`quarantine.${verdict}ed`));
      await refreshEverything(queries);
    } catch (error) {
      tellTrouble(error);
    } finally {
      setWorking(false);
    }
  };
  return (
    <li className="border-line rounded-2xl border p-4">
      <FaceBadge face={faceOf(record)} />
      <p className="said mt-2 text-[15px] leading-relaxed">{record.content}</p>
      <div className="mt-3">
        <Evidence record={record} />
      </div>
      <div className="mt-4 flex gap-2">
        <Button size="sm" isDisabled={isWorking} onPress={() => void decide("accept")}>
          {t("quarantine.accept")}
        </Button>
        <Button
          size="sm"
          variant="danger-soft"
          isDisabled={isWorking}
          onPress={() => void decide("reject")}
        >
          {t("quarantine.reject")}
        </Button>
      </div>
    </li>
  );
}
