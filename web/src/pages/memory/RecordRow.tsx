import { memo } from "react";
import type { Record } from "../../api/client";
import { faceOf, isShared } from "../../api/place";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { FaceIcon } from "../../parts/faces";
import { Age, nameOf, RowActions, StatusChip, Tick, type CardActions } from "./RecordCard";

/** The columns; what a narrow page has no room for is in the details. */
const COLUMNS =
  "grid items-center gap-x-3 px-3 grid-cols-[1rem_1.5rem_minmax(0,1fr)_4.5rem] md:grid-cols-[1rem_1.5rem_minmax(0,1fr)_7rem_7rem_3.5rem_3rem_6.5rem_4rem]";
const WIDE = "hidden md:block";

/** Names the columns of the table. */
export function RowHeads() {
  const { t } = useTranslation();
  const heads: [string, string][] = [
    ["", ""],
    ["", ""],
    [t("editor.content"), ""],
    [t("editor.category"), WIDE],
    [t("column.whose"), WIDE],
    [t("column.sure"), `${WIDE} text-end`],
    [t("column.used"), `${WIDE} text-end`],
    [t("column.confirmed"), "text-end"],
    ["", WIDE],
  ];
  return (
    <div role="row" className={`${COLUMNS} caption border-line h-8 border-b font-medium`}>
      {heads.map(([name, look], place) => (
        <span key={place} role="columnheader" className={`truncate ${look}`}>
          {name}
        </span>
      ))}
    </div>
  );
}

/** One memory as a row of the table. */
export const RecordRow = memo(function RecordRow({
  record,
  isOpen,
  isSelected,
  actions,
}: {
  record: Record;
  isOpen: boolean;
  isSelected: boolean;
  actions: CardActions;
}) {
  const { t, named } = useTranslation();
  const format = useFormat();
  const face = faceOf(record);
  const whose = isShared(record) ? t("face.shared") : (record.scope.user ?? record.scope.agent);
  return (
    <div
      role="row"
      aria-label={nameOf(record)}
      data-record={record.id}
      className={`${COLUMNS} border-line relative h-10 border-b contain-layout ${isOpen ? "bg-accent-soft" : "hover:bg-default/60"} ${isSelected ? "bg-accent-soft" : ""}`}
    >
      <span role="cell" className="flex">
        <Tick record={record} isSelected={isSelected} actions={actions} />
      </span>
      <span role="cell" title={t(`face.${face}`)}>
        <FaceIcon face={face} className="size-6" />
        <span className="sr-only">{t(`face.${face}`)}</span>
      </span>
      <span role="cell" className="flex min-w-0 items-center gap-2">
        <button
          type="button"
          dir="auto"
          className="focusable said line-clamp-1 min-w-0 cursor-pointer rounded-md text-start break-all after:absolute after:inset-0"
          onClick={() => actions.onOpen(record)}
          aria-expanded={isOpen}
        >
          {record.title !== "" && <b className="font-medium">{record.title}: </b>}
          {record.content.slice(0, 300)}
        </button>
        <StatusChip record={record} />
      </span>
      <span role="cell" className={`caption truncate ${WIDE}`}>
        {record.category === "" ? "–" : named("category", record.category)}
      </span>
      <span role="cell" className={`caption truncate ${WIDE}`}>
        {whose ?? "–"}
      </span>
      <span role="cell" className={`caption number text-end ${WIDE}`}>
        {format.percent(record.confidence)}
      </span>
      <span role="cell" className={`caption number text-end ${WIDE}`}>
        {format.number(record.access_count)}
      </span>
      <span role="cell" className="truncate text-end">
        <Age record={record} />
      </span>
      <span role="cell" className={`${WIDE} flex justify-end`}>
        <RowActions record={record} actions={actions} />
      </span>
    </div>
  );
});
