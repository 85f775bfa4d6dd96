import { Button } from "@heroui/react";
import { Database, FileStack, FileX2, Library, Plus, X } from "lucide-react";
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import type { KnowledgeSearch } from "../../lib/address";
import { Dialog, DialogButtons } from "../../parts/Dialog";
import { Field } from "../../parts/Field";
import { Tile } from "../../parts/Tile";

type Collection = Schemas["Collection"];

export function sumOf(
  collections: Collection[],
  what: "documents" | "chunks" | "bytes" | "failed",
): number {
  return collections.reduce((all, collection) => all + collection[what], 0);
}

/** How much there is to search, and what could not be read. */
export function Figures({
  collections,
  onShowFailed,
}: {
  collections: Collection[] | undefined;
  onShowFailed: () => void;
}) {
  const { t } = useTranslation();
  const format = useFormat();
  const failed = collections && sumOf(collections, "failed");
  return (
    <section aria-label={t("knowledge.figures")} className="tiles">
      <Tile
        icon={FileStack}
        label={t("knowledge.documents")}
        value={collections && format.number(sumOf(collections, "documents"))}
      />
      <Tile
        icon={Library}
        label={t("knowledge.chunks")}
        value={collections && format.number(sumOf(collections, "chunks"))}
      />
      <Tile
        icon={Database}
        label={t("knowledge.size")}
        value={collections && format.bytes(sumOf(collections, "bytes"))}
      />
      <Tile
        icon={FileX2}
        label={t("knowledge.failed")}
        value={failed === undefined ? undefined : format.number(failed)}
        note={failed !== undefined && failed > 0 ? t("health.toReview") : undefined}
        onOpen={onShowFailed}
      />
    </section>
  );
}

/** Chooses one collection or all of them. */
export function CollectionBar({
  collections,
  search,
  onChoose,
  onNew,
}: {
  collections: Collection[];
  search: KnowledgeSearch;
  onChoose: (changes: KnowledgeSearch) => void;
  onNew?: () => void;
}) {
  const { t } = useTranslation();
  const chosen = search.collection;
  const known = collections.map((it) => it.name);
  const names = [...new Set(chosen === undefined ? known : [...known, chosen])];
  return (
    <div
      className="my-4 flex flex-wrap items-center gap-2"
      role="group"
      aria-label={t("knowledge.collections")}
    >
      <Chip
        isOn={chosen === undefined}
        onPress={() => onChoose({ collection: undefined })}
        count={sumOf(collections, "documents")}
      >
        {t("knowledge.all")}
      </Chip>
      {names.map((name) => (
        <Chip
          key={name}
          isOn={chosen === name}
          onPress={() => onChoose({ collection: name })}
          count={sumOf(
            collections.filter((it) => it.name === name),
            "documents",
          )}
        >
          {name}
        </Chip>
      ))}
      {onNew !== undefined && (
        <Button size="sm" variant="ghost" onPress={onNew}>
          <Plus aria-hidden />
          {t("knowledge.newCollection")}
        </Button>
      )}
      {search.status !== undefined && (
        <Button size="sm" variant="ghost" onPress={() => onChoose({ status: undefined })}>
          <X aria-hidden />
          {t("filter.clear")}
        </Button>
      )}
    </div>
  );
}

function Chip({
  isOn,
  onPress,
  count,
  children,
}: {
  isOn: boolean;
  onPress: () => void;
  count: number;
  children: string;
}) {
  const format = useFormat();
  return (
    <Button
      size="sm"
      variant={isOn ? "secondary" : "outline"}
      className={isOn ? "bg-accent-soft text-accent-soft-foreground" : ""}
      aria-pressed={isOn}
      onPress={onPress}
    >
      <span className="said max-w-48 truncate">{children}</span>
      <span className="number opacity-75">{format.number(count)}</span>
    </Button>
  );
}

/** Asks for the name of a collection; the first document in it makes it. */
export function NewCollectionDialog({
  isOpen,
  onClose,
  onChoose,
}: {
  isOpen: boolean;
  onClose: () => void;
  onChoose: (name: string) => void;
}) {
  const { t } = useTranslation();
  const [name, setName] = useState("");
  const wanted = name.trim();
  const isGood = wanted !== "" && wanted.length <= 40 && !/[@/]/.test(wanted);
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={t("knowledge.newCollection")}
      lead={t("knowledge.newCollectionLead")}
      footer={
        <DialogButtons
          onCancel={onClose}
          onConfirm={() => onChoose(wanted)}
          label={t("knowledge.useCollection")}
          isDisabled={!isGood}
        />
      }
    >
      <form
        className="py-1"
        onSubmit={(event) => {
          event.preventDefault();
          if (isGood) onChoose(wanted);
        }}
      >
        <Field
          label={t("knowledge.collectionName")}
          description={t("knowledge.collectionRule")}
          value={name}
          onChange={setName}
          autoFocus
        />
      </form>
    </Dialog>
  );
}
