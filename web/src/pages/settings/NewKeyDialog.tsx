import { Button } from "@heroui/react";
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { answer, api, holdSignOut, sendCsrfToken, type Schemas } from "../../api/client";
import { ROLES, useWhoAmI, type Role } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { usePlace } from "../../lib/place";
import { Choice } from "../../parts/Choice";
import { Dialog, DialogButtons } from "../../parts/Dialog";
import { CodeExample, useAttempt } from "../../parts/feedback";
import { Field } from "../../parts/Field";

type NewKey = Schemas["NewKey"];

/**
 * Makes a key, and shows its secret once. The first one closes the server to all who have none: it
 * is an administrator's, and whoever makes it is signed in with it before anything else is asked.
 */
export function NewKeyDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const place = usePlace();
  const queries = useQueryClient();
  const { attempt } = useAttempt();
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("writer");
  const [reach, setReach] = useState("server");
  const [whose, setWhose] = useState("one");
  const [user, setUser] = useState("");
  const [made, setMade] = useState<NewKey | null>(null);
  const isFirst = useWhoAmI().data?.means === "open";
  const leaveSignOut = useRef<() => void>(undefined);
  const close = () => {
    leaveSignOut.current?.();
    setMade(null);
    setName("");
    setWhose("one");
    setUser("");
    onClose();
    void queries.invalidateQueries({ queryKey: ["whoami"] });
  };
  const wanted = isFirst
    ? { name: name.trim(), role: "admin" as const, workspaces: [], users: [], all_users: true }
    : {
        name: name.trim(),
        role,
        workspaces: reach === "workspace" ? [`${place.org}/${place.workspace}`] : [],
        users: whose === "one" ? [user.trim()] : [],
        all_users: whose === "all",
      };
  const create = async () => {
    // Until the secret is kept, nothing leads away from it.
    leaveSignOut.current = holdSignOut();
    try {
      const created = await answer(api.POST("/v1/keys", { body: wanted }));
      setMade(created);
      if (isFirst) {
        const me = await answer(api.POST("/v1/sign-in", { body: { key: created.secret } }));
        sendCsrfToken(me.csrf_token);
        queries.setQueryData(["whoami"], me);
      }
      await queries.invalidateQueries();
    } catch (problem) {
      leaveSignOut.current();
      throw problem;
    }
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      isFirm={made !== null}
      title={t(made === null ? "keys.new" : "keys.made")}
      lead={made !== null ? t("keys.once") : isFirst ? t("keys.firstLead") : undefined}
      footer={
        made === null ? (
          <DialogButtons
            onCancel={close}
            onConfirm={() => void attempt(create)}
            label={t("keys.create")}
            isDisabled={
              name.trim() === "" || (!isFirst && whose === "one" && user.trim() === "")
            }
          />
        ) : (
          <Button onPress={close}>{t("keys.kept")}</Button>
        )
      }
    >
      {made !== null ? (
        <>
          <CodeExample text={made.secret} />
          <p className="pt-3">
            {made.key.users.length === 0
              ? t("keys.coversAll", { count: made.users_covered })
              : t("keys.coversOne", { name: made.key.users.join(", ") })}
          </p>
        </>
      ) : (
        <div className="grid gap-4 py-1 sm:grid-cols-2">
          <Field label={t("keys.name")} value={name} onChange={setName} autoFocus isRequired />
          {!isFirst && (
            <>
              <Choice
                label={t("keys.role")}
                value={role}
                options={ROLES.map((id) => ({ id, label: t(`roleName.${id}`) }))}
                onChange={setRole}
              />
              <Choice
                label={t("keys.reach")}
                value={reach}
                options={[
                  { id: "server", label: t("keys.everywhere") },
                  { id: "workspace", label: `${place.org}/${place.workspace}` },
                ]}
                onChange={setReach}
              />
              <Choice
                label={t("keys.whose")}
                value={whose}
                options={[
                  { id: "one", label: t("keys.oneUser") },
                  { id: "all", label: t("keys.allUsers") },
                ]}
                onChange={setWhose}
              />
              {whose === "one" && (
                <Field label={t("keys.user")} value={user} onChange={setUser} isRequired />
              )}
            </>
          )}
        </div>
      )}
    </Dialog>
  );
}
