import { Button, Disclosure } from "@heroui/react";
import { useQuery } from "@tanstack/react-query";
import { ChevronDown, Pencil, Trash2, Undo2, X } from "lucide-react";
import type { ReactNode } from "react";
import type { Record } from "../../api/client";
import { faceOf } from "../../api/place";
import { recordQuery, useReach } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { Trouble } from "../../parts/feedback";
import { FaceBadge } from "../../parts/faces";
import { Meter } from "../../parts/Meter";
import { useRecordActions } from "./actions";
import { Evidence } from "./Evidence";
import { FacetChip } from "./RecordCard";
import { Facts, KindDetails, Tags } from "./RecordDetails";
import { History } from "./RecordHistory";
import { linkedIds, Prompts, Related } from "./RecordUses";
import { Writes } from "./RecordWrites";

// A text of so many characters may have to be scrolled, also by keyboard.
const LONG = 600;

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
  const asked = useQuery({
    ...recordQuery(listed.scope, listed.id),
    enabled: listed.status !== "deleted",
  });
  const record = asked.data ?? listed;
  const isDeleted = record.status === "deleted";
  return (
    <section aria-label={t("panel.label")} className="flex min-h-0 flex-col" data-panel={record.id}>
      <header className="flex items-center gap-2 px-5 pt-4 pb-3">
        <h2 className="sr-only">{t("panel.label")}</h2>
        <FaceBadge face={faceOf(record)} />
        <FacetChip record={record} />
        {record.status !== "active" && (
          <span className="bg-warning-soft text-warning-soft-foreground rounded-full px-2 py-0.5 text-xs font-medium">
            {t(`status.${record.status}`)}
          </span>
        )}
        <span className="caption number">{t("panel.version", { number: record.version })}</span>
        <span className="flex-1" />
        <Button
          isIconOnly
          size="sm"
          variant="ghost"
          aria-label={t("panel.close")}
          onPress={onClose}
        >
          <X aria-hidden />
        </Button>
      </header>
      <div className="min-h-0 flex-1 space-y-6 overflow-y-auto px-5 pb-6">
        <div>
          {record.title !== "" && (
            <h3 className="said mb-1 text-base font-semibold">{record.title}</h3>
          )}
          <p
            className="said focusable max-h-[50vh] overflow-y-auto rounded-md text-[15px] leading-relaxed whitespace-pre-wrap"
            dir="auto"
            tabIndex={record.content.length > LONG ? 0 : undefined}
          >
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
        <Facts record={record} />
        <Section title={t("panel.evidence")} count={record.evidence.length} isOpen>
          <Evidence record={record} />
        </Section>
        <Section title={t("panel.history")} count={record.version} isOpen={record.version > 1}>
          <History record={record} />
        </Section>
        <Section title={t("panel.related")} count={linkedIds(record).length}>
          <Related record={record} onOpen={onOpen} />
        </Section>
        <Section title={t("panel.written")}>
          <Writes record={record} />
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
