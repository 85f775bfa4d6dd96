import { Check } from "lucide-react";
import { useState } from "react";
import type { Option } from "./Choice";

const SHOWN = 100;

/** Options that typing narrows; what is typed can be one too. */
export function SearchList({
  label,
  placeholder,
  nothing,
  options,
  chosen,
  isMany = false,
  typedOption,
  onToggle,
}: {
  label: string;
  placeholder: string;
  nothing: string;
  options: Option[];
  chosen: readonly string[];
  /** Whether several can be chosen. */
  isMany?: boolean;
  /** The option that what is typed stands for, if it is a new one. */
  typedOption?: (typed: string) => Option | null;
  onToggle: (id: string) => void;
}) {
  const [sought, setSought] = useState("");
  const typed = sought.trim();
  const found = options.filter((one) => one.label.toLowerCase().includes(typed.toLowerCase()));
  const fresh = typed === "" ? null : (typedOption?.(typed) ?? null);
  const isKnown = fresh === null || options.some(({ id }) => id === fresh.id);
  const offered = isKnown ? found : [...found, fresh];
  const toggle = (id: string) => {
    onToggle(id);
    setSought("");
  };
  return (
    <>
      <input
        type="search"
        autoFocus
        dir="auto"
        value={sought}
        aria-label={placeholder}
        placeholder={placeholder}
        onChange={(event) => setSought(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
          event.preventDefault();
          if (offered[0] !== undefined) toggle(offered[0].id);
        }}
        className="border-field-border bg-field focusable mb-1 h-9 w-full rounded-lg border px-2.5"
      />
      <ul className="max-h-80 overflow-y-auto" aria-label={label}>
        {offered.slice(0, SHOWN).map(({ id, label: name, note }) => (
          <li key={id}>
            <button
              type="button"
              aria-pressed={isMany ? chosen.includes(id) : undefined}
              aria-current={!isMany && chosen.includes(id) ? "true" : undefined}
              className="focusable hover:bg-default flex w-full cursor-pointer items-center gap-2 rounded-lg px-2 py-1.5 text-start -outline-offset-2"
              onClick={() => toggle(id)}
            >
              <Check
                className={`size-4 shrink-0 ${chosen.includes(id) ? "text-accent" : "invisible"}`}
                aria-hidden
              />
              <span className="said min-w-0 flex-1 truncate">{name}</span>
              {note !== undefined && <span className="caption number shrink-0">{note}</span>}
            </button>
          </li>
        ))}
      </ul>
      {offered.length === 0 && <p className="caption p-2">{nothing}</p>}
    </>
  );
}
