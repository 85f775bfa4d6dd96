import { Button, ProgressBar } from "@heroui/react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ShieldCheck, TriangleAlert } from "lucide-react";
import { useEffect, useState } from "react";
import { refreshEverything } from "../../api/actions";
import { answer, api, type Schemas } from "../../api/client";
import { foresee, forget, type Forgotten, type Progress } from "../../api/forgetting";
import { ownerOf } from "../../api/place";
import { useNames } from "../../api/queries";
import { useTranslation, type MessageKey } from "../../i18n";
import { useFormat } from "../../lib/format";
import { usePlace } from "../../lib/place";
import { Choice } from "../../parts/Choice";
import { Dialog } from "../../parts/Dialog";
import { explain, Trouble } from "../../parts/feedback";
import { Field } from "../../parts/Field";

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
  useEffect(() => {
    setPerson(user ?? "");
    setSession("");
    setTyped("");
    setProof(null);
    setError(null);
  }, [isOpen, user]);
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
          <>
            <Button variant="tertiary" onPress={onClose}>
              {t("action.cancel")}
            </Button>
            <Button
              variant="danger"
              isDisabled={name === "" || typed !== name || dryRun.data === undefined}
              isPending={progress !== null}
              onPress={() => void confirm()}
            >
              {t("forget.confirm")}
            </Button>
          </>
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
                setWhat(id as "user" | "session");
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

/** How much is gone; then files are cleaned and searched, which takes a time nobody knows. */
function Erasing({ progress: { done, total } }: { progress: Progress }) {
  const { t } = useTranslation();
  const format = useFormat();
  const isErased = total > 0 && done >= total;
  const label = isErased
    ? t("forget.searching")
    : t("forget.erasing", { done: format.number(done), total: format.number(total) });
  return (
    <ProgressBar
      aria-label={label}
      isIndeterminate={isErased || total === 0}
      value={done}
      maxValue={Math.max(total, 1)}
    >
      <p className="text-muted number" aria-live="polite">
        {total === 0 ? t("forget.beginning") : label}
      </p>
      <ProgressBar.Track>
        <ProgressBar.Fill />
      </ProgressBar.Track>
    </ProgressBar>
  );
}

function Counts({ counts }: { counts: { [name: string]: number } }) {
  const { t, has } = useTranslation();
  const format = useFormat();
  const found = Object.entries(counts).filter(([, count]) => count > 0);
  if (found.length === 0) return <p className="text-muted">{t("forget.nothing")}</p>;
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-1">
      {found.map(([name, count]) => (
        <div key={name} className="flex justify-between gap-3">
          <dt className="text-muted">
            {has(`counted.${name}`) ? t(`counted.${name}` as MessageKey) : name}
          </dt>
          <dd className="number font-medium">{format.number(count)}</dd>
        </div>
      ))}
    </dl>
  );
}

function Proof({ forgotten }: { forgotten: Forgotten }) {
  const { t } = useTranslation();
  const verification = forgotten.verification;
  const hasTraces = verification !== null && verification.traces.length > 0;
  // A search for nothing proves nothing.
  const isClean = verification !== null && !hasTraces && verification.terms > 0;
  const verdict = isClean ? "forget.proved" : hasTraces ? "forget.traces" : "forget.unproved";
  const Icon = isClean ? ShieldCheck : TriangleAlert;
  return (
    <div className="space-y-4">
      <div
        className={`flex gap-3 rounded-xl p-4 ${isClean ? "bg-success-soft" : "bg-warning-soft"}`}
        role="status"
      >
        <Icon className="mt-0.5 size-5 shrink-0" aria-hidden />
        <div>
          <p className="font-medium">{t(verdict)}</p>
          {verification !== null && (
            <p className="text-muted mt-1">
              {t("forget.searched", {
                terms: verification.terms,
                places: verification.searched.length,
              })}
            </p>
          )}
        </div>
      </div>
      {verification !== null && !isClean && (
        <ul className="said list-disc space-y-0.5 ps-5">
          {verification.traces.map(({ term, place, detail }) => (
            <li key={`${term} ${place} ${detail}`}>
              {[term, place, detail].filter((part) => part !== "").join(" · ")}
            </li>
          ))}
        </ul>
      )}
      <Counts counts={forgotten.counts} />
      {verification !== null && (
        <details className="text-muted">
          <summary className="focusable cursor-pointer rounded-md">{t("forget.where")}</summary>
          <ul className="said mt-2 list-disc space-y-0.5 ps-5 text-xs">
            {verification.searched.map((place) => (
              <li key={place}>{place}</li>
            ))}
          </ul>
        </details>
      )}
      <p className="caption">
        {t("forget.receipt")} <code className="font-mono">{forgotten.forget_id}</code>
      </p>
    </div>
  );
}
