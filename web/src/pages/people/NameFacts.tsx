import { Button } from "@heroui/react";
import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import type { Schemas } from "../../api/client";
import { useFormat } from "../../i18n/format";
import { useWords } from "../../i18n/words";
import { usePlace } from "../../lib/place";
import type { NameGraph } from "./graph";
import { words } from "./words";

const MOST = 30;

/** What the records say of a name, and what else they tell of. */
export function NameFacts({
  graph,
  name,
  person,
  onChoose,
}: {
  graph: NameGraph;
  name: Schemas["GraphName"] | null;
  person: string;
  onChoose: (name: string | null) => void;
}) {
  const { w } = useWords(words);
  const format = useFormat();
  const place = usePlace();
  if (name === null) return <p className="text-muted max-xl:hidden">{w("choose")}</p>;
  const told = new Set(name.records);
  const facts = graph.facts.filter((fact) => told.has(fact.id));
  const others = graph.links.flatMap(({ first, second }) =>
    first === name.name ? [second] : second === name.name ? [first] : [],
  );
  return (
    <section aria-labelledby="facts" className="panel min-w-0 p-4 sm:p-5" aria-live="polite">
      <div className="flex items-start gap-2">
        <h2 id="facts" className="said min-w-0 flex-1 text-base font-semibold">
          {name.name}
        </h2>
        <Button
          isIconOnly
          size="sm"
          variant="ghost"
          aria-label={w("closeFacts")}
          onPress={() => onChoose(null)}
        >
          <X aria-hidden />
        </Button>
      </div>
      <h3 className="eyebrow mt-2">
        {w("facts")} <span className="number">{facts.length}</span>
      </h3>
      <ul className="mt-2 space-y-2.5">
        {facts.slice(0, MOST).map((fact) => (
          <li key={fact.id}>
            <Link
              to="/org/$org/ws/$workspace/memory"
              params={place}
              search={{ user: person, record: fact.id }}
              className="focusable said line-clamp-3 rounded-md underline-offset-2 hover:underline"
            >
              {fact.content}
            </Link>
            <span className="caption">{format.day(fact.at)}</span>
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <>
          <h3 className="eyebrow mt-4">{w("with")}</h3>
          <ul className="mt-2 flex flex-wrap gap-1.5">
            {others.slice(0, MOST).map((other) => (
              <li key={other}>
                <button
                  type="button"
                  className="focusable bg-default hover:bg-accent-soft said cursor-pointer rounded-full px-2.5 py-1 text-xs"
                  onClick={() => onChoose(other)}
                >
                  {other}
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
