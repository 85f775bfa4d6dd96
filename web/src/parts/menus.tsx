import { Button, Dropdown, Label } from "@heroui/react";
import { useNavigate, useRouterState } from "@tanstack/react-router";
import {
  ChevronsUpDown,
  CircleUserRound,
  KeyRound,
  Languages,
  LogOut,
  Monitor,
  Moon,
  Sun,
  UsersRound,
} from "lucide-react";
import { Suspense, useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { answer, api, sendCsrfToken, type Schemas } from "../api/client";
import { useNames, useReach, useWhoAmI } from "../api/queries";
import { useTranslation, type Language } from "../i18n";
import { usePlace, useSetSearch, useWho } from "../lib/place";
import { useTheme, type Theme } from "../lib/theme";
import { DEMO, DemoOffer } from "./demo";
import { Dialog, DialogButtons } from "./Dialog";
import { Field } from "./Field";
import { lazyPart } from "./lazyPart";

const ScopeMenu = lazyPart(async () => (await import("./ScopeMenu")).ScopeMenu);

const EVERYONE = "*everyone";
const LANGUAGES: [Language, string][] = [
  ["en", "English"],
  ["zh", "简体中文"],
];
const THEMES: [Theme, typeof Sun][] = [
  ["system", Monitor],
  ["light", Sun],
  ["dark", Moon],
];

export function LanguageMenu() {
  const { t, language, chooseLanguage } = useTranslation();
  return (
    <Dropdown>
      <Button
        variant="ghost"
        size="sm"
        aria-label={`${t("menu.language")}: ${language === "zh" ? "中文" : "English"}`}
      >
        <Languages aria-hidden />
        <span className="hidden sm:inline">{language === "zh" ? "中文" : "English"}</span>
      </Button>
      <Dropdown.Popover placement="bottom end">
        <Dropdown.Menu
          aria-label={t("menu.language")}
          selectionMode="single"
          selectedKeys={[language]}
          onAction={(key) => chooseLanguage(key as Language)}
        >
          {LANGUAGES.map(([id, name]) => (
            <Dropdown.Item key={id} id={id} textValue={name}>
              <Dropdown.ItemIndicator />
              <Label lang={id}>{name}</Label>
            </Dropdown.Item>
          ))}
        </Dropdown.Menu>
      </Dropdown.Popover>
    </Dropdown>
  );
}

export function ThemeMenu() {
  const { t } = useTranslation();
  const [theme, chooseTheme] = useTheme();
  const Current = THEMES.find(([id]) => id === theme)?.[1] ?? Monitor;
  return (
    <Dropdown>
      <Button variant="ghost" size="sm" isIconOnly aria-label={t("menu.theme")}>
        <Current aria-hidden />
      </Button>
      <Dropdown.Popover placement="bottom end">
        <Dropdown.Menu
          aria-label={t("menu.theme")}
          selectionMode="single"
          selectedKeys={[theme]}
          onAction={(key) => chooseTheme(key as Theme)}
        >
          {THEMES.map(([id, Icon]) => (
            <Dropdown.Item key={id} id={id} textValue={t(`theme.${id}`)}>
              <Icon className="text-muted size-4" aria-hidden />
              <Label>{t(`theme.${id}`)}</Label>
              <Dropdown.ItemIndicator />
            </Dropdown.Item>
          ))}
        </Dropdown.Menu>
      </Dropdown.Popover>
    </Dropdown>
  );
}

/** Chooses whose memory every page shows; empty until it is known who is signed in. */
export function PersonMenu() {
  const { isOperator } = useReach();
  const me = useWhoAmI();
  if (!me.isSuccess) return null;
  return isOperator ? (
    <EverybodyMenu />
  ) : (
    <Suspense>
      <ScopeMenu />
    </Suspense>
  );
}

/** One person's memory, or everybody's, for who looks into the whole workspace. */
function EverybodyMenu() {
  const { t } = useTranslation();
  const place = usePlace();
  const { user } = useWho();
  const users = useNames(place, "users");
  const setSearch = useSetSearch();
  const choose = (name: string) =>
    setSearch({ user: name === EVERYONE ? undefined : name, record: undefined });
  const known = users.data?.items.map((entry) => entry.name) ?? [];
  const names = user !== undefined && !known.includes(user) ? [user, ...known] : known;
  return (
    <Dropdown>
      <Button
        variant="ghost"
        size="sm"
        className="max-w-[14rem] min-w-0"
        aria-label={`${t("menu.person")}: ${user ?? t("person.everyone")}`}
      >
        {user === undefined ? <UsersRound aria-hidden /> : <CircleUserRound aria-hidden />}
        <span className="said truncate">{user === undefined ? t("person.everyone") : user}</span>
        <ChevronsUpDown className="text-muted" aria-hidden />
      </Button>
      <Dropdown.Popover placement="bottom start" className="max-h-96 min-w-56">
        <Dropdown.Menu
          aria-label={t("menu.person")}
          selectionMode="single"
          selectedKeys={[user ?? EVERYONE]}
          onAction={(key) => choose(String(key))}
        >
          <Dropdown.Item id={EVERYONE} textValue={t("person.everyone")}>
            <UsersRound className="text-muted size-4" aria-hidden />
            <Label>{t("person.everyone")}</Label>
            <Dropdown.ItemIndicator />
          </Dropdown.Item>
          {names.map((name) => (
            <Dropdown.Item key={name} id={name} textValue={name}>
              <CircleUserRound className="text-muted size-4" aria-hidden />
              <Label className="said truncate">{name}</Label>
              <Dropdown.ItemIndicator />
            </Dropdown.Item>
          ))}
        </Dropdown.Menu>
      </Dropdown.Popover>
    </Dropdown>
  );
}

/** Says which key is signed in, and signs out. */
export function AccountMenu({ name, role }: { name: string; role: Schemas["WhoAmI"]["role"] }) {
  const { t } = useTranslation();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const signOut = async () => {
    await answer(api.POST("/v1/sign-out"));
    sendCsrfToken(null);
    queries.clear();
    await navigate({ to: "/sign-in" });
  };
  return (
    <Dropdown>
      <Button variant="ghost" size="sm" isIconOnly aria-label={t("menu.account")}>
        <KeyRound aria-hidden />
      </Button>
      <Dropdown.Popover placement="bottom end" className="min-w-52">
        <p className="said px-3 pt-3 pb-1 font-medium">
          {name} <span className="caption font-normal">{t(`roleName.${role}`)}</span>
        </p>
        <Dropdown.Menu aria-label={t("menu.account")} onAction={() => void signOut()}>
          <Dropdown.Item id="sign-out" textValue={t("signIn.out")}>
            <LogOut className="text-muted size-4" aria-hidden />
            <Label>{t("signIn.out")}</Label>
          </Dropdown.Item>
        </Dropdown.Menu>
      </Dropdown.Popover>
    </Dropdown>
  );
}

/** Names the workspace that is shown, and goes to another. */
export function WorkspaceMenu() {
  const { t } = useTranslation();
  const place = usePlace();
  const navigate = useNavigate();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const { isServer } = useReach();
  const [isOpen, setOpen] = useState(false);
  const [org, setOrg] = useState(place.org);
  const [workspace, setWorkspace] = useState(place.workspace);
  const open = () => {
    setOrg(place.org);
    setWorkspace(place.workspace);
    setOpen(true);
  };
  const go = () => {
    const section = path.split("/")[5] ?? "memory";
    setOpen(false);
    void navigate({
      href: `/org/${encodeURIComponent(org.trim())}/ws/${encodeURIComponent(workspace.trim())}/${section}`,
    });
  };
  const isReady = org.trim() !== "" && workspace.trim() !== "";
  return (
    <>
      <button
        type="button"
        className="focusable border-line bg-surface hover:bg-surface-secondary flex w-full cursor-pointer items-center gap-2 rounded-xl border px-3 py-2 text-start"
        onClick={open}
      >
        <span className="sr-only">{t("menu.workspace")} </span>
        <span className="min-w-0 flex-1">
          <span className="caption block truncate leading-4">{place.org}</span>
          <span className="block truncate font-medium">{place.workspace}</span>
        </span>
        <ChevronsUpDown className="text-muted size-4 shrink-0" aria-hidden />
      </button>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={t("workspace.switch")}
        lead={t("workspace.switchLead")}
        footer={
          <DialogButtons
            onCancel={() => setOpen(false)}
            onConfirm={go}
            label={t("workspace.go")}
            isDisabled={!isReady}
          />
        }
      >
        <form
          className="grid gap-4 py-1 sm:grid-cols-2"
          onSubmit={(event) => {
            event.preventDefault();
            if (isReady) go();
          }}
        >
          <Field label={t("workspace.org")} value={org} onChange={setOrg} />
          <Field label={t("workspace.name")} value={workspace} onChange={setWorkspace} autoFocus />
          <button type="submit" className="hidden" aria-hidden tabIndex={-1} />
        </form>
        {isServer && place.workspace !== DEMO && (
          <div className="pt-4">
            <DemoOffer onGo={() => setOpen(false)} />
          </div>
        )}
      </Dialog>
    </>
  );
}
