import { useState } from "react";

/** Set state in the first render, and again in the first one after any of the values has changed. */
export function useOnChange(values: unknown[], set: () => void): void {
  const [seen, setSeen] = useState<unknown[]>();
  if (seen?.every((value, place) => value === values[place])) return;
  setSeen(values);
  set();
}
