import { Button } from "@heroui/react";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { ROLES, type Role } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { usePlace } from "../../lib/place";
import { Choice } from "../../parts/Choice";
import { Dialog, DialogButtons } from "../../parts/Dialog";
import { CodeExample, useAttempt } from "../../parts/feedback";
import { Field } from "../../parts/Field";

type NewKey = Schemas["NewKey"];

/** Makes a key, and shows its secret once. */
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
  const close = () => {
    setMade(null);
    setName("");
    setWhose("one");
    setUser("");
    onClose();
    // The first key closes the open door: who has none signs in.
    void queries.invalidateQueries({ queryKey: ["whoami"] });
  };
  const create = async () => {
    const created = await answer(
      api.POST("/v1/keys", {
        body: {
          name: name.trim(),
          role,
          workspaces: reach === "workspace" ? [`${place.org}/${place.workspace}`] : [],
          users: whose === "one" ? [user.trim()] : [],
          all_users: whose === "all",
        },
      }),
    );
    setMade(created);
    await queries.invalidateQueries({ queryKey: ["keys"] });
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      title={t(made === null ? "keys.new" : "keys.made")}
      lead={made === null ? undefined : t("keys.once")}
      footer={
        made === null ? (
          <DialogButtons
            onCancel={close}
            onConfirm={() => void attempt(create)}
            label={t("keys.create")}
            isDisabled={name.trim() === "" || (whose === "one" && user.trim() === "")}
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
        </div>
      )}
    </Dialog>
  );
}
