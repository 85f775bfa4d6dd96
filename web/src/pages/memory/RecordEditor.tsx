import { toast } from "@heroui/react";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refreshEverything } from "../../api/cache";
import { answer, api, ApiProblem, type Record } from "../../api/client";
import { recordQuery, scopeIn, useFacets, useNames, useReach } from "../../api/queries";
import { useTranslation } from "../../i18n";
import type { Place, Who } from "../../lib/address";
import { useOnChange } from "../../lib/changed";
import { Choice } from "../../parts/Choice";
import { Dialog, DialogButtons } from "../../parts/Dialog";
import { useTellTrouble } from "../../parts/feedback";
import { Field } from "../../parts/Field";
import { NameField } from "../../parts/NameField";
import { useRecordActions } from "./actions";
import { changesOf, draftOf, EMPTY, MOST_TAGS_SHOWN, rebased, UNKNOWN, type Draft } from "./draft";
import { MergeDialog } from "./MergeDialog";

const ABOUT = ["user", "other", "thing"] as const;

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
  const reach = useReach();
  const shownOwner = scopeIn(place, who, reach);
  const [whose, setWhose] = useState({ user: "", agent: "" });
  const owner = isNew
    ? { ...place, user: whose.user.trim() || "-", agent: whose.agent.trim() || "-" }
    : shownOwner;
  const people = useNames(place, "users").data?.items ?? [];
  const agents = useNames(place, "agents").data?.items ?? [];
  const [base, setBase] = useState<Record | null>(null);
  const [draft, setDraft] = useState<Draft>(EMPTY);
  const [theirs, setTheirs] = useState<Record | null>(null);
  const [isSaving, setSaving] = useState(false);
  const [error, setError] = useState<string>();
  useOnChange([record, isNew], () => {
    setBase(record);
    setTheirs(null);
    setError(undefined);
    setWhose({
      user: shownOwner.user === "-" ? "" : shownOwner.user,
      agent: shownOwner.agent === "-" ? "" : shownOwner.agent,
    });
    setDraft(record === null ? EMPTY : draftOf(record));
  });

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
            },
          }),
        );
        await refreshEverything(queries);
        toast.success(t("editor.added"));
      } else {
        const unseen = base.tags.slice(MOST_TAGS_SHOWN);
        await change(base, { ...changesOf(draftOf(base), draft, unseen), reason: draft.reason });
      }
      onClose();
    } catch (problem) {
      if (base !== null && problem instanceof ApiProblem && problem.status === 412) {
        setTheirs(await queries.query({ ...recordQuery(base.scope, base.id), staleTime: 0 }));
      } else {
        tellTrouble(problem);
      }
    } finally {
      setSaving(false);
    }
  };
  /** Go on from the other person's version, with the words that were chosen. */
  const merge = (content: string, isMineKept: boolean) => {
    if (theirs === null || base === null) return;
    const before = draftOf(base);
    setBase(theirs);
    setDraft({
      ...rebased(theirs, before, isMineKept ? draft : { ...before, reason: draft.reason }),
      content,
    });
    setTheirs(null);
  };
  const isOpen = isNew || record !== null;

  if (theirs !== null) {
    return <MergeDialog theirs={theirs} mine={draft.content} onClose={onClose} onMerge={merge} />;
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
        <DialogButtons
          onCancel={onClose}
          onConfirm={() => void save()}
          label={t("action.save")}
          isPending={isSaving}
        />
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
          <div className="grid gap-4 sm:grid-cols-2">
            <NameField
              label={t("person.name")}
              hint={t("person.none")}
              allowed={reach.users}
              known={people.map(({ name }) => name)}
              value={whose.user}
              onChange={(user) => setWhose({ ...whose, user })}
            />
            <NameField
              label={t("person.agent")}
              hint={t("editor.anyAgent")}
              allowed={reach.agents}
              known={agents.map(({ name }) => name)}
              value={whose.agent}
              onChange={(agent) => setWhose({ ...whose, agent })}
            />
          </div>
        )}
        {isNew && (
          <Choice
            label={t("editor.kind")}
            value={draft.kind}
            options={(["semantic", "episodic", "procedural"] as const).map((kind) => ({
              id: kind,
              label: t(`face.${kind}`),
              note: t(`kind.${kind}`),
            }))}
            onChange={(kind) => set({ kind })}
          />
        )}
        {draft.kind === "procedural" && (
          <Field
            label={t("editor.name")}
            value={draft.title}
            onChange={(title) => set({ title })}
          />
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
