import { Spinner } from "@heroui/react";
import { Navigate } from "@tanstack/react-router";
import { useHome } from "../api/queries";
import { useTranslation } from "../i18n";
import { Trouble } from "../parts/feedback";

/** The way in: the workspace that the server's settings name. */
export function StartPage() {
  const { t } = useTranslation();
  const home = useHome();
  if (home.data !== undefined) {
    const { org, workspace } = home.data.scope;
    return <Navigate to="/org/$org/ws/$workspace/memory" params={{ org, workspace }} replace />;
  }
  return (
    <main className="grid min-h-dvh place-items-center p-6">
      {home.isError ? (
        <Trouble error={home.error} retry={() => void home.refetch()} />
      ) : (
        <Spinner aria-label={t("status.loading")} />
      )}
    </main>
  );
}
