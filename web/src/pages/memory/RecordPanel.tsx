import { Button, Disclosure, Skeleton } from "@heroui/react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronDown, Pencil, Trash2, Undo2, X } from "lucide-react";
import type { ReactNode } from "react";
import { useRecordActions } from "../../api/actions";
import { answer, api, type Record, type Schemas } from "../../api/client";
import { faceOf, isShared, ownerOf } from "../../api/place";
import { keys, recordQuery, useHistory, useReach } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../lib/format";
import { usePlace } from "../../lib/place";
import { Difference } from "../../parts/Difference";
import { Trouble } from "../../parts/feedback";
import { FaceBadge } from "../../parts/faces";
import { Meter } from "../../parts/Meter";
import { Evidence } from "./Evidence";
import { FacetChip } from "./RecordCard";

/** All that is known of one record. */
export function RecordPanel({
  record: listed,
  onClose,
  onEdit,
  onDelete,
  onOpen,
}: {
  record: Record;
  onClose: () => void;
  onEdit: (record: Record) => void;
  onDelete: (record: Record) => void;
  onOpen: (id: string) => void;
}) {
  const { t } = useTranslation();
  const format = useFormat();
  const { undo } = useRecordActions();
  const { canWrite } = useReach();
  const asked = useQuery({ ...recordQuery(listed.scope, listed.id), enabled: listed.status !== "deleted" });
  const record = asked.data ?? listed;
  const isDeleted = record.status === "deleted";
  const facts: [string, ReactNode][] = [
    [t("panel.category"), record.category],
    [t("panel.about"), record.about !== "" && t(`about.${record.about as "user"}`)],
    [t("panel.person"), record.scope.user],
    [t("panel.agent"), isShared(record) ? t("face.shared") : record.scope.agent],
    [t("panel.source"), record.source],
    [t("panel.session"), record.session],
    [t("panel.firstObserved"), format.moment(record.first_observed)],
    [t("panel.lastConfirmed"), format.moment(record.last_confirmed)],
    [t("panel.validFrom"), record.valid_from && format.day(record.valid_from)],
    [t("panel.validTo"), record.valid_to && format.day(record.valid_to)],
    [t("panel.expires"), record.expires_at && format.moment(record.expires_at)],
    [
      t("panel.used"),
      record.access_count === 0 ? t("panel.unused") : t("panel.usedTimes", { count: record.access_count }),
    ],
    [t("panel.helped"), record.helped + record.rejected > 0 && `${record.helped} / ${record.rejected}`],
    [t("panel.id"), <code className="font-mono text-[11px]">{record.id}</code>],
  ];
  return (
    <section aria-label={t("panel.label")} className="flex min-h-0 flex-col" data-panel={record.id}>
      <header className="flex items-center gap-2 px-5 pt-4 pb-3">
        <FaceBadge face={faceOf(record)} />
        <FacetChip record={record} />
        {record.status !== "active" && (
          <span className="bg-warning-soft text-warning-soft-foreground rounded-full px-2 py-0.5 text-xs font-medium">
            {t(`status.${record.status}`)}
          </span>
        )}
        <span className="caption number">{t("panel.version", { number: record.version })}</span>
        <span className="flex-1" />
        <Button isIconOnly size="sm" variant="ghost" aria-label={t("panel.close")} onPress={onClose}>
          <X aria-hidden />
        </Button>
      </header>
      <div className="min-h-0 flex-1 space-y-6 overflow-y-auto px-5 pb-6">
        <div>
          {record.title !== "" && <h2 className="said mb-1 text-base font-semibold">{record.title}</h2>}
          <p className="said text-[15px] leading-relaxed whitespace-pre-wrap" dir="auto">
            {record.content}
          </p>
          {record.description !== "" && (
            <p className="said text-muted mt-2 leading-relaxed">{record.description}</p>
          )}
          <KindDetails record={record} />
          {record.tags.length > 0 && <Tags tags={record.tags} />}
        </div>
        <div>
          <div className="mb-1.5 flex justify-between">
            <span className="eyebrow">{t("card.confidence")}</span>
            <span className="number text-xs font-medium">{format.percent(record.confidence)}</span>
          </div>
          <Meter value={record.confidence} label={t("card.confidence")} />
        </div>
        <div className={canWrite ? "flex flex-wrap gap-2" : "hidden"}>
          {isDeleted ? (
            <Button size="sm" variant="secondary" onPress={() => void undo(record)}>
              <Undo2 aria-hidden />
              {t("action.restore")}
            </Button>
          ) : (
            <>
              <Button size="sm" variant="secondary" onPress={() => onEdit(record)}>
                <Pencil aria-hidden />
                {t("action.edit")}
              </Button>
              <Button size="sm" variant="danger-soft" onPress={() => onDelete(record)}>
                <Trash2 aria-hidden />
                {t("action.delete")}
              </Button>
            </>
          )}
        </div>
        {asked.isError && <Trouble error={asked.error} retry={() => void asked.refetch()} />}
        <dl className="border-line grid grid-cols-[7.5rem_1fr] gap-x-3 gap-y-2 border-t pt-5">
          {facts
            .filter(([, value]) => value !== null && value !== "" && value !== false)
            .map(([name, value]) => (
              <div key={name} className="contents">
                <dt className="caption leading-5">{name}</dt>
                <dd className="said text-[13px] leading-5">{value}</dd>
              </div>
            ))}
        </dl>
        <Section title={t("panel.evidence")} count={record.evidence.length} isOpen>
          <Evidence record={record} />
        </Section>
        <Section title={t("panel.history")} count={record.version} isOpen={record.version > 1}>
          <History record={record} />
        </Section>
        <Section title={t("panel.related")} count={linkedIds(record).length}>
          <Related record={record} onOpen={onOpen} />
        </Section>
        <Section title={t("panel.prompts")}>
          <Prompts record={record} />
        </Section>
      </div>
    </section>
  );
}

function Section({
  title,
  count,
  isOpen = false,
  children,
}: {
  title: string;
  count?: number;
  isOpen?: boolean;
  children: ReactNode;
}) {
  return (
    <Disclosure defaultExpanded={isOpen} className="border-line border-t pt-3">
      <Disclosure.Heading>
        <Disclosure.Trigger className="focusable flex w-full cursor-pointer items-center gap-2 rounded-md py-1.5 text-start font-semibold">
          {title}
          {count !== undefined && <span className="caption number font-normal">{count}</span>}
          <Disclosure.Indicator className="text-muted ms-auto size-4">
            <ChevronDown />
          </Disclosure.Indicator>
        </Disclosure.Trigger>
      </Disclosure.Heading>
      <Disclosure.Content>
        <Disclosure.Body className="pt-2 pb-1">{children}</Disclosure.Body>
      </Disclosure.Content>
    </Disclosure>
  );
}

function KindDetails({ record }: { record: Record }) {
  const { t } = useTranslation();
  const format = useFormat();
  if (record.kind === "procedural") {
    return (
      <div className="mt-3 space-y-2">
        {record.trigger !== undefined && record.trigger !== "" && (
          <p className="said text-muted">
            <span className="font-medium">{t("panel.trigger")}</span> {record.trigger}
          </p>
        )}
        {(record.steps ?? []).length > 0 && (
          <ol className="marker:text-muted list-decimal space-y-1 ps-5 leading-relaxed">
            {(record.steps ?? []).map((step, place) => (
              <li key={place} className="said">
                {step.replace(/^\d+[.)、]\s*/, "")}
              </li>
            ))}
          </ol>
        )}
        {record.success_rate != null && (
          <p className="caption">
            {t("panel.success", { rate: format.percent(record.success_rate), count: record.usage_count ?? 0 })}
          </p>
        )}
      </div>
    );
  }
  if (record.kind === "episodic") {
    return (
      <dl className="text-muted mt-3 space-y-1">
        {record.outcome !== undefined && record.outcome !== "" && (
          <div className="said">
            <dt className="inline font-medium">{t("panel.outcome")}</dt>{" "}
            <dd className="inline">{record.outcome}</dd>
          </div>
        )}
        {(record.participants ?? []).length > 0 && (
          <div className="said">
            <dt className="inline font-medium">{t("panel.participants")}</dt>{" "}
            <dd className="inline">{(record.participants ?? []).join(", ")}</dd>
          </div>
        )}
      </dl>
    );
  }
  return null;
}

const SHOWN_TAGS = 40;

function Tags({ tags }: { tags: string[] }) {
  const { t } = useTranslation();
  return (
    <ul className="mt-3 flex flex-wrap gap-1.5" aria-label={t("card.tags")}>
      {tags.slice(0, SHOWN_TAGS).map((tag) => (
        <li key={tag} className="bg-default said max-w-full truncate rounded-full px-2.5 py-0.5 text-xs">
          {tag}
        </li>
      ))}
      {tags.length > SHOWN_TAGS && (
        <li className="caption self-center">{t("panel.moreTags", { count: tags.length - SHOWN_TAGS })}</li>
      )}
    </ul>
  );
}

function History({ record }: { record: Record }) {
  const { t } = useTranslation();
  const format = useFormat();
  const history = useHistory(record.scope, record.id);
  const { undo } = useRecordActions();
  const { canWrite } = useReach();
  if (history.isError) return <Trouble error={history.error} />;
  if (history.data === undefined) return <Skeleton className="h-16 rounded-lg" />;
  const versions = [...history.data.items].reverse();
  return (
    <ol className="space-y-4">
      {versions.map((version, place) => {
        const before = versions[place + 1];
        return (
          <li key={version.number} className="border-line border-s-2 ps-3">
            <p className="caption">
              <span className="number font-medium">{t("panel.version", { number: version.number })}</span>
              {" · "}
              {version.changed_by} · {format.moment(version.record.recorded_at)}
            </p>
            {version.reason !== "" && <p className="said mt-0.5 text-xs">{version.reason}</p>}
            {before !== undefined && (
              <div className="mt-1 text-[13px]">
                <VersionDifference before={before} after={version} />
              </div>
            )}
          </li>
        );
      })}
      {canWrite && versions.length > 1 && !isShared(record) && record.status !== "deleted" && (
        <li>
          <Button size="sm" variant="tertiary" onPress={() => void undo(record)}>
            <Undo2 aria-hidden />
            {t("panel.undoLast")}
          </Button>
        </li>
      )}
    </ol>
  );
}

function VersionDifference({
  before,
  after,
}: {
  before: Schemas["Version"];
  after: Schemas["Version"];
}) {
  const { t } = useTranslation();
  const format = useFormat();
  const was = before.record;
  const is = after.record;
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

function linkedIds(record: Record): string[] {
  const linked = record.links.map((link) => (link.newer === record.id ? link.older : link.newer));
  return [...new Set([...record.related, ...linked])].filter((id) => id !== record.id);
}

function Related({ record, onOpen }: { record: Record; onOpen: (id: string) => void }) {
  const { t } = useTranslation();
  const ids = linkedIds(record);
  if (ids.length === 0) return <p className="text-muted">{t("panel.noRelated")}</p>;
  return (
    <ul className="space-y-2">
      {ids.slice(0, 20).map((id) => (
        <RelatedRecord
          key={id}
          id={id}
          record={record}
          relation={record.links.find((link) => link.newer === id || link.older === id)}
          onOpen={onOpen}
        />
      ))}
    </ul>
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
        <span className="said line-clamp-2">{found.data?.content ?? id}</span>
      </button>
    </li>
  );
}

/** The prompts that this record entered, as the audit has them. */
function Prompts({ record }: { record: Record }) {
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
  if (audit.isError) return <Trouble error={audit.error} />;
  if (audit.data === undefined) return <Skeleton className="h-10 rounded-lg" />;
  const prompts = audit.data.items.filter((entry) => entry.action === "inject");
  if (prompts.length === 0) return <p className="text-muted">{t("panel.noPrompts")}</p>;
  return (
    <ul className="space-y-2">
      {prompts.map((entry) => (
        <li key={entry.id} className="flex items-baseline gap-3">
          <Link
            to="/org/$org/ws/$workspace/audit"
            params={place}
            search={{ target: entry.target }}
            className="ink-link said line-clamp-1 min-w-0 flex-1"
          >
            {String(entry.payload["question"] ?? entry.target)}
          </Link>
          <time className="caption shrink-0" dateTime={entry.at}>
            {format.age(entry.at)}
          </time>
        </li>
      ))}
    </ul>
  );
}
