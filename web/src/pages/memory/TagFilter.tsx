import { Button, Popover } from "@heroui/react";
import { Check, ChevronDown } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "../../i18n";
import type { Option } from "../../parts/Choice";

const SHOWN = 60;

/** Chooses tags that a record must all have; typing narrows the list, or names another one. */
export function TagFilter({
  options,
  chosen,
  onChange,
}: {
  options: Option[];
  chosen: string[];
  onChange: (tags: string[]) => void;
}) {
  const { t } = useTranslation();
  const [sought, setSought] = useState("");
  const typed = sought.trim();
  const toggle = (tag: string) =>
    onChange(chosen.includes(tag) ? chosen.filter((one) => one !== tag) : [...chosen, tag]);
  const found = options.filter(({ id }) => id.toLowerCase().includes(typed.toLowerCase()));
  const isNew = typed !== "" && options.every(({ id }) => id !== typed);
  const offered = isNew ? [...found, { id: typed, label: typed }] : found;
  return (
    <Popover
      onOpenChange={(isOpen) => {
        if (!isOpen) setSought("");
      }}
    >
      <Button
        variant="outline"
        size="sm"
        className="bg-field border-field-border text-foreground h-8 max-w-64 shrink-0 rounded-xl px-3 font-normal"
        aria-label={chosen.length === 0 ? t("filter.tag") : `${t("filter.tag")}: ${chosen.join(", ")}`}
      >
        <span className="said truncate">
          {chosen.length === 0 ? t("filter.anyTag") : chosen.join(" + ")}
        </span>
        <ChevronDown className="text-muted size-4" aria-hidden />
      </Button>
      <Popover.Content placement="bottom start" className="w-64 p-2">
        <Popover.Dialog aria-label={t("filter.tag")} className="p-0">
          <input
            type="search"
            autoFocus
            dir="auto"
            value={sought}
            aria-label={t("filter.findTag")}
            placeholder={t("filter.findTag")}
            onChange={(event) => setSought(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || offered[0] === undefined) return;
              toggle(offered[0].id);
              setSought("");
            }}
            className="border-field-border bg-field focusable mb-1 h-8 w-full rounded-lg border px-2.5"
          />
          <ul className="max-h-72 overflow-y-auto" aria-label={t("filter.tag")}>
            {offered.slice(0, SHOWN).map(({ id, label, note }) => (
              <li key={id}>
                <button
                  type="button"
                  aria-pressed={chosen.includes(id)}
                  className="focusable hover:bg-default flex w-full cursor-pointer items-center gap-2 rounded-lg px-2 py-1.5 text-start"
                  onClick={() => toggle(id)}
                >
                  <Check
                    className={`size-4 shrink-0 ${chosen.includes(id) ? "text-accent" : "invisible"}`}
                    aria-hidden
                  />
                  <span className="said min-w-0 flex-1 truncate">{label}</span>
                  {note !== undefined && <span className="caption number">{note}</span>}
                </button>
              </li>
            ))}
          </ul>
          {offered.length === 0 && <p className="caption p-2">{t("filter.noTags")}</p>}
        </Popover.Dialog>
      </Popover.Content>
    </Popover>
  );
}
