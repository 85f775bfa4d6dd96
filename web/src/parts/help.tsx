import { Kbd } from "@heroui/react";
import { useEffect } from "react";
import { useTranslation, type MessageKey } from "../i18n";
import { takeLatest } from "../lib/undo";
import { Dialog } from "./Dialog";

const IS_MAC = typeof navigator !== "undefined" && /Mac|iP(hone|ad)/.test(navigator.userAgent);
/** The keys that open the palette, as this machine names them. */
export const PALETTE_KEYS = IS_MAC ? ["⌘", "K"] : ["Ctrl", "K"];
const UNDO_KEYS = IS_MAC ? ["⌘", "Z"] : ["Ctrl", "Z"];
const SEND_KEYS = IS_MAC ? ["⌘", "Enter"] : ["Ctrl", "Enter"];

const SHORTCUTS: [MessageKey, [string[], MessageKey][]][] = [
  [
    "help.everywhere",
    [
      [PALETTE_KEYS, "palette.open"],
      [["/"], "help.search"],
      [UNDO_KEYS, "help.undo"],
      [["?"], "help.help"],
      [["Esc"], "help.close"],
    ],
  ],
  [
    "nav.memory",
    [
      [["j"], "help.next"],
      [["k"], "help.previous"],
      [["Enter"], "help.open"],
      [["e"], "help.edit"],
    ],
  ],
  ["nav.prompt", [[SEND_KEYS, "help.send"]]],
  [
    "nav.people",
    [
      [["←", "→", "↑", "↓"], "help.walk"],
      [["Enter"], "help.facts"],
    ],
  ],
];

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** Put the cursor into the page's search box; tells whether it has one. */
export function focusSearch(): boolean {
  const box = document.querySelector<HTMLInputElement>("[data-search-box]");
  box?.focus();
  box?.select();
  return box !== null;
}

/** Listen for the keys that work everywhere: `/`, `?`, and ⌘Z or Ctrl-Z. */
export function useShortcuts({ onHelp, onSearch }: { onHelp: () => void; onSearch: () => void }) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.altKey || isTyping(event.target)) return;
      if (event.ctrlKey || event.metaKey) {
        if (event.key === "z" && takeLatest()) event.preventDefault();
      } else if (event.key === "?") {
        event.preventDefault();
        onHelp();
      } else if (event.key === "/") {
        event.preventDefault();
        if (!focusSearch()) onSearch();
      }
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [onHelp, onSearch]);
}

/** Listen for ⌘K or Ctrl-K, also while something is being typed. */
export function usePaletteKey(onToggle: () => void) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || event.shiftKey || event.altKey) return;
      if (!(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      onToggle();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [onToggle]);
}

/** Listen for single keys while nothing is being typed and no dialog is open. */
export function useKeys(actions: globalThis.Record<string, () => void>) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('[role="dialog"][data-modal], .modal__backdrop') !== null) return;
      const action = actions[event.key];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  });
}

export function HelpDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={t("help.title")} width="max-w-md">
      {SHORTCUTS.map(([where, keys]) => (
        <section key={where} aria-label={t(where)} className="mb-4 last:mb-0">
          <h3 className="eyebrow">{t(where)}</h3>
          <dl className="divide-line divide-y">
            {keys.map(([combination, meaning]) => (
              <div key={meaning} className="flex items-center justify-between gap-6 py-2">
                <dt className="text-muted">{t(meaning)}</dt>
                <dd className="flex gap-1">
                  {combination.map((key) => (
                    <Kbd key={key}>{key}</Kbd>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
