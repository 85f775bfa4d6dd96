import { useInfiniteQuery } from "@tanstack/react-query";
import { answer, api, type Turn } from "../../api/client";
import type { Owner } from "../../api/place";
import { keys } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { CardSkeletons, Loaded, MoreButton } from "../../parts/feedback";
import { ArchiveCard, useArchives, type Archive } from "./Archives";
import { roleOf, toolsOf } from "./turns";

/** What was said, and the results that were put away on the way. */
export function Conversation({ id, owner }: { id: string; owner: Owner }) {
  const { t } = useTranslation();
  const turns = useInfiniteQuery({
    queryKey: [keys.live, "turns", owner, id],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      answer(
        api.GET("/v1/turns", {
          params: { query: { ...owner, session: id, limit: 100, cursor: pageParam } },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  });
  const archives = useArchives(owner, id).data?.items ?? [];
  return (
    <Loaded query={turns} waiting={<CardSkeletons count={4} />}>
      {({ pages }) => {
        const said = pages.flatMap((page) => page.items);
        const apart = archives.filter((it) => !said.some((turn) => turn.content.includes(it.id)));
        return (
          <section aria-label={t("session.conversation")}>
            <h2 className="mb-3 font-semibold">{t("session.conversation")}</h2>
            {said.length === 0 && <p className="text-muted">{t("session.nothingSaid")}</p>}
            <ol className="space-y-3">
              {said.map((turn) => (
                <Message key={turn.id} turn={turn} owner={owner} archives={archives} />
              ))}
            </ol>
            <MoreButton list={turns} />
            {apart.length > 0 && (
              <div className="mt-6">
                <h2 className="mb-3 font-semibold">{t("session.archives")}</h2>
                <ul className="space-y-3">
                  {apart.map((archive) => (
                    <ArchiveCard key={archive.id} archive={archive} owner={owner} />
                  ))}
                </ul>
              </div>
            )}
          </section>
        );
      }}
    </Loaded>
  );
}

function Message({ turn, owner, archives }: { turn: Turn; owner: Owner; archives: Archive[] }) {
  const { t } = useTranslation();
  const format = useFormat();
  const role = roleOf(turn);
  const archived = archives.filter((archive) => turn.content.includes(archive.id));
  const tools = toolsOf(turn).join(", ");
  return (
    <li className={`flex ${role === "user" ? "justify-end" : ""}`}>
      <div
        className={`max-w-[46rem] rounded-2xl px-4 py-3 ${role === "user" ? "bg-accent-soft" : "panel"} ${role === "tool" || role === "system" ? "font-mono text-xs" : ""}`}
      >
        <p className="caption mb-1 font-sans">
          <span className="font-medium">{turn.speaker || t(`role.${role}`)}</span> ·{" "}
          <time dateTime={turn.at}>{format.moment(turn.at)}</time>
        </p>
        {tools !== "" && <p className="text-muted">{t("session.called", { tools })}</p>}
        {archived.length === 0 ? (
          <p className="said leading-relaxed whitespace-pre-wrap" dir="auto">
            {turn.content}
          </p>
        ) : (
          <ul className="space-y-3 font-sans text-sm">
            {archived.map((archive) => (
              <ArchiveCard key={archive.id} archive={archive} owner={owner} />
            ))}
          </ul>
        )}
      </div>
    </li>
  );
}
