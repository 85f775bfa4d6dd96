/** What can be taken back now, the latest last. */
const offered: (() => void)[] = [];

/** Offer to take something back once, by whoever comes first; return what does it, and ends it. */
export function offer(undo: () => void): { take: () => void; end: () => void } {
  const end = () => {
    const at = offered.indexOf(take);
    if (at >= 0) offered.splice(at, 1);
    return at >= 0;
  };
  const take = () => {
    if (end()) undo();
  };
  offered.push(take);
  return { take, end };
}

/** Take back what was done last; tells whether there was anything. */
export function takeLatest(): boolean {
  const take = offered.at(-1);
  take?.();
  return take !== undefined;
}
