import { useState } from "react";
import type { Record } from "../../api/client";
import { isShared } from "../../api/place";
import { useTranslation } from "../../i18n";
import { Dialog, DialogButtons } from "../../parts/Dialog";
import { Field } from "../../parts/Field";

/** Asks before many records, or what everybody shares, are deleted. */
export function ConfirmDelete({
  records,
  onClose,
  onConfirm,
}: {
  records: Record[] | null;
  onClose: () => void;
  onConfirm: (reason: string) => void;
}) {
  const { t } = useTranslation();
  const [reason, setReason] = useState("");
  const some = records ?? [];
  return (
    <Dialog
      isOpen={records !== null}
      onClose={onClose}
      title={t("delete.title", { count: some.length })}
      lead={t(some.some(isShared) ? "delete.sharedLead" : "delete.lead")}
      footer={
        <DialogButtons
          onCancel={onClose}
          onConfirm={() => onConfirm(reason)}
          label={t("action.delete")}
          isDanger
        />
      }
    >
      <ul className="bg-canvas max-h-48 space-y-1.5 overflow-y-auto rounded-xl p-4">
        {some.slice(0, 20).map((record) => (
          <li key={record.id} className="said line-clamp-1">
            {record.content}
          </li>
        ))}
        {some.length > 20 && (
          <li className="caption">{t("delete.more", { count: some.length - 20 })}</li>
        )}
      </ul>
      <Field className="mt-4" label={t("editor.reason")} value={reason} onChange={setReason} />
    </Dialog>
  );
}
