import { useEffect, useMemo, useRef, useState } from "react";
import { useWords } from "../../i18n/words";
import { labelled, nextTo, placed, widthOf } from "../../lib/layout";
import type { NameGraph } from "./graph";
import { words } from "./words";

const CENTRE = 26;
// A name with more links than these is drawn with faint ones, until it is looked at.
const MOST_DRAWN = 30;

/** The names around the person, linked where the same records tell of both. */
export function NamePicture({
  graph,
  person,
  chosen,
  onChoose,
}: {
  graph: NameGraph;
  person: string;
  chosen: string | null;
  onChoose: (name: string | null) => void;
}) {
  const { w } = useWords(words);
  const box = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 900, height: 600 });
  const [active, setActive] = useState(0);
  const [hovered, setHovered] = useState<string | null>(null);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const watch = new ResizeObserver(([entry]) => {
      if (entry === undefined) return;
      const width = Math.max(300, Math.round(entry.contentRect.width));
      setSize({ width, height: Math.round(Math.min(720, Math.max(420, width * 0.66))) });
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const { width, height } = size;

  const nodes = useMemo(
    () =>
      placed(
        graph.names.map(({ name, records }) => ({ id: name, weight: records.length })),
        graph.links.map(({ first, second, records }) => ({
          first,
          second,
          weight: records.length,
        })),
        width,
        height,
      ),
    [graph, width, height],
  );
  const labels = useMemo(() => {
    const half = Math.max(CENTRE, widthOf(person) / 2 + 8);
    const middle = { left: -half, right: half, top: -CENTRE, bottom: CENTRE };
    return new Map(
      labelled(
        nodes.map((node) => ({ ...node, label: shortened(node.id) })),
        [middle],
        { left: 4 - width / 2, right: width / 2 - 4, top: -height / 2, bottom: height / 2 },
      ).map((label) => [label.id, label]),
    );
  }, [nodes, person, width, height]);
  const places = new Map(nodes.map((node) => [node.id, node]));
  const sorts = new Map(graph.names.map(({ name, sort }) => [name, sort]));
  const looked = hovered ?? chosen;
  const near = new Set(
    graph.links.flatMap(({ first, second }) =>
      first === looked ? [second] : second === looked ? [first] : [],
    ),
  );
  // In a crowd, lines to everybody would hide those between names.
  const showsSpokes = nodes.length <= 40;
  // So would those to a name that many others stand beside.
  const linked = new Map<string, number>();
  for (const { first, second } of graph.links) {
    for (const name of [first, second]) linked.set(name, (linked.get(name) ?? 0) + 1);
  }
  const isCrowded = ({ first, second }: { first: string; second: string }) =>
    Math.max(linked.get(first) ?? 0, linked.get(second) ?? 0) > MOST_DRAWN;
  const press = (event: React.KeyboardEvent, at: number) => {
    const name = nodes[at]?.id;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (name !== undefined) onChoose(name === chosen ? null : name);
      return;
    }
    if (event.key === "Escape" && chosen !== null) onChoose(null);
    const next =
      event.key === "Home" ? 0 : event.key === "End" ? nodes.length - 1 : nextTo(nodes, at, event.key);
    if (next === at) return;
    event.preventDefault();
    setActive(next);
    box.current?.querySelectorAll<SVGGElement>("[data-name]")[next]?.focus();
  };

  return (
    <div ref={box} className="panel min-w-0 overflow-hidden">
      <svg
        role="group"
        aria-label={w("graphLabel", { name: person })}
        viewBox={`${-width / 2} ${-height / 2} ${width} ${height}`}
        width={width}
        height={height}
        className="block max-w-full text-xs"
      >
        <g aria-hidden>
          {nodes.map((node) => {
            const isLooked = node.id === looked;
            return (
              (showsSpokes || isLooked) && (
                <line
                  key={node.id}
                  x1={0}
                  y1={0}
                  x2={node.x}
                  y2={node.y}
                  className={isLooked ? "stroke-accent" : "stroke-line"}
                  strokeWidth={isLooked ? 1.6 : 1}
                />
              )
            );
          })}
          {graph.links.map(({ first, second, records }) => {
            const [one, other] = [places.get(first), places.get(second)];
            if (one === undefined || other === undefined) return null;
            const isLooked = first === looked || second === looked;
            return (
              <line
                key={`${first} ${second}`}
                x1={one.x}
                y1={one.y}
                x2={other.x}
                y2={other.y}
                className={isLooked ? "stroke-accent" : "stroke-muted"}
                strokeOpacity={isLooked ? 1 : isCrowded({ first, second }) ? 0.06 : looked === null ? 0.3 : 0.1}
                strokeWidth={Math.min(3, 0.8 + 0.4 * records.length)}
              />
            );
          })}
        </g>
        <g aria-hidden>
          <circle r={CENTRE} className="fill-accent" />
          <text
            textAnchor="middle"
            dominantBaseline="central"
            className="fill-accent-foreground font-semibold"
          >
            {Array.from(person).slice(0, 6).join("")}
          </text>
        </g>
        {nodes.map((node, at) => {
          const label = labels.get(node.id);
          const isLooked = node.id === looked || near.has(node.id);
          const isFaint = looked !== null && !isLooked;
          const isChosen = node.id === chosen;
          const count = graph.names[at]?.records.length ?? 0;
          return (
            <g
              key={node.id}
              data-name={node.id}
              role="button"
              aria-pressed={isChosen}
              aria-label={`${node.id}, ${w(sorts.get(node.id) ?? "thing")}, ${w("entries", { count })}`}
              tabIndex={at === active ? 0 : -1}
              className="group cursor-pointer outline-none"
              onClick={() => {
                setActive(at);
                onChoose(isChosen ? null : node.id);
              }}
              onKeyDown={(event) => press(event, at)}
              onFocus={() => setHovered(node.id)}
              onBlur={() => setHovered(null)}
              onPointerEnter={() => setHovered(node.id)}
              onPointerLeave={() => setHovered(null)}
              opacity={isFaint ? 0.45 : 1}
            >
              {/* A small dot is hard to hit. */}
              <circle cx={node.x} cy={node.y} r={Math.max(node.radius, 12)} fill="transparent" />
              <circle
                cx={node.x}
                cy={node.y}
                r={node.radius + 4}
                fill="none"
                strokeWidth={2}
                className={`stroke-focus ${isChosen ? "" : "opacity-0 group-focus-visible:opacity-100"}`}
              />
              <circle
                cx={node.x}
                cy={node.y}
                r={node.radius}
                className={sorts.get(node.id) === "person" ? "fill-episodic" : "fill-semantic"}
              />
              {label !== undefined ? (
                <Label x={label.x} y={label.y} anchor={label.anchor} text={shortened(node.id)} />
              ) : null}
            </g>
          );
        })}
        {/* What has no room for its label shows it above all others while it is looked at. */}
        {[...(looked === null ? [] : [looked]), ...near]
          .filter((name) => !labels.has(name))
          .slice(0, 12)
          .map((name) => {
            const node = places.get(name);
            return (
              node !== undefined && (
                <Label
                  key={name}
                  x={node.x}
                  y={node.y - node.radius - 10}
                  anchor="middle"
                  text={shortened(name)}
                  isBold={name === looked}
                />
              )
            );
          })}
      </svg>
      <p className="border-line caption flex flex-wrap gap-x-5 gap-y-1 border-t px-4 py-2.5">
        <Legend look="bg-accent" label={w("you")} />
        <Legend look="bg-episodic" label={w("person")} />
        <Legend look="bg-semantic" label={w("thing")} />
      </p>
    </div>
  );
}

function Legend({ look, label }: { look: string; label: string }) {
  return (
    <span className="flex items-center gap-1.5">
      <span className={`size-2.5 rounded-full ${look}`} aria-hidden />
      {label}
    </span>
  );
}

function Label({
  x,
  y,
  anchor,
  text,
  isBold = false,
}: {
  x: number;
  y: number;
  anchor: "start" | "end" | "middle";
  text: string;
  isBold?: boolean;
}) {
  return (
    <text
      aria-hidden
      x={x}
      y={y}
      textAnchor={anchor}
      dominantBaseline="central"
      className={`fill-foreground stroke-surface pointer-events-none ${isBold ? "font-semibold" : ""}`}
      strokeWidth={3}
      paintOrder="stroke"
    >
      {text}
    </text>
  );
}

const shortened = (name: string) => {
  const signs = Array.from(name);
  return signs.length > 22 ? `${signs.slice(0, 21).join("")}…` : name;
};
