import { Skeleton } from "@heroui/react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { answer, api, type Record, type Turn } from "../../api/client";
import { ownerOf, type Owner } from "../../api/place";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { usePlace } from "../../lib/place";
import { roleOf } from "../sessions/turns";

const SHOWN = 6;
const AROUND = 1;

/** The turns that a record rests on, each between its neighbours in the conversation. */
export function Evidence({ record }: { record: Record }) {
  const { t } = useTranslation();
  const kept = record.evidence.length;
  if (kept === 0) return <p className="text-muted">{t("evidence.none")}</p>;
  return (
    <ul className="space-y-4">
      {record.evidence_count > kept && (
        <li className="caption">
          {t("evidence.more", { count: record.evidence_count, kept: String(kept) })}
        </li>
      )}
      {record.evidence.slice(0, SHOWN).map((evidence) => (
        <EvidenceTurn
          key={`${evidence.turn}-${evidence.start}`}
          record={record}
          evidence={evidence}
        />
      ))}
    </ul>
  );
}

function EvidenceTurn({
  record,
  evidence,
}: {
  record: Record;
  evidence: Record["evidence"][number];
}) {
  const { t } = useTranslation();
  const format = useFormat();
  const place = usePlace();
  const owner = ownerOf(record.scope);
  const found = useQuery({
    queryKey: ["evidence", evidence.turn],
    retry: false,
    queryFn: async () => {
      const turn = await answer(
        api.GET("/v1/turns/{turn_id}", {
          params: { path: { turn_id: evidence.turn }, query: owner },
        }),
      );
      const around = await neighbours(turn, owner);
      return { turn, around };
    },
  });
  if (found.isError) return <li className="text-muted">{t("evidence.gone")}</li>;
  if (found.data === undefined) return <Skeleton className="h-20 rounded-xl" />;
  const { turn, around } = found.data;
  return (
    <li>
      <p className="caption mb-2">
        <Link
          to="/org/$org/ws/$workspace/sessions/$session"
          params={{ ...place, session: turn.session }}
          search={{ user: turn.scope.user ?? undefined, agent: turn.scope.agent ?? undefined }}
          className="ink-link"
        >
          {turn.session}
        </Link>{" "}
        · {format.moment(turn.at)}
      </p>
      <ol className="space-y-2">
        {around.map((one) => (
          <li
            key={one.id}
            className={`rounded-xl px-3 py-2 text-[13px] leading-relaxed ${one.id === turn.id ? "bg-accent-soft" : "bg-default/60 text-muted"}`}
          >
            <span className="caption me-2 font-medium">
              {one.speaker || t(`role.${roleOf(one)}`)}
            </span>
            <span className="said whitespace-pre-wrap">
              {one.id === turn.id ? (
                <Marked turn={turn} evidence={evidence} />
              ) : (
                clipped(one.content)
              )}
            </span>
          </li>
        ))}
      </ol>
    </li>
  );
}

async function neighbours(turn: Turn, owner: Owner): Promise<Turn[]> {
  const page = await answer(
    api.GET("/v1/turns", {
      params: { query: { ...owner, session: turn.session, limit: 200 } },
    }),
  );
  const place = page.items.findIndex((one) => one.id === turn.id);
  if (place < 0) return [turn];
  return page.items.slice(Math.max(0, place - AROUND), place + AROUND + 1);
}

const clipped = (text: string) => (text.length > 240 ? `${text.slice(0, 240)}…` : text);

function Marked({ turn, evidence }: { turn: Turn; evidence: Record["evidence"][number] }) {
  const characters = Array.from(turn.content);
  if (evidence.start === null || evidence.end === null) return <mark>{clipped(turn.content)}</mark>;
  return (
    <>
      {characters.slice(0, evidence.start).join("")}
      <mark>{characters.slice(evidence.start, evidence.end).join("")}</mark>
      {characters.slice(evidence.end).join("")}
    </>
  );
}
