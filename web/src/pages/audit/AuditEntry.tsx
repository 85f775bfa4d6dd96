import { Button } from "@heroui/react";
import { Link } from "@tanstack/react-router";
import { History } from "lucide-react";
import type { Schemas } from "../../api/client";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { usePlace } from "../../lib/place";

export type Entry = Schemas["AuditEntry"];

const isId = (target: string) => /^[a-z]+_[0-9a-z]/.test(target);

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
    [entry.payload["reason"], entry.payload["question"]].find(
      (text): text is string => typeof text === "string" && text !== "",
    ) ?? "";
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-5 py-3.5">
      <time className="caption number w-36 shrink-0" dateTime={entry.at}>
        {format.moment(entry.at)}
      </time>
      <span className="w-32 shrink-0">
        <span className="bg-default rounded-full px-2.5 py-1 text-xs font-medium whitespace-nowrap">
          {named("did", entry.action)}
        </span>
      </span>
      <span className="min-w-0 flex-1 basis-52">
        {isId(entry.target) ? (
          <button
            type="button"
            className="ink-link said font-mono text-xs"
            onClick={onFollow}
            title={t("audit.follow")}
          >
            {entry.target}
          </button>
        ) : (
          <span className="said text-xs">{entry.target}</span>
        )}
        <span className="caption said ms-2">
          {entry.actor}
          {entry.scope.user !== null && ` · ${entry.scope.user}`}
          {entry.is_erased && ` · ${t("audit.erased")}`}
        </span>
        {why !== "" && (
          <span className="said text-muted line-clamp-2 block text-[13px]">{why}</span>
        )}
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
      {entry.seq !== null && (
        <span className="caption number hidden sm:inline" title={t("audit.sealed")}>
          #{entry.seq}
        </span>
      )}
    </li>
  );
}
