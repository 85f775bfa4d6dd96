import { Button } from "@heroui/react";
import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { BookOpen, Keyboard, Menu, Search, X } from "lucide-react";
import { lazy, useCallback, useEffect, useRef, useState } from "react";
import { useOpenProposalCount, useReach, useWhoAmI } from "../api/queries";
import { useTranslation } from "../i18n";
import { useOnChange } from "../lib/changed";
import { usePlace, useWho } from "../lib/place";
import { useLiveChanges } from "../api/live";
import { ConnectionBanner } from "./ConnectionBanner";
import { focusSearch, HelpDialog, PALETTE_KEYS, usePaletteKey, useShortcuts } from "./help";
import { AccountMenu, LanguageMenu, PersonMenu, ThemeMenu, WorkspaceMenu } from "./menus";
import { Trouble } from "./feedback";
import { OnDemand } from "./OnDemand";
import { SECTIONS } from "./sections";
import { ApiProblem } from "../api/client";
import { useReady } from "../lib/ready";
import { loadDialogs } from "./Dialog";

const Palette = lazy(() => import("./palette/Palette"));

/** What surrounds every page of a workspace: navigation, switches and live updates. */
export function Shell() {
  const { t } = useTranslation();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const showHelp = useCallback(() => setHelpOpen(true), []);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const main = useRef<HTMLElement>(null);
  const navigate = useNavigate();
  const place = usePlace();
  const who = useWho();
  const me = useWhoAmI();
  const isReady = useReady();
  const isLive = useLiveChanges(me.isSuccess && isReady, useReach());
  useEffect(() => {
    if (isReady) void loadDialogs();
  }, [isReady]);
  const search = async () => {
    await navigate({ to: "/org/$org/ws/$workspace/memory", params: place, search: who });
    // The page is there with the next frame.
    requestAnimationFrame(() => requestAnimationFrame(focusSearch));
  };
  useShortcuts({ onHelp: showHelp, onSearch: () => void search() });
  usePaletteKey(() => setPaletteOpen((isOpen) => !isOpen && me.isSuccess));
  useOnChange([path], () => setMenuOpen(false));
  useEffect(() => {
    if (!isMenuOpen) return;
    const closeOnEscape = (event: KeyboardEvent) => event.key === "Escape" && setMenuOpen(false);
    window.addEventListener("keydown", closeOnEscape);
    return () => window.removeEventListener("keydown", closeOnEscape);
  }, [isMenuOpen]);

  return (
    <div className="bg-background flex h-dvh">
      <a
        href="#content"
        className="bg-accent text-accent-foreground sr-only z-50 rounded-lg px-4 py-2 font-medium focus:not-sr-only focus:absolute focus:top-3 focus:left-3"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {t("nav.skip")}
      </a>
      {isMenuOpen && (
        <div
          className="fixed inset-0 z-30 bg-black/40 lg:hidden"
          aria-hidden
          onClick={() => setMenuOpen(false)}
        />
      )}
      <aside
        className={`border-line bg-canvas fixed inset-y-0 start-0 z-40 w-64 flex-col border-e lg:static lg:flex lg:w-60 ${isMenuOpen ? "flex" : "hidden"}`}
      >
        <div className="flex h-16 items-center justify-between px-5">
          <Link to="/" className="focusable flex items-center gap-2.5 rounded-md">
            <img src="/favicon.svg" alt="" className="size-7" />
            <span className="text-[15px] font-semibold tracking-tight">Recollect</span>
          </Link>
          <Button
            isIconOnly
            size="sm"
            variant="ghost"
            className="lg:hidden"
            aria-label={t("action.close")}
            onPress={() => setMenuOpen(false)}
          >
            <X aria-hidden />
          </Button>
        </div>
        <div className="px-3 pb-2">
          <WorkspaceMenu />
        </div>
        <Navigation onFollow={() => setMenuOpen(false)} />
        <div className="border-line mt-auto space-y-0.5 border-t p-3">
          <a
            href="/docs"
            className="focusable text-muted hover:bg-default hover:text-foreground flex items-center gap-3 rounded-lg px-3 py-2"
          >
            <BookOpen className="size-4" aria-hidden />
            {t("nav.docs")}
          </a>
          <button
            type="button"
            className="focusable text-muted hover:bg-default hover:text-foreground flex w-full cursor-pointer items-center gap-3 rounded-lg px-3 py-2"
            onClick={showHelp}
          >
            <Keyboard className="size-4" aria-hidden />
            {t("nav.keyboard")}
          </button>
        </div>
      </aside>
      <div className="flex min-w-0 flex-1 flex-col">
        <header className="border-line bg-background/90 z-20 flex h-14 shrink-0 items-center gap-1 border-b px-3 backdrop-blur sm:px-6">
          <Button
            isIconOnly
            variant="ghost"
            className="lg:hidden"
            aria-label={t("nav.open")}
            onPress={() => setMenuOpen(true)}
          >
            <Menu aria-hidden />
          </Button>
          <PersonMenu />
          <span className="flex-1" />
          <button
            type="button"
            aria-label={t("palette.open")}
            aria-keyshortcuts="Control+K Meta+K"
            className="focusable text-muted hover:bg-default hover:text-foreground me-1 flex h-8 cursor-pointer items-center gap-2 rounded-lg px-2.5 md:border md:border-line"
            onClick={() => setPaletteOpen(true)}
          >
            <Search className="size-4" aria-hidden />
            <span className="caption hidden md:inline" aria-hidden>
              {PALETTE_KEYS.join(" ")}
            </span>
          </button>
          <span
            className="caption me-2 hidden items-center gap-1.5 sm:flex"
            role="status"
            data-live={isLive}
          >
            <span
              className={`size-2 rounded-full ${isLive ? "bg-success" : "bg-warning"}`}
              aria-hidden
            />
            {t(isLive ? "live.on" : "live.off")}
          </span>
          <LanguageMenu />
          <ThemeMenu />
          {me.data !== undefined && me.data.means !== "open" && (
            <AccountMenu name={me.data.name} role={me.data.role} />
          )}
        </header>
        <ConnectionBanner />
        <main
          ref={main}
          id="content"
          tabIndex={-1}
          className="min-h-0 flex-1 overflow-y-auto outline-none"
        >
          {me.isSuccess ? (
            <Outlet />
          ) : (
            me.isError &&
            !(me.error instanceof ApiProblem && me.error.status === 401) && (
              <div className="mx-auto max-w-xl p-8">
                <Trouble error={me.error} retry={() => void me.refetch()} />
              </div>
            )
          )}
        </main>
      </div>
      <OnDemand isWanted={isPaletteOpen}>
        <Palette
          isOpen={isPaletteOpen}
          onClose={() => setPaletteOpen(false)}
          onHelp={showHelp}
        />
      </OnDemand>
      <HelpDialog isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
    </div>
  );
}

function Navigation({ onFollow }: { onFollow: () => void }) {
  const { t } = useTranslation();
  const place = usePlace();
  const who = useWho();
  const proposals = useOpenProposalCount(place);
  const { isServer } = useReach();
  const sections = SECTIONS.filter((section) => isServer || !("isServer" in section));
  return (
    <nav aria-label={t("nav.label")} className="flex-1 space-y-0.5 overflow-y-auto px-3 py-2">
      {sections.map(({ to, label, icon: Icon }) => (
        <Link
          key={to}
          to={to}
          params={place}
          search={who}
          activeOptions={{ includeSearch: false }}
          onClick={onFollow}
          className="focusable text-muted hover:bg-default hover:text-foreground aria-[current=page]:bg-accent-soft aria-[current=page]:text-accent-soft-foreground flex items-center gap-3 rounded-lg px-3 py-2 font-medium transition-colors"
        >
          <Icon className="size-4 shrink-0" strokeWidth={2} aria-hidden />
          <span className="flex-1">{t(label)}</span>
          {label === "nav.approvals" && proposals > 0 && (
            <span className="bg-accent text-accent-foreground number rounded-full px-1.5 text-[11px] leading-[18px] font-semibold">
              {proposals}
              <span className="sr-only"> {t("approvals.waiting")}</span>
            </span>
          )}
        </Link>
      ))}
    </nav>
  );
}
