import { Skeleton } from "@heroui/react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api, type Record, type Schemas } from "../../api/client";
import { ownerOf } from "../../api/place";
import { keys, recordQuery } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { usePlace } from "../../lib/place";
import { Loaded } from "../../parts/feedback";
import { ThingLink } from "../../parts/ThingLink";

/** The ids of the records that a record is linked with, in either direction. */
export function linkedIds(record: Record): string[] {
  const linked = record.links.map((link) => (link.newer === record.id ? link.older : link.newer));
  return [...new Set([...record.related, ...linked])].filter((id) => id !== record.id);
}

export function Related({ record, onOpen }: { record: Record; onOpen: (id: string) => void }) {
  const { t } = useTranslation();
  const ids = linkedIds(record);
  if (ids.length === 0) return <p className="text-muted">{t("panel.noRelated")}</p>;
  return (
    <ul className="space-y-2">
      {ids.slice(0, 20).map((id) =>
        id.startsWith("turn_") ? (
          <RelatedTurn key={id} id={id} record={record} />
        ) : (
        <RelatedRecord
          key={id}
          id={id}
          record={record}
          relation={record.links.find((link) => link.newer === id || link.older === id)}
          onOpen={onOpen}
        />
        ),
      )}
    </ul>
  );
}

/** A message that said something else before: what it said, and its conversation. */
function RelatedTurn({ id, record }: { id: string; record: Record }) {
  const { t } = useTranslation();
  const format = useFormat();
  const found = useQuery({
    queryKey: [keys.live, "turn", id],
    retry: false,
    queryFn: () =>
      answer(
        api.GET("/v1/turns/{turn_id}", {
          params: { path: { turn_id: id }, query: ownerOf(record.scope) },
        }),
      ),
  });
  const turn = found.data;
  return (
    <li className="border-line rounded-xl border p-3">
      <p className="caption">
        {t("panel.relatedTurn")}
        {turn !== undefined && ` · ${format.second(turn.at)}`}
      </p>
      {found.isError ? (
        <p className="text-muted">{t("evidence.gone")}</p>
      ) : turn === undefined ? (
        <Skeleton className="mt-1 h-5 rounded-lg" />
      ) : (
        <ThingLink
          id={id}
          name={turn.content}
          scope={turn.scope}
          session={turn.session}
          className="line-clamp-2"
        />
      )}
    </li>
  );
}

function RelatedRecord({
  id,
  record,
  relation,
  onOpen,
}: {
  id: string;
  record: Record;
  relation?: Schemas["Link"];
  onOpen: (id: string) => void;
}) {
  const { t } = useTranslation();
  const found = useQuery({ ...recordQuery(record.scope, id), retry: false });
  return (
    <li>
      <button
        type="button"
        className="focusable border-line hover:bg-default w-full cursor-pointer rounded-xl border p-3 text-start"
        onClick={() => onOpen(id)}
        disabled={found.data === undefined}
      >
        <span className="caption">
          {relation === undefined
            ? t("panel.relatedTo")
            : t(relation.newer === record.id ? "panel.newerThan" : "panel.olderThan", {
                relation: t(`relation.${relation.relation}`),
              })}
        </span>
        <span className="said line-clamp-2">
          {found.data?.content ?? (found.isError ? t("panel.relatedGone") : "…")}
        </span>
      </button>
    </li>
  );
}

/** The prompts that this record entered, as the audit has them. */
export function Prompts({ record }: { record: Record }) {
  const { t } = useTranslation();
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
        const prompts = items.filter((entry) => entry.action === "inject");
        if (prompts.length === 0) return <p className="text-muted">{t("panel.noPrompts")}</p>;
        return (
          <ul className="space-y-2">
            {prompts.map(({ id, target, payload, at }) => (
              <li key={id} className="flex items-baseline gap-3">
                <Link
                  to="/org/$org/ws/$workspace/audit"
                  params={place}
                  search={{ target }}
                  className="ink-link said line-clamp-1 min-w-0 flex-1"
                >
                  {typeof payload["question"] === "string" ? payload["question"] : target}
                </Link>
                <time className="caption shrink-0" dateTime={at}>
                  {format.age(at)}
                </time>
              </li>
            ))}
          </ul>
        );
      }}
    </Loaded>
  );
}
