import { Button } from "@heroui/react";
import { useNavigate } from "@tanstack/react-router";
import { Plus, SearchX, Sparkles } from "lucide-react";
import { lazy } from "react";
import { useReach } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { isNarrowed, type MemorySearch, type Tab } from "../../lib/address";
import { DemoOffer } from "../../parts/demo";
import { EmptyState } from "../../parts/feedback";
import { OnDemand } from "../../parts/OnDemand";

const Welcome = lazy(async () => ({ default: (await import("../welcome/Welcome")).Welcome }));

const TEACHING = `curl "$ORIGIN/v1/records?user=ann" \\
  -H "Content-Type: application/json" \\
  -d '{"content": "Ann prefers window seats"}'`;

/** Why no record is shown, and what can be done about it. */
export function NoRecords({
  tab,
  search,
  onAdd,
}: {
  tab: Tab;
  search: MemorySearch;
  onAdd: () => void;
}) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { canWrite, isServer } = useReach();
  if (search.user !== undefined || isNarrowed(search)) {
    return (
      <EmptyState
        icon={SearchX}
        title={t("memory.noneMatch")}
        action={
          <Button
            variant="secondary"
            onPress={() => void navigate({ to: ".", search: { user: search.user } })}
          >
            {t("filter.clearAll")}
          </Button>
        }
      >
        {t("memory.noneMatchLead")}
      </EmptyState>
    );
  }
  if (tab === "all" && isServer) {
    return (
      <OnDemand isWanted>
        <Welcome />
      </OnDemand>
    );
  }
  return (
    <EmptyState
      icon={Sparkles}
      title={t(`empty.${tab}`)}
      example={TEACHING}
      action={
        <>
          {canWrite && (
            <Button onPress={onAdd}>
              <Plus aria-hidden />
              {t("memory.add")}
            </Button>
          )}
          {isServer && <DemoOffer />}
        </>
      }
    >
      {t(`empty.${tab}Lead`)}
    </EmptyState>
  );
}
