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
const STEPS = 160;
const GAP = 9;
const LINE = 15;

/** Place names around a centre: linked ones near each other, none on top of another. */
export function placed(
  nodes: Node[],
  links: { first: string; second: string }[],
  width: number,
  height: number,
): Placed[] {
  const count = nodes.length;
  const most = Math.max(1, ...nodes.map((node) => node.weight));
  const reach = Math.min(width, height) / 2;
  const x = new Float64Array(count);
  const y = new Float64Array(count);
  // A spiral, the heaviest in the middle: the same names are placed the same way every time.
  for (let at = 0; at < count; at++) {
    const away = reach * (0.3 + 0.65 * Math.sqrt(at / count));
    x[at] = away * Math.cos(at * GOLDEN);
    y[at] = away * Math.sin(at * GOLDEN);
  }
  const index = new Map(nodes.map((node, at) => [node.id, at]));
  const ends = links.flatMap(({ first, second }) => {
    const [one, other] = [index.get(first), index.get(second)];
    return one === undefined || other === undefined ? [] : [[one, other] as const];
  });
  const ideal = 1.1 * Math.sqrt((width * height) / Math.max(count + 1, 4));
  const far = 9 * ideal * ideal;
  const push = 0.35 * ideal * ideal;
  const toX = new Float64Array(count);
  const toY = new Float64Array(count);
  for (let step = 0; step < STEPS; step++) {
    const heat = ideal * 0.25 * (1 - step / STEPS);
    for (let one = 0; one < count; one++) {
      // Drawn to the middle, and pushed out of the circle around whom it is about.
      const [oneX, oneY] = [x[one] ?? 0, y[one] ?? 0];
      const away = Math.max(Math.hypot(oneX, oneY), 1);
      const out = away < 0.55 * ideal ? ((0.55 * ideal - away) / away) * 0.5 : 0;
      toX[one] = oneX * (out - 0.02);
      toY[one] = oneY * (out - 0.035);
    }
    for (let one = 0; one < count; one++) {
      const oneX = x[one] ?? 0;
      const oneY = y[one] ?? 0;
      let sumX = 0;
      let sumY = 0;
      for (let other = 0; other < count; other++) {
        const dx = oneX - (x[other] ?? 0);
        const dy = oneY - (y[other] ?? 0);
        const square = dx * dx + dy * dy;
        if (square > far || other === one) continue;
        const force = push / Math.max(square, 1);
        sumX += dx * force;
        sumY += dy * force;
      }
      toX[one] = (toX[one] ?? 0) + sumX;
      toY[one] = (toY[one] ?? 0) + sumY;
    }
    for (const [one, other] of ends) {
      const dx = (x[other] ?? 0) - (x[one] ?? 0);
      const dy = (y[other] ?? 0) - (y[one] ?? 0);
      const pull = 0.06 * (1 - (0.7 * ideal) / Math.max(Math.hypot(dx, dy), 1));
      toX[one] = (toX[one] ?? 0) + dx * pull;
      toY[one] = (toY[one] ?? 0) + dy * pull;
      toX[other] = (toX[other] ?? 0) - dx * pull;
      toY[other] = (toY[other] ?? 0) - dy * pull;
    }
    for (let at = 0; at < count; at++) {
      const [moveX, moveY] = [toX[at] ?? 0, toY[at] ?? 0];
      const length = Math.max(Math.hypot(moveX, moveY), 0.001);
      const share = Math.min(length, heat) / length;
      x[at] = (x[at] ?? 0) + moveX * share;
      y[at] = (y[at] ?? 0) + moveY * share;
    }
  }
  const result = nodes.map((node, at) => ({
    ...node,
    x: x[at] ?? 0,
    y: y[at] ?? 0,
    radius: 4 + (count > 80 ? 5 : 8) * Math.sqrt(node.weight / most),
  }));
  return fitted(result, width, height);
}

/** Stretch to the room there is, keeping the middle in the middle. */
function fitted(nodes: Placed[], width: number, height: number): Placed[] {
  const x = Math.max(1, ...nodes.map((node) => Math.abs(node.x)));
  const y = Math.max(1, ...nodes.map((node) => Math.abs(node.y)));
  const [across, down] = [(width / 2 - 70) / x, (height / 2 - 26) / y];
  // With few names there is room to stand back from the middle.
  const least = Math.min(height / 2 - 40, nodes.length < 30 ? 120 : 60);
  const result = nodes.map((node) => {
    const [atX, atY] = [node.x * across, node.y * down];
    const away = Math.max(Math.hypot(atX, atY), 1);
    const out = Math.max(1, least / away);
    return { ...node, x: atX * out, y: atY * out };
  });
  return apart(result, width / 2 - 14, height / 2 - 14);
}

/** Push apart what touches, and keep it in the picture. */
function apart(nodes: Placed[], right: number, bottom: number): Placed[] {
  for (let step = 0; step < 40; step++) {
    let touching = 0;
    for (const [at, one] of nodes.entries()) {
      for (const other of nodes.slice(at + 1)) {
        const [dx, dy] = [other.x - one.x, other.y - one.y];
        const away = Math.max(Math.hypot(dx, dy), 0.01);
        const missing = one.radius + other.radius + 6 - away;
        if (missing <= 0) continue;
        touching++;
        const [x, y] = [((dx / away) * missing) / 2, ((dy / away) * missing) / 2];
        one.x = within(one.x - x, right);
        one.y = within(one.y - y, bottom);
        other.x = within(other.x + x, right);
        other.y = within(other.y + y, bottom);
      }
    }
    if (touching === 0) break;
  }
  return nodes;
}

const within = (value: number, most: number) => Math.max(-most, Math.min(most, value));

/** Return how wide a text is drawn, about. */
export function widthOf(text: string): number {
  let width = 0;
  for (const sign of text) width += (sign.codePointAt(0) ?? 0) > 0x2e80 ? 12.5 : 6.8;
  return width;
}

/** Choose the labels that can be written without overlapping; the first ones have the first choice. */
export function labelled(
  nodes: (Placed & { label: string })[],
  taken: Box[] = [],
  room: Box = EVERYWHERE,
): LabelBox[] {
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
      if (!isWithin(box, room)) continue;
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

const EVERYWHERE: Box = { left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity };

const isWithin = (box: Box, room: Box) =>
  box.left >= room.left &&
  box.right <= room.right &&
  box.top >= room.top &&
  box.bottom <= room.bottom;

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
