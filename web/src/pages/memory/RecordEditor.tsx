import { Button, toast } from "@heroui/react";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { refreshEverything, useRecordActions, type Changed } from "../../api/actions";
import { answer, api, ApiProblem, type Record } from "../../api/client";
import type { Place } from "../../api/place";
import { recordQuery, scopeIn, useFacets, useReach, type Who } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { Choice } from "../../parts/Choice";
import { Dialog } from "../../parts/Dialog";
import { Difference } from "../../parts/Difference";
import { useTellTrouble } from "../../parts/feedback";
import { Field } from "../../parts/Field";

interface Draft {
  kind: "semantic" | "episodic" | "procedural";
  title: string;
  content: string;
  category: string;
  facet: string;
  about: string;
  tags: string;
  steps: string;
  outcome: string;
  confidence: string;
  reason: string;
}

// A choice needs a value that is not empty.
const UNKNOWN = "*unknown";
const ABOUT = ["user", "other", "thing"] as const;

const EMPTY: Draft = {
  kind: "semantic",
  title: "",
  content: "",
  category: "",
  facet: UNKNOWN,
  about: UNKNOWN,
  tags: "",
  steps: "",
  outcome: "",
  confidence: "100",
  reason: "",
};

const MOST_TAGS_SHOWN = 200;

function draftOf(record: Record): Draft {
  return {
    kind: record.kind,
    title: record.title,
    content: record.content,
    category: record.category,
    facet: record.facet || UNKNOWN,
    about: record.about || UNKNOWN,
    tags: record.tags.slice(0, MOST_TAGS_SHOWN).join(", "),
    steps: record.kind === "procedural" ? (record.steps ?? []).join("\n") : "",
    outcome: record.kind === "episodic" ? (record.outcome ?? "") : "",
    confidence: String(Math.round(record.confidence * 100)),
    reason: "",
  };
}

const listed = (text: string, mark: RegExp) =>
  text
    .split(mark)
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** Only what was changed is sent: what somebody else changed meanwhile is left alone. */
function changesOf(before: Draft, now: Draft, unseenTags: string[] = []): Changed {
  const changes: Changed = {};
  if (now.content !== before.content) changes.content = now.content;
  if (now.title !== before.title) changes.title = now.title;
  if (now.category !== before.category) changes.category = now.category;
  // New words state what is chosen beside them; nothing chosen is left to the server.
  const isReworded = now.content !== before.content && now.facet !== UNKNOWN;
  if (isReworded || now.facet !== before.facet) changes.facet = now.facet === UNKNOWN ? "" : now.facet;
  if (isReworded || now.about !== before.about) changes.about = now.about === UNKNOWN ? "" : now.about;
  if (now.tags !== before.tags) changes.tags = [...listed(now.tags, /[,，、]/), ...unseenTags];
  if (now.steps !== before.steps) changes.steps = listed(now.steps, /\n/);
  if (now.outcome !== before.outcome) changes.outcome = now.outcome;
  if (now.confidence !== before.confidence) changes.confidence = Number(now.confidence) / 100;
  return changes;
}

/** The dialog that changes a record, or makes a new one. */
export function RecordEditor({
  record,
  isNew,
  place,
  who,
  onClose,
}: {
  record: Record | null;
  isNew: boolean;
  place: Place;
  who: Who;
  onClose: () => void;
}) {
  const { t, language } = useTranslation();
  const facets = useFacets().map((facet) => ({ id: facet.name, label: facet[language] }));
  const queries = useQueryClient();
  const tellTrouble = useTellTrouble();
  const { change } = useRecordActions();
  const owner = scopeIn(place, who, useReach());
  const [base, setBase] = useState<Record | null>(null);
  const [draft, setDraft] = useState<Draft>(EMPTY);
  const [theirs, setTheirs] = useState<Record | null>(null);
  const [isSaving, setSaving] = useState(false);
  const [error, setError] = useState<string>();
  useEffect(() => {
    setBase(record);
    setTheirs(null);
    setError(undefined);
    setDraft(record === null ? EMPTY : draftOf(record));
  }, [record, isNew]);

  const set = (changes: Partial<Draft>) => setDraft((old) => ({ ...old, ...changes }));
  const save = async () => {
    if (draft.content.trim() === "") {
      setError(t("editor.contentNeeded"));
      return;
    }
    setSaving(true);
    try {
      if (base === null) {
        await answer(
          api.POST("/v1/records", {
            params: { query: owner },
            body: {
              ...changesOf(EMPTY, draft),
              content: draft.content,
              kind: draft.kind,
              reason: draft.reason,
              source: "console",
            } as never,
          }),
        );
        await refreshEverything(queries);
        toast.success(t("editor.added"));
      } else {
        const unseen = base.tags.slice(MOST_TAGS_SHOWN);
        await change(base, { ...changesOf(draftOf(base), draft, unseen), reason: draft.reason });
        toast.success(t("editor.saved"));
      }
      onClose();
    } catch (problem) {
      if (base !== null && problem instanceof ApiProblem && problem.status === 412) {
        setTheirs(await queries.fetchQuery({ ...recordQuery(base.scope, base.id), staleTime: 0 }));
      } else {
        tellTrouble(problem);
      }
    } finally {
      setSaving(false);
    }
  };
  /** Go on from the other person's version, with the words that were chosen. */
  const merge = (content: string, isMineKept = true) => {
    if (theirs === null || base === null) return;
    const before = draftOf(base);
    const changed = Object.entries(draft).filter(([name, text]) => text !== before[name as keyof Draft]);
    const mine = isMineKept ? Object.fromEntries(changed) : {};
    setBase(theirs);
    setDraft({ ...draftOf(theirs), ...mine, content, reason: draft.reason });
    setTheirs(null);
  };
  const isOpen = isNew || record !== null;

  if (theirs !== null) {
    return (
      <Dialog
        isOpen={isOpen}
        onClose={onClose}
        title={t("merge.title")}
        lead={t("merge.lead", { version: theirs.version })}
        width="max-w-2xl"
        footer={
          <>
            <Button variant="tertiary" onPress={() => merge(theirs.content, false)}>
              {t("merge.takeTheirs")}
            </Button>
            <Button variant="secondary" onPress={() => merge(`${theirs.content}\n${draft.content}`)}>
              {t("merge.both")}
            </Button>
            <Button onPress={() => merge(draft.content)}>{t("merge.keepMine")}</Button>
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
            <Difference before={theirs.content} after={draft.content} />
          </section>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={t(isNew ? "editor.new" : "editor.title")}
      lead={
        isNew
          ? t("editor.newLead", { name: owner.user === "-" ? t("person.workspace") : owner.user })
          : undefined
      }
      width="max-w-2xl"
      footer={
        <>
          <Button variant="tertiary" onPress={onClose}>
            {t("action.cancel")}
          </Button>
          <Button isPending={isSaving} onPress={() => void save()}>
            {t("action.save")}
          </Button>
        </>
      }
    >
      <form
        className="space-y-4 py-1"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {isNew && (
          <Choice
            label={t("editor.kind")}
            value={draft.kind}
            options={(["semantic", "episodic", "procedural"] as const).map((kind) => ({
              id: kind,
              label: t(`face.${kind}`),
              note: t(`kind.${kind}`),
            }))}
            onChange={(kind) => set({ kind: kind as Draft["kind"] })}
          />
        )}
        {draft.kind === "procedural" && (
          <Field label={t("editor.name")} value={draft.title} onChange={(title) => set({ title })} />
        )}
        <Field
          label={t("editor.content")}
          value={draft.content}
          rows={4}
          autoFocus
          isRequired
          error={draft.content.trim() === "" ? error : undefined}
          onChange={(content) => set({ content })}
        />
        {draft.kind === "procedural" && (
          <Field
            label={t("editor.steps")}
            description={t("editor.stepsHint")}
            value={draft.steps}
            rows={4}
            onChange={(steps) => set({ steps })}
          />
        )}
        {draft.kind === "episodic" && (
          <Field
            label={t("editor.outcome")}
            value={draft.outcome}
            onChange={(outcome) => set({ outcome })}
          />
        )}
        <div className="grid gap-4 sm:grid-cols-[1fr_1fr_7rem]">
          <Field
            label={t("editor.category")}
            value={draft.category}
            onChange={(category) => set({ category })}
          />
          <Field
            label={t("editor.tags")}
            placeholder={t("editor.tagsHint")}
            value={draft.tags}
            onChange={(tags) => set({ tags })}
          />
          <Field
            label={t("editor.confidence")}
            type="number"
            value={draft.confidence}
            onChange={(confidence) => set({ confidence })}
          />
        </div>
        <div className="grid gap-4 sm:grid-cols-2">
          <Choice
            label={t("editor.facet")}
            value={draft.facet}
            options={[{ id: UNKNOWN, label: t("facet.unknown") }, ...facets]}
            onChange={(facet) => set({ facet })}
          />
          <Choice
            label={t("editor.about")}
            value={draft.about}
            options={[
              { id: UNKNOWN, label: t("facet.unknown") },
              ...ABOUT.map((whom) => ({ id: whom, label: t(`about.${whom}`) })),
            ]}
            onChange={(about) => set({ about })}
          />
        </div>
        <Field
          label={t("editor.reason")}
          description={t("editor.reasonHint")}
          value={draft.reason}
          onChange={(reason) => set({ reason })}
        />
        <button type="submit" className="hidden" tabIndex={-1} aria-hidden />
      </form>
    </Dialog>
  );
}

