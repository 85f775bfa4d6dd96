import { Button } from "@heroui/react";
import { useQuery } from "@tanstack/react-query";
import { FileText } from "lucide-react";
import { useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import type { Owner } from "../../api/place";
import { keys } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { roleOf } from "./turns";

/** What stands in the window for messages that no longer fit. */
export function Summaries({ id, owner }: { id: string; owner: Owner }) {
  const { t } = useTranslation();
  const found = useQuery({
    queryKey: [keys.live, "summaries", owner, id],
    queryFn: () =>
      answer(
        api.GET("/v1/sessions/{session_id}/summaries", {
          params: { path: { session_id: id }, query: owner },
        }),
      ),
  });
  const summaries = found.data?.items ?? [];
  if (summaries.length === 0) return null;
  return (
    <section aria-label={t("session.summaries")}>
      <h2 className="mb-3 flex items-center gap-2 font-semibold">
        <FileText className="text-muted size-4" aria-hidden />
        {t("session.summaries")}
      </h2>
      <ul className="space-y-3">
        {summaries.map((summary) => (
          <SummaryView key={summary.id} summary={summary} id={id} owner={owner} />
        ))}
      </ul>
    </section>
  );
}

function SummaryView({
  summary,
  id,
  owner,
}: {
  summary: Schemas["Summary"];
  id: string;
  owner: Owner;
}) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const turns = useQuery({
    queryKey: ["summary-turns", summary.id],
    enabled: isOpen,
    queryFn: () =>
      answer(
        api.GET("/v1/sessions/{session_id}/summaries/{summary_id}/turns", {
          params: {
            path: { session_id: id, summary_id: summary.id },
            query: { ...owner, limit: 100 },
          },
        }),
      ),
  });
  return (
    <li className="panel p-4">
      <div className="flex items-center justify-between gap-3">
        <p className="caption number">
          {t("session.stands", { start: summary.start + 1, end: summary.end })}
        </p>
        <Button
          size="sm"
          variant="tertiary"
          aria-expanded={isOpen}
          onPress={() => setOpen(!isOpen)}
        >
          {t(isOpen ? "session.hideTurns" : "session.showTurns")}
        </Button>
      </div>
      <ul className="mt-2 list-disc space-y-1 ps-5">
        {summary.points.map((point, place) => (
          <li key={place} className="said">
            {point.text}
          </li>
        ))}
      </ul>
      {isOpen && turns.data !== undefined && (
        <ol className="border-line mt-3 space-y-2 border-s-2 ps-3">
          {turns.data.items.map((turn) => (
            <li key={turn.id} className="text-[13px]">
              <span className="caption me-2 font-medium">{t(`role.${roleOf(turn)}`)}</span>
              <span className="said">{turn.content}</span>
            </li>
          ))}
        </ol>
      )}
    </li>
  );
}
