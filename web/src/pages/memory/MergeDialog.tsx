import { Button } from "@heroui/react";
import type { Record } from "../../api/client";
import { useTranslation } from "../../i18n";
import { Dialog } from "../../parts/Dialog";
import { Difference } from "../../parts/Difference";

/** Somebody else saved the record meanwhile: their words, one's own, or both. */
export function MergeDialog({
  theirs,
  mine,
  onClose,
  onMerge,
}: {
  theirs: Record;
  mine: string;
  onClose: () => void;
  onMerge: (content: string, isMineKept: boolean) => void;
}) {
  const { t } = useTranslation();
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t("merge.title")}
      lead={t("merge.lead", { version: theirs.version })}
      width="max-w-2xl"
      footer={
        <>
          <Button variant="tertiary" onPress={() => onMerge(theirs.content, false)}>
            {t("merge.takeTheirs")}
          </Button>
          <Button variant="secondary" onPress={() => onMerge(`${theirs.content}\n${mine}`, true)}>
            {t("merge.both")}
          </Button>
          <Button onPress={() => onMerge(mine, true)}>{t("merge.keepMine")}</Button>
        </>
      }
    >
      <div className="grid gap-3 sm:grid-cols-2">
        <section className="border-line rounded-xl border p-4">
          <h3 className="eyebrow mb-2">{t("merge.theirs")}</h3>
          <p className="said whitespace-pre-wrap">{theirs.content}</p>
        </section>
        <section className="border-accent rounded-xl border p-4">
          <h3 className="eyebrow mb-2">{t("merge.mine")}</h3>
          <Difference before={theirs.content} after={mine} />
        </section>
      </div>
    </Dialog>
  );
}
