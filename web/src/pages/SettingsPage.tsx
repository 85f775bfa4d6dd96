import { Button, toast } from "@heroui/react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import { useMemo, useState } from "react";
import { answer, api, type Schemas } from "../api/client";
import { useReach, useWhoAmI } from "../api/queries";
import { useTranslation, type Language, type MessageKey } from "../i18n";
import { useFormat } from "../lib/format";
import { usePlace } from "../lib/place";
import { useTheme, type Theme } from "../lib/theme";
import { Choice } from "../parts/Choice";
import { Dialog } from "../parts/Dialog";
import { CardSkeletons, CodeExample, EmptyState, Trouble, useTellTrouble } from "../parts/feedback";
import { Field } from "../parts/Field";
import { Page } from "../parts/Page";

type Setting = Schemas["Setting"];
type Key = Schemas["Key"];
type NewKey = Schemas["NewKey"];

const ROLES = ["reader", "writer", "coordinator", "admin"] as const;

/** How the console looks, who may get in, and which settings the server runs with. */
export function SettingsPage() {
  const { t } = useTranslation();
  const reach = useReach();
  return (
    <Page title={t("nav.settings")} lead={t("settings.lead")}>
      <div className="space-y-10">
        <Appearance />
        {reach.isOperator && <Keys />}
        {reach.isServer && <Effective />}
        {!reach.isServer && <p className="text-muted">{t("reach.settings")}</p>}
      </div>
    </Page>
  );
}

function Appearance() {
  const { t, language, chooseLanguage } = useTranslation();
  const [theme, chooseTheme] = useTheme();
  return (
    <section aria-labelledby="appearance">
      <h2 id="appearance" className="mb-3 text-base font-semibold">
        {t("settings.appearance")}
      </h2>
      <div className="panel grid gap-5 p-5 sm:grid-cols-2">
        <Choice
          label={t("menu.language")}
          value={language}
          options={[
            { id: "en", label: "English" },
            { id: "zh", label: "简体中文" },
          ]}
          onChange={(id) => chooseLanguage(id as Language)}
        />
        <Choice
          label={t("menu.theme")}
          value={theme}
          options={(["system", "light", "dark"] as const).map((id) => ({ id, label: t(`theme.${id}`) }))}
          onChange={(id) => chooseTheme(id as Theme)}
        />
      </div>
    </section>
  );
}

function Keys() {
  const { t } = useTranslation();
  const format = useFormat();
  const queries = useQueryClient();
  const tellTrouble = useTellTrouble();
  const me = useWhoAmI();
  const [isAdding, setAdding] = useState(false);
  const [revoked, setRevoked] = useState<Key | null>(null);
  const found = useQuery({
    queryKey: ["keys"],
    queryFn: () => answer(api.GET("/v1/keys", { params: { query: { limit: 100 } } })),
  });
  const revoke = async (key: Key) => {
    setRevoked(null);
    try {
      await answer(api.DELETE("/v1/keys/{key_id}", { params: { path: { key_id: key.id } } }));
      await queries.invalidateQueries({ queryKey: ["keys"] });
      toast.success(t("keys.revoked", { name: key.name }));
    } catch (error) {
      tellTrouble(error);
    }
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
      {found.isError ? (
        <Trouble error={found.error} retry={() => void found.refetch()} />
      ) : found.data === undefined ? (
        <CardSkeletons count={1} />
      ) : found.data.items.length === 0 ? (
        <div className="panel">
          <EmptyState icon={KeyRound} title={t("keys.none")}>
            {t("keys.noneLead")}
          </EmptyState>
        </div>
      ) : (
        <ul className="panel divide-line divide-y">
          {found.data.items.map((key) => (
            <li key={key.id} className="flex flex-wrap items-center gap-x-5 gap-y-1 px-5 py-3.5">
              <span className="min-w-0 flex-1 basis-48">
                <span className="said block font-medium">
                  {key.name}{" "}
                  <span className="bg-default ms-1 rounded-full px-2 py-0.5 text-xs font-medium">
                    {t(`roleName.${key.role}` as MessageKey)}
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
                <Button size="sm" variant="danger-soft" onPress={() => setRevoked(key)}>
                  {t("keys.revoke")}
                </Button>
              ) : (
                <span className="caption">{t("keys.isRevoked")}</span>
              )}
            </li>
          ))}
        </ul>
      )}
      <NewKeyDialog isOpen={isAdding} onClose={() => setAdding(false)} />
      <Dialog
        isOpen={revoked !== null}
        onClose={() => setRevoked(null)}
        title={t("keys.revokeTitle", { name: revoked?.name ?? "" })}
        lead={t("keys.revokeLead")}
        footer={
          <>
            <Button variant="tertiary" onPress={() => setRevoked(null)}>
              {t("action.cancel")}
            </Button>
            <Button variant="danger" onPress={() => revoked !== null && void revoke(revoked)}>
              {t("keys.revoke")}
            </Button>
          </>
        }
      />
    </section>
  );
}

function NewKeyDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const place = usePlace();
  const queries = useQueryClient();
  const tellTrouble = useTellTrouble();
  const [name, setName] = useState("");
  const [role, setRole] = useState("writer");
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
    try {
      const created = await answer(
        api.POST("/v1/keys", {
          body: {
            name: name.trim(),
            role: role as "writer",
            workspaces: reach === "workspace" ? [`${place.org}/${place.workspace}`] : [],
            users: whose === "one" ? [user.trim()] : [],
            all_users: whose === "all",
          },
        }),
      );
      setMade(created);
      await queries.invalidateQueries({ queryKey: ["keys"] });
    } catch (error) {
      tellTrouble(error);
    }
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      title={t(made === null ? "keys.new" : "keys.made")}
      lead={made === null ? undefined : t("keys.once")}
      footer={
        made === null ? (
          <>
            <Button variant="tertiary" onPress={close}>
              {t("action.cancel")}
            </Button>
            <Button
              isDisabled={name.trim() === "" || (whose === "one" && user.trim() === "")}
              onPress={() => void create()}
            >
              {t("keys.create")}
            </Button>
          </>
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

function Effective() {
  const { t } = useTranslation();
  const [wanted, setWanted] = useState("");
  const found = useQuery({ queryKey: ["settings"], queryFn: () => answer(api.GET("/v1/settings")) });
  const groups = useMemo(() => {
    const sections = new Map<string, Setting[]>();
    for (const setting of found.data?.items ?? []) {
      if (!setting.name.toLowerCase().includes(wanted.trim().toLowerCase())) continue;
      const section = setting.name.includes(".") ? (setting.name.split(".")[0] ?? "") : "";
      sections.set(section, [...(sections.get(section) ?? []), setting]);
    }
    return [...sections];
  }, [found.data, wanted]);
  return (
    <section aria-labelledby="effective">
      <div className="mb-3 flex flex-wrap items-end justify-between gap-4">
        <div className="min-w-0">
          <h2 id="effective" className="text-base font-semibold">
            {t("settings.effective")}
          </h2>
          <p className="text-muted">{t("settings.effectiveLead")}</p>
          {found.data !== undefined && (
            <p className="caption said font-mono">{found.data.file}</p>
          )}
        </div>
        <div className="w-full sm:w-56">
          <Field label={t("settings.find")} value={wanted} onChange={setWanted} />
        </div>
      </div>
      {found.isError ? (
        <Trouble error={found.error} retry={() => void found.refetch()} />
      ) : found.data === undefined ? (
        <CardSkeletons count={3} />
      ) : (
        <div className="space-y-4">
          {groups.map(([section, settings]) => (
            <div key={section} className="panel overflow-hidden">
              {section !== "" && (
                <h3 className="bg-canvas border-line border-b px-5 py-2 font-mono text-xs font-medium">
                  {section}
                </h3>
              )}
              <dl className="divide-line divide-y">
                {settings.map((setting) => (
                  <div key={setting.name} className="grid gap-x-6 gap-y-1 px-5 py-3 sm:grid-cols-[1fr_1fr]">
                    <dt className="min-w-0">
                      <span className="said font-mono text-[13px]">{setting.name}</span>
                      <span className="caption said block">{setting.description}</span>
                    </dt>
                    <dd className="min-w-0 sm:text-end">
                      <code className="said font-mono text-[13px]">{shown(setting.value)}</code>
                      <span className="caption block">
                        {t(`origin.${setting.origin}` as MessageKey)}
                        {setting.origin === "environment" && ` ${setting.variable}`}
                      </span>
                    </dd>
                  </div>
                ))}
              </dl>
            </div>
          ))}
        </div>
      )}
    </section>
  );
}

function shown(value: unknown): string {
  if (value === null || value === "") return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}
