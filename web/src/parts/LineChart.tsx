import { useId, useState } from "react";
import { useFormat } from "../i18n/format";

interface Line {
  label: string;
  tone: string;
  values: (number | null)[];
}

const WIDTH = 480;
const HEIGHT = 150;
const TOP = 12;
const BOTTOM = 6;
// The first and the last point are whole circles.
const SIDE = 5;

/** Values over time as lines, with the values of one moment under the pointer. */
export function LineChart({
  times,
  lines,
  unit,
  nothing,
}: {
  times: string[];
  lines: Line[];
  unit: (value: number) => string;
  /** What is said while there is nothing to see. */
  nothing: string;
}) {
  const format = useFormat();
  const id = useId();
  const [at, setAt] = useState<number | null>(null);
  const all = lines.flatMap((line) => line.values).filter((value) => value !== null);
  const top = Math.max(...all, 0);
  const x = (place: number) =>
    times.length < 2 ? WIDTH / 2 : SIDE + (place / (times.length - 1)) * (WIDTH - 2 * SIDE);
  const y = (value: number) =>
    HEIGHT - BOTTOM - (top === 0 ? 0 : (value / top) * (HEIGHT - TOP - BOTTOM));
  const first = times[0];
  const last = times.at(-1);
  const told = lines
    .map((line) => {
      const latest = line.values.findLast((value) => value !== null);
      return `${line.label}: ${latest == null ? "–" : unit(latest)}`;
    })
    .join(", ");
  if (all.every((value) => value === 0)) {
    return (
      <p className="caption border-line mt-4 grid min-h-36 place-items-center rounded-xl border border-dashed px-6 text-center">
        {nothing}
      </p>
    );
  }
  return (
    <figure className="mt-4">
      <div className="relative">
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          className="block w-full overflow-visible"
          role="img"
          aria-labelledby={id}
          onPointerMove={(event) => {
            const box = event.currentTarget.getBoundingClientRect();
            const share = (event.clientX - box.left) / box.width;
            setAt(Math.max(0, Math.min(times.length - 1, Math.round(share * (times.length - 1)))));
          }}
          onPointerLeave={() => setAt(null)}
        >
          <title id={id}>{told}</title>
          {[0, 0.5, 1].map((share) => (
            <line
              key={share}
              x1={0}
              x2={WIDTH}
              y1={y(top * share)}
              y2={y(top * share)}
              stroke="var(--line)"
              strokeDasharray={share === 0 ? undefined : "3 4"}
            />
          ))}
          {lines.map((line) => (
            <g key={line.label}>
              <path
                d={pathOf(line.values, x, y)}
                fill="none"
                stroke={line.tone}
                strokeWidth={2}
                strokeLinejoin="round"
                strokeLinecap="round"
              />
              {line.values.map((value, place) =>
                value !== null && (at === place || isAlone(line.values, place)) ? (
                  <circle key={place} cx={x(place)} cy={y(value)} r={3.5} fill={line.tone} />
                ) : null,
              )}
            </g>
          ))}
          {at !== null && (
            <line
              x1={x(at)}
              x2={x(at)}
              y1={TOP}
              y2={HEIGHT - BOTTOM}
              stroke="var(--muted)"
              strokeWidth={0.75}
            />
          )}
        </svg>
        <div className="caption number mt-1 flex justify-between">
          <span>{first !== undefined && format.moment(first)}</span>
          <span>{last !== undefined && format.moment(last)}</span>
        </div>
        {top > 0 && (
          <span className="caption number pointer-events-none absolute start-0 top-0 bg-surface/80 pe-1">
            {unit(top)}
          </span>
        )}
      </div>
      <figcaption className="mt-2 flex min-h-5 flex-wrap gap-x-4 gap-y-1 text-xs">
        {at !== null && times[at] !== undefined && (
          <span className="caption number">{format.moment(times[at])}</span>
        )}
        {lines.map((line) => {
          const value = at === null ? undefined : line.values[at];
          return (
            <span key={line.label} className="flex items-center gap-1.5">
              <span className="size-2 rounded-full" style={{ background: line.tone }} aria-hidden />
              <span className="text-muted">{line.label}</span>
              {value != null && <span className="number font-medium">{unit(value)}</span>}
            </span>
          );
        })}
      </figcaption>
    </figure>
  );
}

function pathOf(
  values: (number | null)[],
  x: (place: number) => number,
  y: (value: number) => number,
): string {
  let path = "";
  let isDrawing = false;
  values.forEach((value, place) => {
    if (value === null) {
      isDrawing = false;
      return;
    }
    path += `${isDrawing ? "L" : "M"}${x(place).toFixed(1)} ${y(value).toFixed(1)}`;
    isDrawing = true;
  });
  return path;
}

/** Whether a point has no neighbours, so that no line shows it. */
function isAlone(values: (number | null)[], place: number): boolean {
  return (values[place - 1] ?? null) === null && (values[place + 1] ?? null) === null;
}
