import { Suspense, useState, type ReactNode } from "react";

/** What is loaded when it is first wanted. It stays afterwards, so that a dialog can close softly. */
export function OnDemand({ isWanted, children }: { isWanted: boolean; children: ReactNode }) {
  const [wasWanted, setWasWanted] = useState(isWanted);
  if (isWanted && !wasWanted) setWasWanted(true);
  return wasWanted && <Suspense>{children}</Suspense>;
}
