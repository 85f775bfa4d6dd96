import { Button } from "@heroui/react";
import { useQuery } from "@tanstack/react-query";
import { Bot, Database, Plus, SlidersHorizontal } from "lucide-react";
import { useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { keys, useNames } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { useCommand } from "../../lib/commands";
import { usePlace } from "../../lib/place";
import { CardSkeletons, EmptyState, Trouble } from "../../parts/feedback";
import { Page } from "../../parts/Page";
import { ForOperators } from "../../parts/reach";
import { AgentDialog } from "./AgentDialog";
import { MoveState } from "./MoveState";

type Agent = Schemas["Agent"];

const TEACHING = `curl "$ORIGIN/v1/observe?user=ann&agent=helper" \\
  -H "Content-Type: application/json" \\
  -d '{"session": "monday", "messages": [{"role": "user", "content": "I am vegetarian"}]}'`;

/** The agents of the workspace: how much each remembers, and how it uses memory. */
export function AgentsPage() {
  return (
    <ForOperators of="server">
      <Agents />
    </ForOperators>
  );
}

function Agents() {
  const { t } = useTranslation();
  const format = useFormat();
  const place = usePlace();
  const [edited, setEdited] = useState<string | null>(null);
  const active = useNames(place, "agents");
  const configured = useQuery({
    queryKey: [keys.live, "configured-agents"],
    queryFn: () => answer(api.GET("/v1/agents", { params: { query: { limit: 200 } } })),
    // A move goes on by itself.
    refetchInterval: ({ state }) =>
      state.data?.items.some(({ move }) => move?.state === "copying") === true ? 1000 : false,
  });
  const setUp = new Map<string, Agent>(
    (configured.data?.items ?? []).map((agent) => [agent.name, agent]),
  );
  const held = new Map((active.data?.items ?? []).map((entry) => [entry.name, entry.contents]));
  const names = [...new Set([...held.keys(), ...setUp.keys()])];
  useCommand("newAgent", () => setEdited(""));
  const failed = active.isError ? active : configured.isError ? configured : null;
  return (
    <Page
      title={t("nav.agents")}
      lead={t("agents.lead")}
      actions={
        <Button variant="secondary" onPress={() => setEdited("")}>
          <Plus aria-hidden />
          {t("agents.new")}
        </Button>
      }
    >
      {failed !== null ? (
        <Trouble error={failed.error} retry={() => void failed.refetch()} />
      ) : active.data === undefined || configured.data === undefined ? (
        <CardSkeletons count={3} />
      ) : names.length === 0 ? (
        <EmptyState icon={Bot} title={t("agents.none")} example={TEACHING}>
          {t("agents.noneLead")}
        </EmptyState>
      ) : (
        <ul className="grid grid-cols-1 gap-4 sm:grid-cols-2 xl:grid-cols-3">
          {names.map((name) => {
            const agent = setUp.get(name);
            const contents = held.get(name);
            const isOn = agent?.enabled ?? true;
            return (
              <li key={name} className="panel flex flex-col p-5">
                <div className="flex items-start gap-3">
                  <span className="bg-accent-soft text-accent-soft-foreground grid size-9 shrink-0 place-items-center rounded-xl">
                    <Bot className="size-4.5" aria-hidden />
                  </span>
                  <div className="min-w-0 flex-1">
                    <h2 className="said truncate font-semibold">{name}</h2>
                    <p className="caption number">
                      {t("memory.count", { count: contents?.records ?? 0 })} ·{" "}
                      {t("agents.sessions", { count: contents?.sessions ?? 0 })}
                    </p>
                  </div>
                  <span
                    className={`rounded-full px-2.5 py-0.5 text-xs font-medium ${isOn ? "bg-procedural-soft text-procedural" : "bg-default text-muted"}`}
                  >
                    {t(isOn ? "agents.on" : "agents.off")}
                  </span>
                </div>
                {agent !== undefined && agent.store !== "" && (
                  <p className="caption said mt-3 flex items-center gap-1.5">
                    <Database className="size-3.5 shrink-0" aria-hidden />
                    <span className="min-w-0 truncate" title={agent.store}>
                      {t("agents.keptIn", { store: agent.store })}
                    </span>
                  </p>
                )}
                {agent?.move != null && <MoveState name={name} move={agent.move} />}
                <div className="mt-auto flex items-center justify-between gap-3 pt-4">
                  <p className="caption">
                    {[
                      contents?.last_active != null &&
                        t("agents.lastActive", { when: format.age(contents.last_active) }),
                      agent !== undefined &&
                        t(agent.origin === "file" ? "agents.fromFile" : "agents.fromHere"),
                    ]
                      .filter(Boolean)
                      .join(" · ")}
                  </p>
                  <Button size="sm" variant="tertiary" onPress={() => setEdited(name)}>
                    <SlidersHorizontal aria-hidden />
                    {t("agents.configure")}
                  </Button>
                </div>
              </li>
            );
          })}
        </ul>
      )}
      {edited !== null && (
        <AgentDialog
          name={edited}
          agent={setUp.get(edited)}
          hasMemory={held.has(edited)}
          onClose={() => setEdited(null)}
        />
      )}
    </Page>
  );
}
