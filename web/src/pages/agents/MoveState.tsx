import { Button, toast } from "@heroui/react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refreshEverything } from "../../api/cache";
import { answer, api, type Schemas } from "../../api/client";
import { keys } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { Dialog, DialogButtons } from "../../parts/Dialog";
import { useAttempt } from "../../parts/feedback";
import { Meter } from "../../parts/Meter";

/** How far the move of an agent's memory is, or that its old copy is still kept. */
export function MoveState({ name, move }: { name: string; move: Schemas["AgentMove"] }) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const { attempt, isWorking } = useAttempt();
  const [isAsking, setAsking] = useState(false);
  const isCopying = move.state === "copying";
  const jobs = useQuery({
    queryKey: [keys.live, "jobs", "move_agent"],
    enabled: isCopying,
    refetchInterval: 2000,
    queryFn: () =>
      answer(api.GET("/v1/jobs", { params: { query: { kind: "move_agent", limit: 100 } } })),
  });
  const trouble = jobs.data?.items.find((job) => job.key === name)?.error ?? "";
  const { source, target } = move;
  const purge = () =>
    void attempt(async () => {
      const { rows } = await answer(
        api.DELETE("/v1/agents/{name}/copy", { params: { path: { name } } }),
      );
      await refreshEverything(queries);
      toast.success(t("agents.purged", { count: rows }));
      setAsking(false);
    });
  return (
    <div className="bg-canvas mt-3 rounded-xl px-3 py-2.5" data-move={move.state}>
      <p className="said caption">
        {isCopying ? t("agents.moving", { target }) : t("agents.moved", { target, source })}
      </p>
      {isCopying && (
        <>
          <Meter
            className="mt-2 h-1.5"
            label={t("agents.moveProgress", { done: move.done, total: move.total })}
            value={move.total === 0 ? 0 : move.done / move.total}
          />
          {trouble !== "" && (
            <p role="alert" className="said text-danger mt-2 text-sm">
              {t("agents.moveTrouble", { trouble })}
            </p>
          )}
        </>
      )}
      {(!isCopying || trouble !== "") && (
        <Button size="sm" variant="tertiary" className="mt-2" onPress={() => setAsking(true)}>
          {t(isCopying ? "agents.giveUp" : "agents.purge")}
        </Button>
      )}
      <Dialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={t(isCopying ? "agents.giveUp" : "agents.purge")}
        lead={
          isCopying
            ? t("agents.giveUpLead", { target, source })
            : t("agents.purgeLead", { target, source })
        }
        footer={
          <DialogButtons
            onCancel={() => setAsking(false)}
            onConfirm={purge}
            label={t(isCopying ? "agents.giveUp" : "agents.purge")}
            isPending={isWorking}
            isDanger
          />
        }
      >
        {null}
      </Dialog>
    </div>
  );
}
