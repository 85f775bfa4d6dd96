import { useSyncExternalStore } from "react";

let isReady = false;
const listeners = new Set<() => void>();

/** Tell that a page shows its content: what only surrounds it may now be asked for. */
export function tellReady(): void {
  if (isReady) return;
  isReady = true;
  for (const listener of listeners) listener();
}

/** Whether the first page shows its content. */
export function useReady(): boolean {
  return useSyncExternalStore(subscribe, () => isReady);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
