/** A name in a picture, and how much it weighs. */
export interface Node {
  id: string;
  weight: number;
}

export interface Placed extends Node {
  x: number;
  y: number;
  radius: number;
}

/** Where a label is written, so that no two overlap. */
export interface LabelBox {
  id: string;
  x: number;
  y: number;
  width: number;
  anchor: "start" | "end" | "middle";
}

const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const STEPS = 240;
const GAP = 9;
const LINE = 15;

/** Place names around a centre: linked ones near each other, none on top of another. */
export function placed(
  nodes: Node[],
  links: { first: string; second: string; weight: number }[],
  width: number,
  height: number,
): Placed[] {
  const most = Math.max(1, ...nodes.map((node) => node.weight));
  const reach = Math.min(width, height) / 2;
  // A spiral, the heaviest in the middle: the same names are placed the same way every time.
  const result: Placed[] = nodes.map((node, place) => {
    const away = reach * (0.3 + 0.65 * Math.sqrt(place / Math.max(nodes.length, 1)));
    return {
      ...node,
      x: away * Math.cos(place * GOLDEN),
      y: away * Math.sin(place * GOLDEN),
      radius: 4 + 8 * Math.sqrt(node.weight / most),
    };
  });
  const index = new Map(result.map((node, place) => [node.id, place]));
  const ideal = 1.1 * Math.sqrt((width * height) / Math.max(nodes.length + 1, 4));
  for (let step = 0; step < STEPS; step++) {
    const heat = ideal * 0.25 * (1 - step / STEPS);
    const moves = result.map((node) => ({
      // Drawn to the middle, and pushed out of the circle around whom it is about.
      x: -node.x * 0.02 + pushed(node, 0.55 * ideal).x,
      y: -node.y * 0.035 + pushed(node, 0.55 * ideal).y,
    }));
    for (let one = 0; one < result.length; one++) {
      for (let other = one + 1; other < result.length; other++) {
        const [a, b] = [result[one], result[other]];
        const [moveA, moveB] = [moves[one], moves[other]];
        if (a === undefined || b === undefined || !moveA || !moveB) continue;
        const [dx, dy] = [a.x - b.x, a.y - b.y];
        const square = Math.max(dx * dx + dy * dy, 1);
        if (square > 9 * ideal * ideal) continue;
        const force = (0.35 * ideal * ideal) / square;
        moveA.x += dx * force;
        moveA.y += dy * force;
        moveB.x -= dx * force;
        moveB.y -= dy * force;
      }
    }
    for (const { first, second } of links) {
      const [one, other] = [index.get(first), index.get(second)];
      if (one === undefined || other === undefined) continue;
      const [a, b] = [result[one], result[other]];
      const [moveA, moveB] = [moves[one], moves[other]];
      if (a === undefined || b === undefined || !moveA || !moveB) continue;
      const [dx, dy] = [b.x - a.x, b.y - a.y];
      const pull = 0.06 * (1 - (0.7 * ideal) / Math.max(Math.hypot(dx, dy), 1));
      moveA.x += dx * pull;
      moveA.y += dy * pull;
      moveB.x -= dx * pull;
      moveB.y -= dy * pull;
    }
    result.forEach((node, place) => {
      const move = moves[place];
      if (move === undefined) return;
      const length = Math.max(Math.hypot(move.x, move.y), 0.001);
      node.x += (move.x / length) * Math.min(length, heat);
      node.y += (move.y / length) * Math.min(length, heat);
    });
  }
  return fitted(result, width, height);
}

function pushed(node: { x: number; y: number }, room: number) {
  const away = Math.max(Math.hypot(node.x, node.y), 1);
  const force = away < room ? ((room - away) / away) * 0.5 : 0;
  return { x: node.x * force, y: node.y * force };
}

/** Stretch to the room there is, keeping the middle in the middle. */
function fitted(nodes: Placed[], width: number, height: number): Placed[] {
  const x = Math.max(1, ...nodes.map((node) => Math.abs(node.x)));
  const y = Math.max(1, ...nodes.map((node) => Math.abs(node.y)));
  const [across, down] = [(width / 2 - 70) / x, (height / 2 - 26) / y];
  return nodes.map((node) => ({ ...node, x: node.x * across, y: node.y * down }));
}

/** Return how wide a text is drawn, about. */
export function widthOf(text: string): number {
  let width = 0;
  for (const sign of text) width += (sign.codePointAt(0) ?? 0) > 0x2e80 ? 12.5 : 6.8;
  return width;
}

/** Choose the labels that can be written without overlapping; the first ones have the first choice. */
export function labelled(nodes: (Placed & { label: string })[], taken: Box[] = []): LabelBox[] {
  const boxes: Box[] = [
    ...taken,
    ...nodes.map(({ x, y, radius: r }) => ({ left: x - r, right: x + r, top: y - r, bottom: y + r })),
  ];
  const labels: LabelBox[] = [];
  nodes.forEach((node, place) => {
    const width = widthOf(node.label);
    const half = LINE / 2;
    const own = taken.length + place;
    const choices: LabelBox[] = [
      { id: node.id, x: node.x + node.radius + GAP / 2, y: node.y, width, anchor: "start" },
      { id: node.id, x: node.x - node.radius - GAP / 2, y: node.y, width, anchor: "end" },
      { id: node.id, x: node.x, y: node.y + node.radius + half + 2, width, anchor: "middle" },
      { id: node.id, x: node.x, y: node.y - node.radius - half - 1, width, anchor: "middle" },
    ];
    for (const label of choices) {
      const box = boxOf(label, half);
      if (boxes.some((it, at) => at !== own && overlaps(it, box))) continue;
      boxes.push(box);
      labels.push(label);
      return;
    }
  });
  return labels;
}

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

function boxOf({ x, y, width, anchor }: LabelBox, half: number): Box {
  const left = anchor === "start" ? x : anchor === "end" ? x - width : x - width / 2;
  return { left, right: left + width, top: y - half, bottom: y + half };
}

const overlaps = (one: Box, other: Box) =>
  one.left < other.right &&
  other.left < one.right &&
  one.top < other.bottom &&
  other.top < one.bottom;

/** Return the place of the nearest node in a direction; the arrow keys walk so. */
export function nextTo(nodes: Placed[], from: number, key: string): number {
  const start = nodes[from];
  const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[
    key
  ];
  if (start === undefined || direction === undefined) return from;
  const [wantX = 0, wantY = 0] = direction;
  let best = from;
  let least = Infinity;
  nodes.forEach((node, place) => {
    const [dx, dy] = [node.x - start.x, node.y - start.y];
    const ahead = dx * wantX + dy * wantY;
    const aside = Math.abs(dx * wantY) + Math.abs(dy * wantX);
    if (place === from || ahead <= 0) return;
    const cost = ahead + 2 * aside;
    if (cost < least) [best, least] = [place, cost];
  });
  return best;
}
