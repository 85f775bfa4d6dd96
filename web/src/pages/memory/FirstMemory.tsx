import { lazy, useState } from "react";
import { useOnChange } from "../../lib/changed";
import { usePlace } from "../../lib/place";
import { OnDemand } from "../../parts/OnDemand";

const Arrived = lazy(async () => ({ default: (await import("../welcome/Arrived")).Arrived }));

/** Tells of the first memory of a workspace that was empty when this page was opened. */
export function FirstMemory({ isEmpty }: { isEmpty: boolean }) {
  const { org, workspace } = usePlace();
  const [wasEmpty, setWasEmpty] = useState(false);
  if (isEmpty && !wasEmpty) setWasEmpty(true);
  useOnChange([org, workspace], () => setWasEmpty(false));
  if (!wasEmpty || isEmpty) return null;
  return (
    <OnDemand isWanted>
      <Arrived onClose={() => setWasEmpty(false)} />
    </OnDemand>
  );
}
