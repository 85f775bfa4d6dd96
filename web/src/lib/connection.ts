import { useSyncExternalStore } from "react";

const PAUSE_MS = 1_500;
// A page that has just been loaded and lacks a part would lack it again.
const YOUNG_MS = 10_000;

let isLost = false;
let whenBack: Promise<void> | null = null;
let tryNow: () => void = () => {};
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(lost: boolean): void {
  if (isLost === lost) return;
  isLost = lost;
  for (const listener of listeners) listener();
}

/** Whether the server does not answer. */
export function useIsLost(): boolean {
  return useSyncExternalStore(subscribe, () => isLost);
}

/** Be told when the server answers again after it did not. */
export function onReconnected(listener: () => void): () => void {
  return subscribe(() => {
    if (!isLost) listener();
  });
}

/** Ask the server at once whether it answers again. */
export function reconnectNow(): void {
  tryNow();
}

/** Wait until the server answers; it is asked at once, and again every moment. */
export function reconnected(): Promise<void> {
  whenBack ??= askUntilItAnswers().finally(() => {
    whenBack = null;
  });
  return whenBack;
}

async function askUntilItAnswers(): Promise<void> {
  while (!(await answers())) {
    tell(true);
    await new Promise<void>((resolve) => {
      const timer = window.setTimeout(resolve, PAUSE_MS);
      tryNow = () => {
        window.clearTimeout(timer);
        resolve();
      };
    });
  }
  tell(false);
}

async function answers(): Promise<boolean> {
  try {
    await fetch("/health", { cache: "no-store" });
    return true;
  } catch {
    return false;
  }
}

/** Load a part of the console; one that cannot be had is waited for as long as the server is. */
export async function load<T>(part: () => Promise<T>): Promise<T> {
  try {
    return await part();
  } catch {
    await reconnected();
  }
  try {
    return await part();
  } catch (problem) {
    // The server has other files by now, or the browser remembers that this one was missing.
    if (performance.now() < YOUNG_MS) throw problem;
    window.location.reload();
    return new Promise(() => {});
  }
}
