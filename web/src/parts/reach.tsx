import { KeyRound, LockKeyhole } from "lucide-react";
import type { ReactNode } from "react";
import { scopeIn, useReach, useWhoAmI } from "../api/queries";
import { useTranslation } from "../i18n";
import { usePlace, useWho } from "../lib/place";
import { EmptyState } from "./feedback";

/** Says whose memory a key that does not reach the whole workspace shows. */
export function ReachNotice() {
  const { t } = useTranslation();
  const { data: me } = useWhoAmI();
  const { user, agent } = scopeIn(usePlace(), useWho(), useReach());
  if (me === undefined) return null;
  return (
    <p className="bg-accent-soft text-accent-soft-foreground said mb-5 flex items-start gap-2.5 rounded-xl px-4 py-3 leading-relaxed">
      <KeyRound className="mt-0.5 size-4 shrink-0" aria-hidden />
      <span>
        {t("reach.notice", {
          name: me.name,
          role: t(`roleName.${me.role}`),
          user: user === "-" ? t("reach.nobody") : user,
          agent: agent === "-" ? t("reach.noAgent") : agent,
        })}
      </span>
    </p>
  );
}

/** Shows a page to those whose key may see it, and tells all others why they do not. */
export function ForOperators({ of, children }: { of: "workspace" | "server"; children: ReactNode }) {
  const { t } = useTranslation();
  const reach = useReach();
  if (of === "server" ? reach.isServer : reach.isOperator) return children;
  return (
    <EmptyState icon={LockKeyhole} title={t("reach.closed")}>
      {t(of === "server" ? "reach.closedServer" : "reach.closedWorkspace")}
    </EmptyState>
  );
}
