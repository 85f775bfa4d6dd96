import { Skeleton } from "@heroui/react";
import { useQuery } from "@tanstack/react-query";
import { Circle, CircleCheck, ListTodo, NotebookPen } from "lucide-react";
import type { ReactNode } from "react";
import { answer, api } from "../../api/client";
import type { Owner } from "../../api/place";
import { keys } from "../../api/queries";
import { useTranslation } from "../../i18n";

/** The goal of a session, its steps, and what was decided. */
export function Scratchpad({ id, owner }: { id: string; owner: Owner }) {
  const { t } = useTranslation();
  const found = useQuery({
    queryKey: [keys.live, "scratchpad", owner, id],
    queryFn: () =>
      answer(
        api.GET("/v1/sessions/{session_id}/scratchpad", {
          params: { path: { session_id: id }, query: owner },
        }),
      ),
  });
  const pad = found.data;
  const steps = pad?.sub_goals ?? [];
  const done = pad?.completed ?? [];
  const lists: [string, string[]][] = [
    [t("pad.completed"), done.filter((step) => !steps.includes(step))],
    [
      t("pad.decisions"),
      (pad?.decisions ?? []).map(({ what, why }) => t("pad.decision", { what, why })),
    ],
    [t("pad.blockers"), pad?.blockers ?? []],
  ];
  const isEmpty =
    pad !== undefined &&
    pad.current_goal === "" &&
    steps.length === 0 &&
    lists.every(([, all]) => all.length === 0);
  return (
    <Side icon={<ListTodo className="text-muted size-4" aria-hidden />} title={t("pad.title")}>
      {pad === undefined ? (
        <Skeleton className="h-8 rounded-lg" />
      ) : isEmpty ? (
        <p className="text-muted">{t("pad.empty")}</p>
      ) : (
        <div className="space-y-3">
          <p className="said font-medium">{pad.current_goal}</p>
          {steps.length > 0 && (
            <ul className="space-y-1" aria-label={t("pad.subGoals")}>
              {steps.map((step) => {
                const isDone = done.includes(step);
                const Icon = isDone ? CircleCheck : Circle;
                return (
                  <li key={step} className="said flex gap-2">
                    <Icon
                      className={`mt-0.5 size-4 shrink-0 ${isDone ? "text-procedural" : "text-muted"}`}
                      aria-label={isDone ? t("pad.completed") : undefined}
                      aria-hidden={!isDone}
                    />
                    <span className={isDone ? "text-muted" : ""}>{step}</span>
                  </li>
                );
              })}
            </ul>
          )}
          {lists
            .filter(([, all]) => all.length > 0)
            .map(([name, all]) => (
              <div key={name}>
                <h3 className="eyebrow mb-1">{name}</h3>
                <ul className="list-disc space-y-0.5 ps-4">
                  {all.map((one, place) => (
                    <li key={place} className="said">
                      {one}
                    </li>
                  ))}
                </ul>
              </div>
            ))}
        </div>
      )}
    </Side>
  );
}

/** What an agent wrote down during a session. */
export function Notes({ id, owner }: { id: string; owner: Owner }) {
  const { t } = useTranslation();
  const found = useQuery({
    queryKey: [keys.live, "notes", owner, id],
    queryFn: () =>
      answer(
        api.GET("/v1/sessions/{session_id}/notes", {
          params: { path: { session_id: id }, query: owner },
        }),
      ),
  });
  const chunks = found.data?.chunks ?? [];
  return (
    <Side icon={<NotebookPen className="text-muted size-4" aria-hidden />} title={t("notes.title")}>
      {found.data === undefined ? (
        <Skeleton className="h-8 rounded-lg" />
      ) : chunks.length === 0 ? (
        <p className="text-muted">{t("notes.empty")}</p>
      ) : (
        <ul className="space-y-2">
          {chunks.map((chunk, place) => (
            <li key={place}>
              <p className="said line-clamp-3">{chunk.content}</p>
              <p className="caption">{chunk.source}</p>
            </li>
          ))}
        </ul>
      )}
    </Side>
  );
}

function Side({ icon, title, children }: { icon: ReactNode; title: string; children: ReactNode }) {
  return (
    <section className="panel p-5" aria-label={title}>
      <h2 className="mb-3 flex items-center gap-2 font-semibold">
        {icon}
        {title}
      </h2>
      {children}
    </section>
  );
}
