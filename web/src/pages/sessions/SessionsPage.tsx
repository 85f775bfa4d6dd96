import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Archive, MessagesSquare } from "lucide-react";
import { answer, api } from "../../api/client";
import { keys, scopeIn, useReach } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { usePlace, useWho } from "../../lib/place";
import { CardSkeletons, EmptyState, Loaded, MoreButton } from "../../parts/feedback";
import { Page } from "../../parts/Page";
import { ReachNotice } from "../../parts/reach";

const TEACHING = `curl "$ORIGIN/v1/observe?user=ann" \\
  -H "Content-Type: application/json" \\
  -d '{"session": "monday", "messages": [{"role": "user", "content": "I am vegetarian"}]}'`;

/** The conversations of the workspace, the one that went on last first. */
export function SessionsPage() {
  const { t } = useTranslation();
  const format = useFormat();
  const place = usePlace();
  const who = useWho();
  const reach = useReach();
  const found = useInfiniteQuery({
    queryKey: [keys.live, "sessions", place, who, reach],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      answer(
        reach.isOperator
          ? api.GET("/v1/workspace/sessions", {
              params: { query: { ...place, ...who, limit: 50, cursor: pageParam } },
            })
          : api.GET("/v1/sessions", {
              params: {
                query: { ...scopeIn(place, who, reach), limit: 50, cursor: pageParam },
              },
            }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  });
  const sessions = found.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page title={t("nav.sessions")} lead={t("sessions.lead")}>
      {!reach.isOperator && <ReachNotice />}
      <Loaded query={found} waiting={<CardSkeletons count={4} />}>
        {() =>
          sessions.length === 0 ? (
            <EmptyState icon={MessagesSquare} title={t("sessions.none")} example={TEACHING}>
              {t("sessions.noneLead")}
            </EmptyState>
          ) : (
            <>
              <ul className="panel divide-line divide-y overflow-hidden">
                {sessions.map((session) => (
                  <li key={`${session.id} ${session.scope.agent} ${session.scope.user}`}>
                    <Link
                      to="/org/$org/ws/$workspace/sessions/$session"
                      params={{ ...place, session: session.id }}
                      search={{
                        user: session.scope.user ?? undefined,
                        agent: session.scope.agent ?? undefined,
                      }}
                      className="hover:bg-default/60 focus-visible:outline-focus flex flex-wrap items-center gap-x-4 gap-y-1 px-5 py-4 outline-none focus-visible:outline-2 focus-visible:-outline-offset-2 sm:gap-x-6"
                    >
                      <span className="min-w-0 basis-full sm:flex-1 sm:basis-56">
                        <span className="said block truncate text-[15px] font-medium">
                          {session.id}
                        </span>
                        <span className="caption said block truncate">
                          {[session.scope.user, session.scope.agent].filter(Boolean).join(" · ") ||
                            t("person.workspace")}
                        </span>
                      </span>
                      <span className="caption number flex items-center gap-1.5 sm:w-32">
                        <MessagesSquare className="size-3.5" aria-hidden />
                        {t("sessions.messages", { count: session.turns })}
                      </span>
                      <span
                        className={`caption number items-center gap-1.5 sm:flex sm:w-36 ${session.archives > 0 ? "flex" : "hidden"}`}
                      >
                        {session.archives > 0 && (
                          <>
                            <Archive className="size-3.5" aria-hidden />
                            {t("sessions.archives", { count: session.archives })}
                          </>
                        )}
                      </span>
                      <time
                        className="caption ms-auto text-end sm:ms-0 sm:w-28"
                        dateTime={session.last_at}
                        title={format.moment(session.last_at)}
                      >
                        {format.age(session.last_at)}
                      </time>
                    </Link>
                  </li>
                ))}
              </ul>
              <MoreButton list={found} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}
