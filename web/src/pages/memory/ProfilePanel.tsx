import { Button } from "@heroui/react";
import { useQueryClient } from "@tanstack/react-query";
import { ChevronDown, Eye, EyeOff, IdCard, Pencil } from "lucide-react";
import { memo, useState } from "react";
import { refreshEverything } from "../../api/cache";
import { answer, api, type Record, type Schemas } from "../../api/client";
import { scopeIn, useFacets, useProfile, useReach } from "../../api/queries";
import { useTranslation } from "../../i18n";
import type { Who } from "../../lib/address";
import { usePlace } from "../../lib/place";
import { usePreference } from "../../lib/storage";
import { useAttempt } from "../../parts/feedback";

type Line = Schemas["ProfileLine"];

/** What is in every prompt of a person; each line leads to its record. */
export const ProfilePanel = memo(function ProfilePanel({
  who,
  onOpen,
  onEdit,
}: {
  who: Who;
  onOpen: (record: Record) => void;
  onEdit: (record: Record) => void;
}) {
  const { t, language } = useTranslation();
  const place = usePlace();
  const reach = useReach();
  const queries = useQueryClient();
  const { attempt } = useAttempt();
  const { data: profile } = useProfile(place, who);
  const labels = new Map(useFacets().map((facet) => [facet.name, facet[language]]));
  const [showsRest, setShowsRest] = useState(false);
  const [shownAs, choose] = usePreference<"open" | "closed">("profile", "closed");
  if (profile === undefined) return null;
  const rest = [...profile.left_out, ...profile.hidden];
  if (profile.lines.length + rest.length === 0) return null;
  const isOpen = shownAs === "open";
  const hidden = new Set(profile.hidden.map((line) => line.id));
  const scope = scopeIn(place, who, reach);

  async function withRecord(line: Line, act: (record: Record) => void) {
    const path = { record_id: line.id };
    act(await answer(api.GET("/v1/records/{record_id}", { params: { path, query: scope } })));
  }

  async function show(line: Line, shown: boolean) {
    const path = { record_id: line.id };
    await answer(
      api.PUT("/v1/profile/{record_id}", { params: { path, query: scope }, body: { shown } }),
    );
    await refreshEverything(queries);
  }

  const row = (line: Line) => {
    const isHidden = hidden.has(line.id);
    return (
      <li key={line.id} className="group flex items-center gap-2 py-1 sm:gap-3">
        <span className="caption w-20 shrink-0 sm:w-36">{labels.get(line.facet) ?? "–"}</span>
        <button
          type="button"
          dir="auto"
          className={`focusable said line-clamp-2 min-w-0 flex-1 cursor-pointer rounded-md text-start text-[15px] underline-offset-2 hover:underline ${isHidden ? "text-muted line-through" : ""}`}
          onClick={() => void attempt(() => withRecord(line, onOpen))}
        >
          {line.text.slice(0, 600)}
        </button>
        {reach.canWrite && (
          <span className="flex shrink-0">
            <Button
              isIconOnly
              size="sm"
              variant="ghost"
              aria-label={t("profile.edit", { name: line.text.slice(0, 60) })}
              onPress={() => void attempt(() => withRecord(line, onEdit))}
            >
              <Pencil aria-hidden />
            </Button>
            <Button
              isIconOnly
              size="sm"
              variant="ghost"
              aria-label={t(isHidden ? "profile.show" : "profile.hide", {
                name: line.text.slice(0, 60),
              })}
              onPress={() => void attempt(() => show(line, isHidden))}
            >
              {isHidden ? <Eye aria-hidden /> : <EyeOff aria-hidden />}
            </Button>
          </span>
        )}
      </li>
    );
  };

  return (
    <section aria-labelledby="profile" className="panel mt-2 px-3">
      <h2 id="profile">
        <button
          type="button"
          aria-expanded={isOpen}
          className="focusable flex h-10 w-full cursor-pointer items-center gap-2 rounded-lg text-start"
          onClick={() => choose(isOpen ? "closed" : "open")}
        >
          <IdCard className="text-muted size-4 shrink-0" strokeWidth={1.8} aria-hidden />
          <span className="eyebrow">{t("profile.title")}</span>
          <span className="caption said line-clamp-1 min-w-0 flex-1">
            {isOpen
              ? t("profile.lead")
              : profile.lines.map((line) => line.text.slice(0, 120)).join(" · ")}
          </span>
          <span className="number font-semibold">{profile.lines.length}</span>
          <ChevronDown
            className={`text-muted size-4 transition-transform ${isOpen ? "rotate-180" : ""}`}
            aria-hidden
          />
        </button>
      </h2>
      {isOpen && <ul className="pb-2">{profile.lines.map(row)}</ul>}
      {isOpen && rest.length > 0 && (
        <>
          <Button
            size="sm"
            variant="ghost"
            aria-expanded={showsRest}
            onPress={() => setShowsRest(!showsRest)}
          >
            {t("profile.rest", { count: rest.length })}
          </Button>
          {showsRest && <ul className="mt-1">{rest.map(row)}</ul>}
        </>
      )}
    </section>
  );
});
