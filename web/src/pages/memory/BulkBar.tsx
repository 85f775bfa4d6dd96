import { Button } from "@heroui/react";
import { Download, Tag, Trash2, X } from "lucide-react";
import { useState } from "react";
import type { Record } from "../../api/client";
import { useTranslation } from "../../i18n";
import { downloadRecords } from "../../lib/download";
import { tagsIn } from "../../lib/lists";
import { Dialog, DialogButtons } from "../../parts/Dialog";
import { useAttempt } from "../../parts/feedback";
import { Field } from "../../parts/Field";
import { useRecordActions } from "./actions";

/** What can be done with all selected records. */
export function BulkBar({
  records,
  shown,
  total,
  everything,
  onSelect,
  onDelete,
}: {
  records: Record[];
  /** Those that are loaded. */
  shown: Record[];
  /** How many match, loaded or not. */
  total: number | undefined;
  /** Load all that match. */
  everything: () => Promise<{ records: Record[] }>;
  onSelect: (records: Record[]) => void;
  onDelete: () => void;
}) {
  const { t } = useTranslation();
  const { tag } = useRecordActions();
  const [isTagging, setTagging] = useState(false);
  const [added, setAdded] = useState("");
  const [taken, setTaken] = useState("");
  const { attempt, isWorking } = useAttempt();
  const onClear = () => onSelect([]);
  const isMoreThanShown = total !== undefined && total > shown.length;
  const selectAll = async () => {
    onSelect(isMoreThanShown ? (await everything()).records : shown);
  };
  const apply = () => {
    setTagging(false);
    void tag(records, tagsIn(added), tagsIn(taken));
    onClear();
  };
  return (
    <div
      role="toolbar"
      aria-label={t("bulk.label")}
      className="bg-accent-soft my-1 flex flex-wrap items-center gap-x-2 gap-y-1 rounded-xl p-1 ps-3"
    >
      <span className="number font-medium">{t("bulk.selected", { count: records.length })}</span>
      {records.length < (total ?? shown.length) && (
        <Button
          size="sm"
          variant="ghost"
          isPending={isWorking}
          onPress={() => void attempt(selectAll)}
        >
          {t("bulk.all", { count: total ?? shown.length })}
        </Button>
      )}
      <span className="flex-1" />
      <Button size="sm" variant="tertiary" onPress={() => setTagging(true)}>
        <Tag aria-hidden />
        {t("bulk.tag")}
      </Button>
      <Button
        size="sm"
        variant="tertiary"
        onPress={() => downloadRecords("recollect-selection.jsonl", records)}
      >
        <Download aria-hidden />
        {t("bulk.export")}
      </Button>
      <Button size="sm" variant="danger-soft" onPress={onDelete}>
        <Trash2 aria-hidden />
        {t("action.delete")}
      </Button>
      <Button isIconOnly size="sm" variant="ghost" aria-label={t("bulk.clear")} onPress={onClear}>
        <X aria-hidden />
      </Button>
      <Dialog
        isOpen={isTagging}
        onClose={() => setTagging(false)}
        title={t("bulk.tagTitle", { count: records.length })}
        footer={
          <DialogButtons
            onCancel={() => setTagging(false)}
            onConfirm={apply}
            label={t("action.save")}
            isDisabled={added.trim() === "" && taken.trim() === ""}
          />
        }
      >
        <div className="space-y-4 py-1">
          <Field
            label={t("bulk.addTags")}
            description={t("editor.tagsHint")}
            value={added}
            onChange={setAdded}
            autoFocus
          />
          <Field label={t("bulk.removeTags")} value={taken} onChange={setTaken} />
        </div>
      </Dialog>
    </div>
  );
}
