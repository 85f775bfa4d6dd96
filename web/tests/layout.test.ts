import { expect, test } from "vitest";
import { labelled, nextTo, placed } from "../src/lib/layout";

const NAMES = Array.from({ length: 200 }, (_, at) => ({ id: `name ${at}`, weight: 1 + (at % 9) }));
const LINKS = NAMES.slice(0, 120).map(({ id }, at) => ({
  first: id,
  second: `name ${(at * 7 + 3) % 200}`,
  weight: 1,
}));

test("200 names have places of their own inside the picture", () => {
  const nodes = placed(NAMES, LINKS, 900, 600);
  let gap = Infinity;
  for (const [at, node] of nodes.entries()) {
    for (const other of nodes.slice(at + 1)) {
      const away = Math.hypot(node.x - other.x, node.y - other.y);
      gap = Math.min(gap, away - node.radius - other.radius);
    }
  }
  expect(gap).toBeGreaterThan(0);
  expect(Math.max(...nodes.map(({ x }) => Math.abs(x)))).toBeLessThan(450);
  expect(Math.max(...nodes.map(({ y }) => Math.abs(y)))).toBeLessThan(300);
  expect(placed(NAMES, LINKS, 900, 600)).toEqual(nodes);
});

test("no label covers another, and most names keep theirs", () => {
  const nodes = placed(NAMES, LINKS, 900, 600).map((node) => ({ ...node, label: node.id }));
  const labels = labelled(nodes);
  const boxes = labels.map(({ x, y, width, anchor }) => {
    const left = anchor === "start" ? x : anchor === "end" ? x - width : x - width / 2;
    return { left, right: left + width, top: y - 7, bottom: y + 7 };
  });
  const covering = boxes.filter((one, at) =>
    boxes
      .slice(at + 1)
      .some(
        (other) =>
          one.right > other.left &&
          other.right > one.left &&
          one.bottom > other.top &&
          other.bottom > one.top,
      ),
  );
  expect(covering).toEqual([]);
  expect(labels.length).toBeGreaterThan(70);
});

test("the arrow keys reach every name", () => {
  const nodes = placed(NAMES.slice(0, 30), LINKS, 900, 600);
  const reached = new Set([0]);
  const waiting = [0];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) {
      const next = nextTo(nodes, at, key);
      if (!reached.has(next)) {
        reached.add(next);
        waiting.push(next);
      }
    }
  }
  expect(reached.size).toBe(nodes.length);
});
