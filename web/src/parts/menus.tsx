import { Button, Dropdown, Label } from "@heroui/react";
import { useNavigate, useRouterState } from "@tanstack/react-router";
import {
  ChevronsUpDown,
  KeyRound,
  Languages,
  LogOut,
  Monitor,
  Moon,
  Sun,
} from "lucide-react";
import { Suspense, useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { answer, api, sendCsrfToken, type Schemas } from "../api/client";
import { useReach, useWhoAmI } from "../api/queries";
import { useTranslation, type Language } from "../i18n";
import { usePlace } from "../lib/place";
import { useTheme, type Theme } from "../lib/theme";
import { DEMO, DemoOffer } from "./demo";
import { Dialog } from "./Dialog";
import { lazyPart } from "./lazyPart";

const PersonPicker = lazyPart(async () => (await import("./PersonPicker")).PersonPicker);
const WorkspaceList = lazyPart(async () => (await import("./WorkspaceList")).WorkspaceList);
const ScopeMenu = lazyPart(async () => (await import("./ScopeMenu")).ScopeMenu);

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
  return <Suspense>{isOperator ? <PersonPicker /> : <ScopeMenu />}</Suspense>;
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
  const go = (org: string, workspace: string) => {
    const section = path.split("/")[5] ?? "memory";
    setOpen(false);
    void navigate({
      href: `/org/${encodeURIComponent(org)}/ws/${encodeURIComponent(workspace)}/${section}`,
    });
  };
  return (
    <>
      <button
        type="button"
        className="focusable border-line bg-surface hover:bg-surface-secondary flex w-full cursor-pointer items-center gap-2 rounded-xl border px-3 py-2 text-start"
        onClick={() => setOpen(true)}
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
      >
        <Suspense>
          <WorkspaceList onGo={go} />
        </Suspense>
        {isServer && place.workspace !== DEMO && (
          <div className="pt-4">
            <DemoOffer onGo={() => setOpen(false)} />
          </div>
        )}
      </Dialog>
    </>
  );
}
