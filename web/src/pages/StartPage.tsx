import { Spinner } from "@heroui/react";
import { useQuery } from "@tanstack/react-query";
import { Navigate } from "@tanstack/react-router";
import { answer, api, type Schemas } from "../api/client";
import { keys, useHome, useReach, useWhoAmI } from "../api/queries";
import { useTranslation } from "../i18n";
import type { Place } from "../lib/address";
import { Trouble } from "../parts/feedback";

type Entry = Schemas["WorkspaceEntry"];

/** Return where to begin; the fullest workspace comes first. */
function wayIn(home: Place, every: Entry[]): Place {
  const isFull = ({ contents }: Entry) => contents.records + contents.turns > 0;
  const isHome = ({ org, workspace }: Place) => org === home.org && workspace === home.workspace;
  const full = every.filter(isFull);
  return full.find(isHome) ?? full[0] ?? home;
}

/** The way in: the workspace that the settings name or, while that is empty, one with content. */
export function StartPage() {
  const { t } = useTranslation();
  const me = useWhoAmI();
  const { isServer } = useReach();
  const home = useHome();
  const every = useQuery({
    queryKey: [keys.live, "workspaces"],
    enabled: isServer,
    retry: false,
    queryFn: () => answer(api.GET("/v1/workspaces", { params: { query: { limit: 200 } } })),
  });
  const isAsked = me.isSuccess && (!isServer || !every.isPending);
  if (home.data !== undefined && isAsked) {
    const { org, workspace } = wayIn(home.data.scope, every.data?.items ?? []);
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
