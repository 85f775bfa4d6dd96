import { Button, toast } from "@heroui/react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { answer, api, type Schemas } from "../../api/client";
import { useWhoAmI } from "../../api/queries";
import { useTranslation } from "../../i18n";
import { useFormat } from "../../i18n/format";
import { useCommand } from "../../lib/commands";
import { Dialog, DialogButtons } from "../../parts/Dialog";
import { CardSkeletons, EmptyState, Loaded, useAttempt } from "../../parts/feedback";
import { NewKeyDialog } from "./NewKeyDialog";

type Key = Schemas["Key"];

/** Who may get in: list keys, make one, take one back. */
export function Keys() {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const { attempt } = useAttempt();
  const me = useWhoAmI();
  const [isAdding, setAdding] = useState(false);
  useCommand("newKey", () => setAdding(true));
  const [revoked, setRevoked] = useState<Key | null>(null);
  const found = useQuery({
    queryKey: ["keys"],
    queryFn: () => answer(api.GET("/v1/keys", { params: { query: { limit: 100 } } })),
  });
  const revoke = async (key: Key) => {
    await answer(api.DELETE("/v1/keys/{key_id}", { params: { path: { key_id: key.id } } }));
    await queries.invalidateQueries({ queryKey: ["keys"] });
    toast.success(t("keys.revoked", { name: key.name }));
  };
  return (
    <section aria-labelledby="keys">
      <div className="mb-3 flex items-end justify-between gap-4">
        <div>
          <h2 id="keys" className="text-base font-semibold">
            {t("keys.title")}
          </h2>
          <p className="text-muted">
            {t(me.data?.means === "open" ? "keys.openLead" : "keys.lead")}
          </p>
        </div>
        <Button variant="secondary" onPress={() => setAdding(true)}>
          <Plus aria-hidden />
          {t("keys.new")}
        </Button>
      </div>
      <Loaded query={found} waiting={<CardSkeletons count={1} />}>
        {({ items }) =>
          items.length === 0 ? (
            <div className="panel">
              <EmptyState icon={KeyRound} title={t("keys.none")}>
                {t("keys.noneLead")}
              </EmptyState>
            </div>
          ) : (
            <ul className="panel divide-line divide-y">
              {items.map((key) => (
                <KeyRow key={key.id} value={key} onRevoke={() => setRevoked(key)} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <NewKeyDialog isOpen={isAdding} onClose={() => setAdding(false)} />
      <Dialog
        isOpen={revoked !== null}
        onClose={() => setRevoked(null)}
        title={t("keys.revokeTitle", { name: revoked?.name ?? "" })}
        lead={t("keys.revokeLead")}
        footer={
          <DialogButtons
            onCancel={() => setRevoked(null)}
            onConfirm={() => {
              setRevoked(null);
              if (revoked !== null) void attempt(() => revoke(revoked));
            }}
            label={t("keys.revoke")}
            isDanger
          />
        }
      />
    </section>
  );
}

function KeyRow({ value: key, onRevoke }: { value: Key; onRevoke: () => void }) {
  const { t } = useTranslation();
  const format = useFormat();
  return (
    <li className="flex flex-wrap items-center gap-x-5 gap-y-1 px-5 py-3.5">
      <span className="min-w-0 flex-1 basis-48">
        <span className="said block font-medium">
          {key.name}{" "}
          <span className="bg-default ms-1 rounded-full px-2 py-0.5 text-xs font-medium">
            {t(`roleName.${key.role}`)}
          </span>
        </span>
        <span className="caption font-mono">{key.prefix}…</span>
      </span>
      <span className="caption said">
        {[
          ...(key.workspaces.length === 0 ? [t("keys.everywhere")] : key.workspaces),
          ...(key.users.length === 0 ? [t("keys.allUsers")] : key.users),
          ...key.agents,
        ].join(", ")}
      </span>
      <span className="caption">
        {key.last_used_at === null
          ? t("keys.unused")
          : t("keys.used", { when: format.age(key.last_used_at) })}
      </span>
      {key.revoked_at === null ? (
        <Button size="sm" variant="danger-soft" onPress={onRevoke}>
          {t("keys.revoke")}
        </Button>
      ) : (
        <span className="caption">{t("keys.isRevoked")}</span>
      )}
    </li>
  );
}
