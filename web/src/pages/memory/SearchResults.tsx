import { Button } from "@heroui/react";
import { SearchX, Sparkles } from "lucide-react";
import { useEffect, useRef } from "react";
import type { Hit } from "../../api/client";
import { useTranslation } from "../../i18n";
import { EmptyState } from "../../parts/feedback";
import { Meter } from "../../parts/Meter";
import { whole } from "./matched";
import { RecordCard, type CardActions } from "./RecordCard";

const MOST_WORDS = 6;

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
  const { t, named } = useTranslation();
  /** The paths that found it, and the words in which it matches. */
  const reasonsOf = ({ explanation }: Hit) =>
    [
      explanation.paths.map(({ path }) => named("path", path)).join(" + "),
      whole(explanation.matched_terms).slice(0, MOST_WORDS).join(", "),
    ]
      .filter((reason) => reason !== "")
      .join(" · ");
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
    <ol className="space-y-2" aria-label={t("search.results")}>
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
                <div className="border-line relative z-10 mt-2 flex items-center gap-3 border-t pt-1.5">
                  <span className="caption max-sm:sr-only">{t("search.match")}</span>
                  <div className="w-16 shrink-0">
                    <Meter value={hit.score} label={t("search.match")} />
                  </div>
                  <span className="caption number">{Math.round(hit.score * 100)}%</span>
                  <span className="caption said line-clamp-1 min-w-0 flex-1">{reasonsOf(hit)}</span>
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
