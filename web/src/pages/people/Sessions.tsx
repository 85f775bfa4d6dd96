import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { MessagesSquare } from "lucide-react";
import { answer, api } from "../../api/client";
import { keys, scopeIn, useReach } from "../../api/queries";
import { useFormat } from "../../i18n/format";
import { useWords } from "../../i18n/words";
import { usePlace } from "../../lib/place";
import { EmptyState, Loaded, MoreButton } from "../../parts/feedback";
import type { OfPerson } from "./ProfileSources";
import { words } from "./words";

/** The conversations of a person, the one that went on last first. */
export function Sessions({ person, agent }: OfPerson) {
  const { w } = useWords(words);
  const format = useFormat();
  const place = usePlace();
  const reach = useReach();
  const found = useInfiniteQuery({
    queryKey: [keys.live, "sessions", place, person, agent, reach],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam: cursor }) =>
      answer(
        reach.isOperator
          ? api.GET("/v1/workspace/sessions", {
              params: { query: { ...place, user: person, agent, limit: 50, cursor } },
            })
          : api.GET("/v1/sessions", {
              params: {
                query: { ...scopeIn(place, { user: person, agent }, reach), limit: 50, cursor },
              },
            }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  });
  const sessions = found.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Loaded query={found}>
      {() =>
        sessions.length === 0 ? (
          <EmptyState icon={MessagesSquare} title={w("sessionsNone")}>
            {w("sessionsNoneLead")}
          </EmptyState>
        ) : (
          <>
            <ul className="panel divide-line divide-y overflow-hidden">
              {sessions.map((session) => (
                <li key={`${session.id} ${session.scope.agent}`}>
                  <Link
                    to="/org/$org/ws/$workspace/sessions/$session"
                    params={{ ...place, session: session.id }}
                    search={{
                      user: session.scope.user ?? undefined,
                      agent: session.scope.agent ?? undefined,
                    }}
                    className="hover:bg-default/60 focus-visible:outline-focus flex flex-wrap items-baseline gap-x-4 gap-y-1 px-4 py-3.5 outline-none focus-visible:outline-2 focus-visible:-outline-offset-2 sm:px-5"
                  >
                    <span className="said min-w-0 flex-1 basis-48 truncate font-medium">
                      {session.id}
                    </span>
                    <span className="caption said">{session.scope.agent ?? w("noAgent")}</span>
                    <span className="caption number">{w("turns", { count: session.turns })}</span>
                    <time className="caption number" dateTime={session.last_at}>
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
  );
}
