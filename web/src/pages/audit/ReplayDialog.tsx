import { Skeleton } from "@heroui/react";
import { useQuery } from "@tanstack/react-query";
import { answer, api } from "../../api/client";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { Dialog } from "../../parts/Dialog";
import { Loaded } from "../../parts/feedback";
import { ThingLink } from "../../parts/ThingLink";
import type { Entry } from "./AuditEntry";

/** What a prompt would be given today, beside what it was given then. */
export function ReplayDialog({ entry, onClose }: { entry: Entry | null; onClose: () => void }) {
  const { t, named } = useTranslation();
  const format = useFormat();
  const replay = useQuery({
    queryKey: ["replay", entry?.target],
    enabled: entry !== null,
    staleTime: 0,
    queryFn: () => {
      const scope = entry?.scope;
      return answer(
        api.GET("/v1/recalls/{recall_id}/replay", {
          params: {
            path: { recall_id: entry?.target ?? "" },
            query: {
              org: scope?.org,
              workspace: scope?.workspace,
              agent: scope?.agent ?? "-",
              user: scope?.user ?? "-",
            },
          },
        }),
      );
    },
  });
  return (
    <Dialog
      isOpen={entry !== null}
      onClose={onClose}
      title={t("replay.title")}
      lead={replay.data === undefined ? undefined : `“${replay.data.question}”`}
      width="max-w-2xl"
    >
      <Loaded query={replay} waiting={<Skeleton className="h-24 rounded-xl" />}>
        {({ is_same, at, scope, session, profile, items }) => (
          <div className="space-y-4">
            <p className={is_same ? "text-procedural" : "text-shared"}>
              {t(is_same ? "replay.same" : "replay.different", {
                when: format.second(at),
              })}
            </p>
            <ul className="space-y-3">
              {[...profile, ...items].map((item) => (
                <li key={`${item.kind} ${item.id}`} className="border-line rounded-xl border p-3">
                  <p className="caption">
                    {named("thing", item.kind)} · {named("fate", item.fate)}
                    {item.score_then !== null &&
                      ` · ${t("replay.then")} ${format.percent(item.score_then)}`}
                    {item.score_now !== null &&
                      ` · ${t("replay.now")} ${format.percent(item.score_now)}`}
                  </p>
                  <ThingLink
                    id={item.id}
                    name={item.content}
                    scope={entry?.scope ?? scope}
                    session={item.kind === "turn" ? session : undefined}
                    className="mt-1 line-clamp-3"
                  />
                </li>
              ))}
            </ul>
          </div>
        )}
      </Loaded>
    </Dialog>
  );
}
