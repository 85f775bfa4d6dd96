import { Skeleton } from "@heroui/react";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import { answer, api } from "../../api/client";
import { keys } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { usePlace, useWho } from "../../lib/place";
import { Loaded } from "../../parts/feedback";
import { Page } from "../../parts/Page";
import { useArchives } from "./Archives";
import { Conversation } from "./Conversation";
import { Notes, Scratchpad } from "./Notes";
import { Summaries } from "./Summaries";
import { WindowUse } from "./WindowUse";

/** One conversation: how full its window is, what was said, and what stands beside it. */
export function SessionPage() {
  const { t } = useTranslation();
  const place = usePlace();
  const who = useWho();
  const { session: id = "" } = useParams({ strict: false });
  const owner = { ...place, user: who.user ?? "-", agent: who.agent ?? "-" };
  const status = useQuery({
    queryKey: [keys.live, "session", owner, id],
    queryFn: () =>
      answer(
        api.GET("/v1/sessions/{session_id}", {
          params: { path: { session_id: id }, query: owner },
        }),
      ),
  });
  const archives = useArchives(owner, id);
  return (
    <Page
      title={id}
      lead={
        <Link
          to="/org/$org/ws/$workspace/sessions"
          params={place}
          className="ink-link inline-flex items-center gap-1"
        >
          <ChevronLeft className="size-4" aria-hidden />
          {t("sessions.all")}
        </Link>
      }
    >
      <div className="grid gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="min-w-0 space-y-5">
          <Summaries id={id} owner={owner} />
          <Conversation id={id} owner={owner} />
        </div>
        <div className="space-y-4 max-lg:contents">
          <div className="max-lg:-order-1">
            <Loaded query={status} waiting={<Skeleton className="h-44 rounded-2xl" />}>
              {({ usage }) => <WindowUse usage={usage} archives={archives.data?.items ?? []} />}
            </Loaded>
          </div>
          <Scratchpad id={id} owner={owner} />
          <Notes id={id} owner={owner} />
        </div>
      </div>
    </Page>
  );
}
