import { useState } from "react";
import { useWords } from "../../i18n/words";
import { Field } from "../../parts/Field";
import type { NameGraph } from "./graph";
import { words } from "./words";

/** The same names as a list, those that most records tell of first. */
export function NameList({
  graph,
  chosen,
  onChoose,
}: {
  graph: NameGraph;
  chosen: string | null;
  onChoose: (name: string) => void;
}) {
  const { w } = useWords(words);
  const [sought, setSought] = useState("");
  const shown = graph.names.filter(({ name }) =>
    name.toLowerCase().includes(sought.trim().toLowerCase()),
  );
  return (
    <div className="min-w-0">
      {graph.names.length > 12 && (
        <Field
          className="mb-3 max-w-sm"
          label={w("findName")}
          value={sought}
          onChange={setSought}
        />
      )}
      <ul className="panel divide-line max-h-[36rem] divide-y overflow-y-auto">
        {shown.map(({ name, sort, records }) => (
          <li key={name}>
            <button
              type="button"
              aria-pressed={name === chosen}
              className="hover:bg-default/60 aria-pressed:bg-accent-soft focus-visible:outline-focus flex w-full cursor-pointer items-center gap-3 px-4 py-2.5 text-start outline-none focus-visible:outline-2 focus-visible:-outline-offset-2"
              onClick={() => onChoose(name)}
            >
              <span
                className={`size-2.5 shrink-0 rounded-full ${sort === "person" ? "bg-episodic" : "bg-semantic"}`}
                aria-hidden
              />
              <span className="said min-w-0 flex-1">{name}</span>
              <span className="caption">{w(sort)}</span>
              <span className="caption number w-20 text-end">
                {w("entries", { count: records.length })}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
