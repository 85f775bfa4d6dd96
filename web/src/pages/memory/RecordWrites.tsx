import { Skeleton } from "@heroui/react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api, type Record } from "../../api/client";
import { ownerOf } from "../../api/place";
import { keys } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { usePlace } from "../../lib/place";
import { Loaded } from "../../parts/feedback";

/** The writes that made or changed a record, each with its steps. */
export function Writes({ record }: { record: Record }) {
  const { t, named } = useTranslation();
  const format = useFormat();
  const place = usePlace();
  const audit = useQuery({
    queryKey: [keys.live, "audit", record.id],
    queryFn: () =>
      answer(
        api.GET("/v1/audit/{id}", {
          params: { path: { id: record.id }, query: { ...ownerOf(record.scope), limit: 100 } },
        }),
      ),
  });
  return (
    <Loaded query={audit} waiting={<Skeleton className="h-10 rounded-lg" />}>
      {({ items }) => {
        const writes = items.filter((entry) => entry.action === "write" && !entry.is_erased);
        if (writes.length === 0) return <p className="text-muted">{t("panel.noTrace")}</p>;
        return (
          <ul className="space-y-2">
            {writes.map(({ id, target, payload, at, scope }) => (
              <li key={id} className="flex items-baseline gap-3">
                <Link
                  to="/org/$org/ws/$workspace/writes/$write"
                  params={{ ...place, write: target }}
                  search={{ user: scope.user ?? undefined, agent: scope.agent ?? undefined }}
                  className="ink-link min-w-0 flex-1"
                >
                  {named("written", typeof payload["status"] === "string" ? payload["status"] : target)}
                </Link>
                <time className="caption shrink-0" dateTime={at}>
                  {format.moment(at)}
                </time>
              </li>
            ))}
          </ul>
        );
      }}
    </Loaded>
  );
}
