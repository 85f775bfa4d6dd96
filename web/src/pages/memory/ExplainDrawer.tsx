import { Drawer } from "@heroui/react";
import type { Hit, Schemas } from "../../api/client";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { Meter } from "../../parts/Meter";
import { Highlighted } from "../../parts/Highlighted";
import { whole } from "./matched";

/** Leave out what changed nothing that can be seen. */
function felt(boosts: Hit["explanation"]["boosts"]) {
  return boosts.filter((boost) => boost.factor.toFixed(2) !== "1.00");
}

/** Why a search gave this result: the paths that found it, its score, the words that matched. */
export function ExplainDrawer({
  hit,
  recalled,
  onClose,
}: {
  hit: Hit | null;
  recalled?: Schemas["Recalled"];
  onClose: () => void;
}) {
  const { t, named } = useTranslation();
  return (
    <Drawer.Backdrop isOpen={hit !== null} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Drawer.Content placement="right">
        <Drawer.Dialog className="w-full max-w-md">
          <Drawer.CloseTrigger aria-label={t("action.close")} />
          <Drawer.Header>
            <Drawer.Heading className="text-lg font-semibold">{t("explain.title")}</Drawer.Heading>
          </Drawer.Header>
          <Drawer.Body className="text-foreground">
            {hit !== null && (
              <div className="space-y-6">
                <p className="said bg-canvas rounded-xl p-4 leading-relaxed" dir="auto">
                  <Highlighted text={hit.passage} words={hit.explanation.matched_terms} />
                </p>
                <Score label={t("explain.score")} value={hit.score} isStrong />
                <section>
                  <h3 className="mb-3 font-semibold">{t("explain.paths")}</h3>
                  <ul className="space-y-3">
                    {hit.explanation.paths.map((path) => (
                      <li key={path.path}>
                        <Score
                          label={`${named("path", path.path)} · ${t("explain.rank", { rank: path.rank })}`}
                          value={path.score}
                        />
                      </li>
                    ))}
                  </ul>
                </section>
                <section>
                  <h3 className="mb-3 font-semibold">{t("explain.judged")}</h3>
                  <div className="space-y-3">
                    {hit.explanation.closeness > 0 && (
                      <Score label={t("explain.closeness")} value={hit.explanation.closeness} />
                    )}
                    <Score label={t("explain.sureness")} value={hit.explanation.sureness} />
                    <Score label={t("explain.relevance")} value={hit.explanation.relevance} />
                  </div>
                </section>
                {hit.explanation.matched_terms.length > 0 && (
                  <section>
                    <h3 className="mb-2 font-semibold">{t("explain.words")}</h3>
                    <ul className="flex flex-wrap gap-1.5">
                      {whole(hit.explanation.matched_terms).map((word) => (
                        <li
                          key={word}
                          className="bg-shared-soft text-shared rounded-full px-2.5 py-0.5 text-xs"
                        >
                          {word}
                        </li>
                      ))}
                    </ul>
                  </section>
                )}
                {felt(hit.explanation.boosts).length > 0 && (
                  <section>
                    <h3 className="mb-2 font-semibold">{t("explain.boosts")}</h3>
                    <ul className="space-y-1">
                      {felt(hit.explanation.boosts).map((boost) => (
                        <li key={boost.reason} className="flex justify-between gap-4">
                          <span className="said text-muted">{named("boost", boost.reason)}</span>
                          <span className="number">×{boost.factor.toFixed(2)}</span>
                        </li>
                      ))}
                    </ul>
                  </section>
                )}
                {recalled !== undefined && (
                  <p className="caption">
                    {t(recalled.intent_reason === "" ? "explain.intent" : "explain.intentBy", {
                      intent: named("intent", recalled.intent),
                      words: recalled.intent_reason,
                    })}
                    {recalled.near_misses.length > 0 &&
                      ` · ${t("explain.nearMisses", { count: recalled.near_misses.length })}`}
                    {recalled.degraded.length > 0 && ` · ${recalled.degraded.join(", ")}`}
                  </p>
                )}
              </div>
            )}
          </Drawer.Body>
        </Drawer.Dialog>
      </Drawer.Content>
    </Drawer.Backdrop>
  );
}

function Score({
  label,
  value,
  isStrong = false,
}: {
  label: string;
  value: number;
  isStrong?: boolean;
}) {
  const format = useFormat();
  return (
    <div>
      <div className="mb-1 flex justify-between gap-4">
        <span className={isStrong ? "font-semibold" : "text-muted"}>{label}</span>
        <span className="number">{format.percent(Math.min(value, 1))}</span>
      </div>
      <Meter value={value} label={label} className={isStrong ? "h-2.5" : "h-1.5"} />
    </div>
  );
}
