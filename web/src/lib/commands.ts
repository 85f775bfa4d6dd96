import { useEffect, useRef } from "react";

/** What a page can do that may be asked for from elsewhere. */
export type Command = "add" | "forget" | "export" | "cleanUp" | "newKey" | "newAgent" | "verify";

const handlers = new Map<Command, () => void>();
let pending: Command | null = null;

/** Offer an action of the page for as long as it is shown. */
export function useCommand(name: Command, run: () => void): void {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  useEffect(() => {
    const handle = () => latest.current();
    handlers.set(name, handle);
    if (pending === name) {
      pending = null;
      handle();
    }
    return () => {
      if (handlers.get(name) === handle) handlers.delete(name);
    };
  }, [name]);
}

/** Run an action of the page, at once or as soon as the page that has it is shown. */
export function runCommand(name: Command, go: () => void): void {
  const handle = handlers.get(name);
  if (handle !== undefined) {
    handle();
    return;
  }
  pending = name;
  go();
}
