import { CalendarClock, GitCompareArrows, Layers, ShieldQuestion } from "lucide-react";
import { memo, useState } from "react";
import { useHealth } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { useCommand } from "../../lib/commands";
import type { Who } from "../../lib/address";
import { usePlace } from "../../lib/place";
import { Trouble } from "../../parts/feedback";
import { lazyPart } from "../../parts/lazyPart";
import { OnDemand } from "../../parts/OnDemand";
import { Tile } from "../../parts/Tile";

const CleanUpDialog = lazyPart(async () => (await import("./CleanUpDialog")).CleanUpDialog);
const ConflictsDialog = lazyPart(async () => (await import("./ConflictsDialog")).ConflictsDialog);
const QuarantineDialog = lazyPart(async () => (await import("./QuarantineDialog")).QuarantineDialog);

type Opened = "expired" | "conflicts" | "quarantined" | null;

/** How well the memory is, in figures; those that ask for a decision open it. */
export const HealthPanel = memo(function HealthPanel({
  who,
  isBeginning,
}: {
  who: Who;
  /** Nothing is listed: shown only if there is something to look at all the same. */
  isBeginning: boolean;
}) {
  const { t } = useTranslation();
  const format = useFormat();
  const place = usePlace();
  const health = useHealth(place, who);
  const [opened, setOpened] = useState<Opened>(null);
  useCommand("cleanUp", () => setOpened("expired"));
  const close = () => setOpened(null);
  if (health.isError) return <Trouble error={health.error} retry={() => void health.refetch()} />;
  const figures = health.data;
  if (isBeginning && !(figures && figures.expired + figures.conflicts + figures.quarantined > 0)) {
    return null;
  }
  return (
    <>
      <section aria-label={t("health.label")} className="tiles">
        <Tile
          icon={Layers}
          label={t("health.total")}
          value={figures && format.number(figures.total)}
          note={
            figures?.mean_confidence == null
              ? undefined
              : t("health.confidence", { share: format.percent(figures.mean_confidence) })
          }
        />
        <Tile
          icon={CalendarClock}
          label={t("health.expired")}
          value={figures && format.number(figures.expired)}
          note={figures && figures.expired > 0 ? t("health.toCleanUp") : undefined}
          isUrgent={figures !== undefined && figures.expired > 0}
          onOpen={() => setOpened("expired")}
        />
        <Tile
          icon={GitCompareArrows}
          label={t("health.conflicts")}
          value={figures && format.number(figures.conflicts)}
          note={figures && figures.conflicts > 0 ? t("health.toResolve") : undefined}
          isUrgent={figures !== undefined && figures.conflicts > 0}
          onOpen={() => setOpened("conflicts")}
        />
        <Tile
          icon={ShieldQuestion}
          label={t("health.quarantined")}
          value={figures && format.number(figures.quarantined)}
          note={figures && figures.quarantined > 0 ? t("health.toReview") : undefined}
          isUrgent={figures !== undefined && figures.quarantined > 0}
          onOpen={() => setOpened("quarantined")}
        />
      </section>
      <OnDemand isWanted={opened === "expired"}>
        <CleanUpDialog isOpen={opened === "expired"} who={who} onClose={close} />
      </OnDemand>
      <OnDemand isWanted={opened === "conflicts"}>
        <ConflictsDialog isOpen={opened === "conflicts"} who={who} onClose={close} />
      </OnDemand>
      <OnDemand isWanted={opened === "quarantined"}>
        <QuarantineDialog isOpen={opened === "quarantined"} who={who} onClose={close} />
      </OnDemand>
    </>
  );
});
