import { Button } from "@heroui/react";
import { Link } from "@tanstack/react-router";
import { Footprints, History } from "lucide-react";
import type { Schemas } from "../../api/client";
import { useTranslation } from "../../i18n";
import { authorOf } from "../../i18n/author";
import { useFormat } from "../../i18n/format";
import { usePlace } from "../../lib/place";
import { ThingLink } from "../../parts/ThingLink";
import { calledOf, isId } from "./called";

export type Entry = Schemas["AuditEntry"];

/** How many things of the same sort an entry is about, beside its target. */
function othersOf({ payload, target }: Entry): number {
  const named = ["records", "turns", "documents", "archives"].map((sort) => payload[sort]);
  const among = named.find(
    (some): some is object => typeof some === "object" && some !== null && target in some,
  );
  return among === undefined ? 0 : Object.keys(among).length - 1;
}

/** The session of the message that an entry is about. */
function sessionOf({ payload, target }: Entry): string | undefined {
  const turns = payload["turns"] as { [id: string]: unknown } | undefined;
  const session = turns?.[target];
  return typeof session === "string" ? session : undefined;
}

/** One thing that happened: when, what, to what, by whom and why. */
export function AuditEntry({
  entry,
  onFollow,
  onReplay,
}: {
  entry: Entry;
  onFollow: () => void;
  onReplay: () => void;
}) {
  const { t, named } = useTranslation();
  const format = useFormat();
  const place = usePlace();
  const isPrompt = entry.action === "inject";
  const why =
    typeof entry.payload["reason"] === "string"
      ? entry.payload["reason"]
      : Array.isArray(entry.payload["reasons"])
        ? entry.payload["reasons"].map((reason) => named("verdict", String(reason))).join("; ")
        : "";
  const name = calledOf(entry, { t, named });
  const others = othersOf(entry);
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-5 py-2.5">
      <time className="caption number w-40 shrink-0" dateTime={entry.at}>
        {format.second(entry.at)}
      </time>
      <span className="w-28 shrink-0">
        <span className="bg-default rounded-full px-2.5 py-1 text-xs font-medium whitespace-nowrap">
          {named("did", entry.action)}
        </span>
      </span>
      <span className="min-w-0 flex-1 basis-52">
        <span className="flex items-baseline gap-2">
          <ThingLink
            id={entry.target}
            name={name}
            scope={entry.scope}
            session={sessionOf(entry)}
            className="line-clamp-1 min-w-0"
          />
          {others > 0 && (
            <span className="caption number shrink-0">{t("audit.others", { count: others })}</span>
          )}
        </span>
        <span className="caption said block">
          {authorOf(entry.actor, t)}
          {entry.scope.user !== null && ` · ${entry.scope.user}`}
          {entry.is_erased && ` · ${t("audit.erased")}`}
          {why !== "" && ` · ${why}`}
        </span>
      </span>
      {entry.action === "write" && !entry.is_erased && (
        <Link
          to="/org/$org/ws/$workspace/writes/$write"
          params={{ ...place, write: entry.target }}
          search={{ user: entry.scope.user ?? undefined, agent: entry.scope.agent ?? undefined }}
          className="ink-link text-[13px]"
        >
          {t("audit.trace")}
        </Link>
      )}
      {isPrompt && (
        <Button size="sm" variant="ghost" onPress={onReplay}>
          <History aria-hidden />
          {t("audit.replay")}
        </Button>
      )}
      {isId(entry.target) && (
        <Button
          isIconOnly
          size="sm"
          variant="ghost"
          aria-label={t("audit.followThis", { name: name === "" ? entry.target : name })}
          onPress={onFollow}
        >
          <Footprints aria-hidden />
        </Button>
      )}
      {entry.seq !== null && (
        <span className="caption number hidden w-10 text-end sm:inline" title={t("audit.sealed")}>
          #{entry.seq}
        </span>
      )}
    </li>
  );
}
