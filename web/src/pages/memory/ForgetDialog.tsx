import { Button } from "@heroui/react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refreshEverything } from "../../api/cache";
import { answer, api, type Schemas } from "../../api/client";
import { foresee, forget, type Forgotten, type Progress } from "../../api/forgetting";
import { ownerOf } from "../../api/place";
import { useNames } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useOnChange } from "../../lib/changed";
import { usePlace } from "../../lib/place";
import { Choice } from "../../parts/Choice";
import { Dialog, DialogButtons } from "../../parts/Dialog";
import { explain, Trouble } from "../../parts/feedback";
import { Field } from "../../parts/Field";
import { Counts, Erasing, Proof } from "./ForgetProof";

const ANYBODY = "*anybody";

/** Two agents may have given their sessions the same name. */
const sessionKey = (entry: Schemas["SessionEntry"]) =>
  JSON.stringify([entry.id, entry.scope.user, entry.scope.agent]);

/** Erases a person or a session for good: counted first, confirmed by typing, proved afterwards. */
export function ForgetDialog({
  isOpen,
  user,
  onClose,
}: {
  isOpen: boolean;
  user?: string;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const place = usePlace();
  const queries = useQueryClient();
  const users = useNames(place, "users");
  const [what, setWhat] = useState<"user" | "session">("user");
  const [person, setPerson] = useState(user ?? "");
  const [session, setSession] = useState("");
  const [typed, setTyped] = useState("");
  const [progress, setProgress] = useState<Progress | null>(null);
  const [proof, setProof] = useState<Forgotten | null>(null);
  const [error, setError] = useState<unknown>(null);
  useOnChange([isOpen, user], () => {
    setPerson(user ?? "");
    setSession("");
    setTyped("");
    setProof(null);
    setError(null);
  });
  const sessions = useQuery({
    queryKey: ["forget-sessions", place, person],
    enabled: isOpen && what === "session",
    queryFn: () =>
      answer(
        api.GET("/v1/workspace/sessions", {
          params: { query: { ...place, user: person === "" ? undefined : person, limit: 100 } },
        }),
      ),
  });
  const chosen = sessions.data?.items.find((entry) => sessionKey(entry) === session);
  const name = what === "user" ? person : (chosen?.id ?? "");
  const wanted = what === "user" ? { user: person, all_agents: true } : { session: name };
  const owner =
    chosen === undefined
      ? { ...place, agent: "-", user: person === "" ? "-" : person }
      : ownerOf(chosen.scope);
  const dryRun = useQuery({
    queryKey: ["forget-dry-run", owner, what, name],
    enabled: isOpen && name !== "" && proof === null,
    staleTime: 0,
    retry: false,
    queryFn: () => foresee(owner, wanted),
  });
  const confirm = async () => {
    setProgress({ done: 0, total: 0 });
    setError(null);
    try {
      setProof(await forget(owner, wanted, setProgress));
      await refreshEverything(queries);
    } catch (problem) {
      setError(problem);
    } finally {
      setProgress(null);
    }
  };
  const names = users.data?.items.map((entry) => entry.name) ?? [];
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={t(proof === null ? "forget.title" : "forget.doneTitle")}
      lead={proof === null ? t("forget.lead") : undefined}
      width="max-w-xl"
      footer={
        proof === null ? (
          <DialogButtons
            onCancel={onClose}
            onConfirm={() => void confirm()}
            label={t("forget.confirm")}
            isDanger
            isDisabled={name === "" || typed !== name || dryRun.data === undefined}
            isPending={progress !== null}
          />
        ) : (
          <Button onPress={onClose}>{t("action.close")}</Button>
        )
      }
    >
      {proof !== null ? (
        <Proof forgotten={proof} />
      ) : (
        <div className="space-y-5 py-1">
          <div className="grid gap-4 sm:grid-cols-2">
            <Choice
              label={t("forget.what")}
              value={what}
              options={[
                { id: "user", label: t("forget.user") },
                { id: "session", label: t("forget.session") },
              ]}
              onChange={(id) => {
                setWhat(id);
                setSession("");
                setTyped("");
              }}
            />
            <Choice
              label={t("forget.person")}
              value={person === "" && what === "session" ? ANYBODY : person}
              options={[
                ...(what === "session" ? [{ id: ANYBODY, label: t("person.everyone") }] : []),
                ...names.map((one) => ({ id: one, label: one })),
              ]}
              onChange={(id) => {
                setPerson(id === ANYBODY ? "" : id);
                setSession("");
                setTyped("");
              }}
            />
          </div>
          {what === "session" && (
            <Choice
              label={t("forget.session")}
              value={session}
              options={(sessions.data?.items ?? []).map((entry) => ({
                id: sessionKey(entry),
                label: entry.id,
                note: [entry.scope.user, entry.scope.agent].filter(Boolean).join(" · "),
              }))}
              onChange={(id) => {
                setSession(id);
                setTyped("");
              }}
            />
          )}
          {name !== "" && (
            <section className="bg-canvas rounded-xl p-4" aria-live="polite">
              <h3 className="mb-2 font-medium">{t("forget.would")}</h3>
              {dryRun.isError ? (
                <p className="text-danger">{explain(dryRun.error, t).what}</p>
              ) : dryRun.data === undefined ? (
                <p className="text-muted">{t("status.loading")}</p>
              ) : (
                <Counts counts={dryRun.data.counts} />
              )}
            </section>
          )}
          {name !== "" && (
            <Field
              label={t("forget.type", { name })}
              value={typed}
              onChange={setTyped}
              description={t("forget.typeHint")}
            />
          )}
          {progress !== null && <Erasing progress={progress} />}
          {error !== null && <Trouble error={error} />}
        </div>
      )}
    </Dialog>
  );
}
