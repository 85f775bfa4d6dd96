import { useMemo } from "react";
import { useWords } from "../../i18n/words";
import { Budget } from "./Outcome";
import { plain, type Preview } from "./preview";
import { words } from "./words";

interface Side {
  label: string;
  preview: Preview;
}

/** Two blocks side by side: what they cost, and the lines that only one of them has. */
export function Comparison({ first, second }: { first: Side; second: Side }) {
  const { w } = useWords(words);
  const [before, after] = [first.preview.context.text, second.preview.context.text];
  const { shared, mine, theirs } = useMemo(() => difference(before, after), [before, after]);
  return (
    <div className="space-y-5">
      <p className="caption">{w("pinned")}</p>
      <div className="grid gap-5 xl:grid-cols-2">
        {[first, second].map((side, place) => (
          <div key={place} className="min-w-0 space-y-4">
            <Budget preview={side.preview} title={w(place === 0 ? "first" : "second")} />
            <p className="said caption">{side.label}</p>
          </div>
        ))}
      </div>
      {mine.length + theirs.length === 0 ? (
        <p className="font-medium">{w("same")}</p>
      ) : (
        <>
          <div className="grid items-start gap-5 xl:grid-cols-2">
            <Lines title={w("onlyFirst")} lines={mine} sign="−" look="bg-danger-soft" />
            <Lines title={w("onlySecond")} lines={theirs} sign="+" look="bg-procedural-soft" />
          </div>
          <p className="caption">{w("sameLines", { count: shared })}</p>
        </>
      )}
    </div>
  );
}

function Lines({
  title,
  lines,
  sign,
  look,
}: {
  title: string;
  lines: string[];
  sign: string;
  look: string;
}) {
  return (
    <section className="panel min-w-0 p-4">
      <h2 className="font-semibold">
        {title} <span className="caption number font-normal">{lines.length}</span>
      </h2>
      <ul className="mt-2 space-y-1">
        {lines.map((line, place) => (
          <li key={place} className={`said rounded-lg px-2.5 py-1.5 ${look}`} dir="auto">
            <span aria-hidden className="text-muted me-2 font-mono">
              {sign}
            </span>
            {plain(line)}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Return how many lines both texts have, and those that only one has. */
export function difference(first: string, second: string) {
  const linesOf = (text: string) =>
    text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  const [before, after] = [linesOf(first), linesOf(second)];
  const [had, has] = [new Set(before), new Set(after)];
  return {
    shared: before.filter((line) => has.has(line)).length,
    mine: before.filter((line) => !has.has(line)),
    theirs: after.filter((line) => !had.has(line)),
  };
}
