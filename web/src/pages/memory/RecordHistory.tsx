import { Button, Skeleton } from "@heroui/react";
import { Undo2 } from "lucide-react";
import type { Record, Schemas } from "../../api/client";
import { useHistory, useReach } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { authorOf } from "../../i18n/author";
import { useFormat } from "../../i18n/format";
import { Difference } from "../../parts/Difference";
import { Loaded } from "../../parts/feedback";
import { useRecordActions } from "./actions";

type Version = Schemas["Version"];

/** The versions of a record, the newest first, each with what it changed. */
export function History({ record }: { record: Record }) {
  const { t } = useTranslation();
  const history = useHistory(record.scope, record.id);
  const { undo } = useRecordActions();
  const { canWrite } = useReach();
  const canUndo = canWrite && record.status !== "deleted";
  return (
    <Loaded query={history} waiting={<Skeleton className="h-16 rounded-lg" />}>
      {({ items }) => (
        <ol className="space-y-4">
          {items.toReversed().map((version, place, versions) => (
            <VersionView key={version.number} version={version} before={versions[place + 1]} />
          ))}
          {canUndo && items.length > 1 && (
            <li>
              <Button size="sm" variant="tertiary" onPress={() => void undo(record)}>
                <Undo2 aria-hidden />
                {t("panel.undoLast")}
              </Button>
            </li>
          )}
        </ol>
      )}
    </Loaded>
  );
}

function VersionView({ version, before }: { version: Version; before: Version | undefined }) {
  const { t } = useTranslation();
  const format = useFormat();
  return (
    <li className="border-line border-s-2 ps-3">
      <p className="caption">
        <span className="number font-medium">{t("panel.version", { number: version.number })}</span>
        {" · "}
        {authorOf(version.changed_by, t)} · {format.moment(version.record.recorded_at)}
      </p>
      {version.reason !== "" && <p className="said mt-0.5 text-xs">{version.reason}</p>}
      {before !== undefined && (
        <div className="mt-1 text-[13px]">
          <VersionDifference was={before.record} is={version.record} />
        </div>
      )}
    </li>
  );
}

function VersionDifference({ was, is }: { was: Record; is: Record }) {
  const { t } = useTranslation();
  const format = useFormat();
  const changed: [string, string, string][] = [
    [t("editor.category"), was.category, is.category],
    [t("editor.tags"), was.tags.slice(0, 50).join(", "), is.tags.slice(0, 50).join(", ")],
    [t("card.confidence"), format.percent(was.confidence), format.percent(is.confidence)],
    [t("filter.status"), t(`status.${was.status}`), t(`status.${is.status}`)],
    [t("editor.name"), was.title, is.title],
  ];
  return (
    <>
      {was.content !== is.content && <Difference before={was.content} after={is.content} />}
      {changed
        .filter(([, one, other]) => one !== other)
        .map(([name, one, other]) => (
          <div key={name} className="mt-1 flex gap-2">
            <span className="caption shrink-0">{name}</span>
            <Difference before={one} after={other} />
          </div>
        ))}
    </>
  );
}
