import { Button } from "@heroui/react";
import { Unplug } from "lucide-react";
import { useTranslation } from "../i18n";
import { reconnectNow, useIsLost } from "../lib/connection";

/** Says that the server does not answer; goes away by itself when it does. */
export function ConnectionBanner() {
  const { t } = useTranslation();
  const isLost = useIsLost();
  if (!isLost) return null;
  return (
    <div
      role="alert"
      className="bg-warning-soft text-warning-soft-foreground flex items-center gap-3 px-4 py-2 sm:px-6"
    >
      <Unplug className="size-4 shrink-0" aria-hidden />
      <p className="min-w-0 flex-1">
        <span className="font-medium">{t("connection.lost")}</span> {t("connection.lostLead")}
      </p>
      <Button size="sm" variant="tertiary" onPress={reconnectNow}>
        {t("connection.now")}
      </Button>
    </div>
  );
}
