import { Button } from "@heroui/react";
import { SearchX, Sparkles } from "lucide-react";
import { useEffect, useRef } from "react";
import type { Hit } from "../../api/client";
import { useTranslation } from "../../i18n";
import { EmptyState } from "../../parts/feedback";
import { Meter } from "../../parts/Meter";
import { RecordCard, type CardActions } from "./RecordCard";

/** What a question found, the best first, each with how well it matches. */
export function SearchResults({
  hits,
  openId,
  selected,
  actions,
  onExplain,
}: {
  hits: Hit[];
  openId: string | undefined;
  selected: ReadonlySet<string>;
  actions: CardActions;
  onExplain: (hit: Hit) => void;
}) {
  const { t } = useTranslation();
  const opened = useRef<HTMLLIElement>(null);
  useEffect(() => opened.current?.scrollIntoView({ block: "nearest" }), [openId]);
  if (hits.length === 0) {
    return (
      <EmptyState icon={SearchX} title={t("search.nothing")}>
        {t("search.nothingLead")}
      </EmptyState>
    );
  }
  return (
    <ol className="space-y-3" aria-label={t("search.results")}>
      {hits.map((hit) => (
        <li key={hit.id} ref={hit.id === openId ? opened : undefined}>
          {hit.record !== null && (
            <RecordCard
              record={hit.record}
              isOpen={hit.id === openId}
              isSelected={selected.has(hit.id)}
              words={hit.explanation.matched_terms}
              actions={actions}
              footer={
                <div className="border-line relative z-10 mt-3 flex items-center gap-3 border-t pt-3">
                  <span className="caption shrink-0">{t("search.match")}</span>
                  <div className="w-28">
                    <Meter value={hit.score} label={t("search.match")} />
                  </div>
                  <span className="caption number">{Math.round(hit.score * 100)}%</span>
                  <span className="flex-1" />
                  <Button size="sm" variant="ghost" onPress={() => onExplain(hit)}>
                    <Sparkles aria-hidden />
                    {t("search.why")}
                  </Button>
                </div>
              }
            />
          )}
        </li>
      ))}
    </ol>
  );
}
