import { Button } from "@heroui/react";
import { FlaskConical, X } from "lucide-react";
import { useEffect, useState } from "react";
import { useWords } from "../../i18n/words";
import { Field } from "../../parts/Field";
import type { Trial } from "./preview";
import { words } from "./words";

/** The changes that are tried: what would be remembered, changed or gone. */
export function Trials({
  trials,
  isPast,
  onChange,
  onDrop,
  onClear,
}: {
  trials: Trial[];
  isPast: boolean;
  onChange: (key: string, text: string) => void;
  onDrop: (key: string) => void;
  onClear: () => void;
}) {
  const { w } = useWords(words);
  if (trials.length === 0) return null;
  return (
    <section aria-labelledby="trials" className="border-accent/40 bg-surface rounded-2xl border border-dashed p-4">
      <h2 id="trials" className="flex items-center gap-2 font-semibold">
        <FlaskConical className="text-accent-soft-foreground size-4" aria-hidden />
        {w("changes")}
      </h2>
      <p className="caption mt-1">{w(isPast ? "changesNow" : "changesLead")}</p>
      <ul className="mt-3 space-y-3">
        {trials.map((trial) => (
          <li key={trial.key} className="flex items-start gap-2">
            <div className="min-w-0 flex-1">
              {trial.sort === "delete" ? (
                <p className="said">
                  <span className="caption me-2">{w("change.delete")}</span>
                  <span className="line-clamp-3 line-through">{trial.before}</span>
                </p>
              ) : (
                <TrialText trial={trial} onChange={(text) => onChange(trial.key, text)} />
              )}
            </div>
            <Button
              isIconOnly
              size="sm"
              variant="ghost"
              aria-label={w("changeDrop", { name: (trial.text || trial.before).slice(0, 60) })}
              onPress={() => onDrop(trial.key)}
            >
              <X aria-hidden />
            </Button>
          </li>
        ))}
      </ul>
      {trials.length > 1 && (
        <Button size="sm" variant="ghost" className="mt-2" onPress={onClear}>
          {w("changeClear")}
        </Button>
      )}
    </section>
  );
}

/** The words of a change; tried a moment after the last key. */
function TrialText({ trial, onChange }: { trial: Trial; onChange: (text: string) => void }) {
  const { w } = useWords(words);
  const [text, setText] = useState(trial.text);
  useEffect(() => {
    if (text === trial.text) return;
    const timer = window.setTimeout(() => onChange(text), 500);
    return () => window.clearTimeout(timer);
  }, [onChange, text, trial.text]);
  return (
    <Field
      label={trial.sort === "new" ? w("changeText") : w("change.edit")}
      value={text}
      onChange={setText}
      rows={2}
      autoFocus
    />
  );
}
