import { useCallback, useSyncExternalStore } from "react";

const PREFIX = "recollect.";
const listeners = new Set<() => void>();

function read(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/** A preference of this browser, kept between visits where the browser allows it. */
export function usePreference<T extends string>(name: string, initial: T) {
  const subscribe = useCallback((changed: () => void) => {
    listeners.add(changed);
    window.addEventListener("storage", changed);
    return () => {
      listeners.delete(changed);
      window.removeEventListener("storage", changed);
    };
  }, []);
  const stored = useSyncExternalStore(subscribe, () => read(name));
  const value = stored === null ? initial : (JSON.parse(stored) as T);
  const choose = useCallback(
    (next: T) => {
      try {
        localStorage.setItem(PREFIX + name, JSON.stringify(next));
      } catch {
        // A browser that keeps nothing shows the default again next time.
      }
      for (const listener of listeners) listener();
    },
    [name],
  );
  return [value, choose] as const;
}
