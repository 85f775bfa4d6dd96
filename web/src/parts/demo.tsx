import { Button } from "@heroui/react";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { FlaskConical } from "lucide-react";
import { answer, api, ApiProblem } from "../api/client";
import { refreshEverything } from "../api/cache";
import { useTranslation } from "../i18n";
import { usePlace } from "../lib/place";
import { useAttempt } from "./feedback";

/** The workspace that holds the demo. */
export const DEMO = "demo";

/** Loads a workspace with made-up people, unless it is there, and goes to it. */
export function DemoOffer({ onGo }: { onGo?: () => void }) {
  const { t, language } = useTranslation();
  const { org } = usePlace();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { attempt, isWorking } = useAttempt();
  const go = async () => {
    onGo?.();
    await navigate({ to: "/org/$org/ws/$workspace/memory", params: { org, workspace: DEMO } });
  };
  const load = async () => {
    try {
      await answer(api.POST("/v1/demo", { params: { query: { org } }, body: { language } }));
      await refreshEverything(queries);
    } catch (error) {
      if (!(error instanceof ApiProblem && error.code === "demo_loaded")) throw error;
    }
    await go();
  };
  return (
    <Button variant="secondary" isPending={isWorking} onPress={() => void attempt(load)}>
      <FlaskConical aria-hidden />
      {t("demo.load")}
    </Button>
  );
}

/** Says that a workspace is the demo, and removes it. */
export function DemoNotice() {
  const { t } = useTranslation();
  const { org } = usePlace();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { attempt, isWorking } = useAttempt();
  const remove = async () => {
    await answer(api.DELETE("/v1/demo", { params: { query: { org } } }));
    await refreshEverything(queries);
    await navigate({ to: "/" });
  };
  return (
    <div className="bg-accent-soft text-accent-soft-foreground mb-4 flex items-center gap-x-3 rounded-xl px-4 py-1.5">
      <FlaskConical className="size-4 shrink-0" aria-hidden />
      <p className="min-w-0 flex-1">{t("demo.notice")}</p>
      <Button
        size="sm"
        variant="tertiary"
        isPending={isWorking}
        onPress={() => void attempt(remove)}
      >
        {t("demo.remove")}
      </Button>
    </div>
  );
}
