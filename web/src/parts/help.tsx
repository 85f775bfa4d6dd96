import { Kbd } from "@heroui/react";
import { useEffect } from "react";
import { useTranslation, type MessageKey } from "../i18n";
import { Dialog } from "./Dialog";

const SHORTCUTS: [string[], MessageKey][] = [
  [["/"], "help.search"],
  [["?"], "help.help"],
  [["j"], "help.next"],
  [["k"], "help.previous"],
  [["Enter"], "help.open"],
  [["e"], "help.edit"],
  [["Esc"], "help.close"],
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

/** Listen for the keys that work everywhere: `/` and `?`. */
export function useShortcuts({ onHelp, onSearch }: { onHelp: () => void; onSearch: () => void }) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === "?") {
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
      <dl className="divide-line divide-y">
        {SHORTCUTS.map(([keys, meaning]) => (
          <div key={meaning} className="flex items-center justify-between gap-6 py-2.5">
            <dt className="text-muted">{t(meaning)}</dt>
            <dd className="flex gap-1">
              {keys.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
