import { Pencil, Trash2, Undo2 } from "lucide-react";
import { memo } from "react";
import type { Record } from "../../api/client";
import { faceOf, isShared } from "../../api/place";
import { useFacets } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { FaceBadge } from "../../parts/faces";
import { Highlighted } from "../../parts/Highlighted";

const SHOWN_TAGS = 4;

export interface CardActions {
  canWrite: boolean;
  onOpen: (record: Record) => void;
  onEdit: (record: Record) => void;
  onDelete: (record: Record) => void;
  onUndo: (record: Record) => void;
  onSelect: (record: Record, isSelected: boolean) => void;
  onTag: (tag: string) => void;
}

/** The first words of a record, which name it. */
export function nameOf(record: Record): string {
  const name = record.title !== "" ? record.title : record.content;
  return name.length > 60 ? `${name.slice(0, 60)}…` : name;
}

/** One memory as a card: what it is, how sure, how old, where from, and what to do with it. */
export const RecordCard = memo(function RecordCard({
  record,
  isOpen,
  isSelected,
  words,
  actions,
  footer,
}: {
  record: Record;
  isOpen: boolean;
  isSelected: boolean;
  words?: string[];
  actions: CardActions;
  footer?: React.ReactNode;
}) {
  const { t } = useTranslation();
  const format = useFormat();
  return (
    <article
      aria-label={nameOf(record)}
      data-record={record.id}
      className={`panel group relative contain-layout px-4 py-2.5 transition-colors ${isOpen ? "border-accent ring-accent/30 ring-2" : "hover:border-border-tertiary"} ${isSelected ? "bg-accent-soft" : ""}`}
    >
      <div className="flex h-6 items-center gap-2">
        <Tick record={record} isSelected={isSelected} actions={actions} />
        <FaceBadge face={faceOf(record)} />
        <FacetChip record={record} />
        <StatusChip record={record} />
        <span className="flex-1" />
        <span className="caption number whitespace-nowrap">
          <span className="hidden sm:inline">{t("card.confidence")} </span>
          {format.percent(record.confidence)}
        </span>
        <Age record={record} />
        <RowActions record={record} actions={actions} />
      </div>
      <button
        type="button"
        className="focusable mt-1 block w-full cursor-pointer rounded-md text-start after:absolute after:inset-0 after:rounded-2xl"
        onClick={() => actions.onOpen(record)}
        aria-expanded={isOpen}
      >
        <span className="said line-clamp-2 text-[15px] leading-snug" dir="auto">
          {record.title !== "" && <b className="font-medium">{record.title}: </b>}
          <Highlighted text={record.content.slice(0, 600)} words={words} />
        </span>
      </button>
      <p className="caption mt-1 line-clamp-1 leading-5 break-all">
        <Origin record={record} />
        <Dot />
        {isShared(record)
          ? t("card.sharedBy")
          : record.scope.agent === null
            ? t("card.anyAgent")
            : t("card.agent", { name: record.scope.agent })}
        {record.scope.user !== null && (
          <>
            <Dot />
            {record.scope.user}
          </>
        )}
        {record.tags.length > 0 && (
          <>
            <Dot />
            <span className="me-1">{t("card.tags")}</span>
            {record.tags.slice(0, SHOWN_TAGS).map((tag, place) => (
              <span key={tag}>
                {place > 0 && ", "}
                <button
                  type="button"
                  className="focusable hover:text-foreground relative z-10 cursor-pointer rounded-sm underline-offset-2 hover:underline"
                  onClick={() => actions.onTag(tag)}
                >
                  {tag}
                </button>
              </span>
            ))}
            {record.tags.length > SHOWN_TAGS && (
              <span className="number"> +{format.number(record.tags.length - SHOWN_TAGS)}</span>
            )}
          </>
        )}
      </p>
      {footer}
    </article>
  );
});

/** The box that selects a record. */
export function Tick({
  record,
  isSelected,
  actions,
}: {
  record: Record;
  isSelected: boolean;
  actions: CardActions;
}) {
  const { t } = useTranslation();
  return (
    <input
      type="checkbox"
      aria-label={t("card.select", { name: nameOf(record) })}
      checked={isSelected}
      onChange={(event) => actions.onSelect(record, event.target.checked)}
      className="tick focusable relative z-10"
    />
  );
}

/** How long ago a record was last confirmed. */
export function Age({ record }: { record: Record }) {
  const format = useFormat();
  return (
    <time
      className="caption whitespace-nowrap"
      dateTime={record.last_confirmed}
      // Written when it is asked for: it takes as long as the rest of the card.
      onPointerEnter={({ currentTarget }) => {
        currentTarget.title = format.moment(record.last_confirmed);
      }}
    >
      {format.age(record.last_confirmed)}
    </time>
  );
}

/** What is done with one record at its place in the list. */
export function RowActions({ record, actions }: { record: Record; actions: CardActions }) {
  const { t } = useTranslation();
  if (!actions.canWrite) return null;
  return (
    <span className="relative z-10 -my-1 -me-2 flex">
      {record.status === "deleted" ? (
        <IconButton label={t("action.restore")} onPress={() => actions.onUndo(record)}>
          <Undo2 aria-hidden />
        </IconButton>
      ) : (
        <>
          <IconButton label={t("action.edit")} onPress={() => actions.onEdit(record)}>
            <Pencil aria-hidden />
          </IconButton>
          <IconButton label={t("action.delete")} onPress={() => actions.onDelete(record)}>
            <Trash2 aria-hidden />
          </IconButton>
        </>
      )}
    </span>
  );
}

/** The status of a record that is not simply there. */
export function StatusChip({ record }: { record: Record }) {
  const { t } = useTranslation();
  if (record.status === "active") return null;
  return (
    <span className="bg-warning-soft text-warning-soft-foreground rounded-full px-2 py-0.5 text-xs font-medium">
      {t(`status.${record.status}`)}
    </span>
  );
}

/** Which attribute a record states. */
export function FacetChip({ record }: { record: Record }) {
  const { t, language } = useTranslation();
  const facet = useFacets().find(({ name }) => name === record.facet);
  if (!record.facet) return null;
  return (
    <span
      className="bg-surface-secondary text-muted max-w-40 truncate rounded-full px-2 py-0.5 text-xs"
      title={t(record.facet_fixed ? "facet.fixed" : "facet.guessed")}
      data-facet={record.facet}
    >
      {facet?.[language] ?? record.facet}
    </span>
  );
}

/** What a record rests on: what was said, and how often. */
export function Origin({ record }: { record: Record }) {
  const { t } = useTranslation();
  const isSaid = record.evidence.length > 0;
  if (record.evidence_count <= 1) return t(isSaid ? "card.said" : "card.saved");
  return t(isSaid ? "card.saidTimes" : "card.savedTimes", { count: record.evidence_count });
}

function Dot() {
  return (
    <span aria-hidden className="mx-1.5 opacity-60">
      ·
    </span>
  );
}

// Plain elements: a list that is scrolled fast makes dozens of cards a second.
function IconButton({
  label,
  onPress,
  children,
}: {
  label: string;
  onPress: () => void;
  children: React.ReactNode;
}) {
  return (
    <button
      type="button"
      className="button button--ghost button--sm button--icon-only text-muted hover:text-foreground"
      aria-label={label}
      title={label}
      onClick={onPress}
    >
      {children}
    </button>
  );
}
