import { Button } from "@heroui/react";
import { CircleCheck, X } from "lucide-react";
import { useWords } from "../../i18n/words";
import { words } from "./words";

/** Says in green that the first memory is there, where the ways to begin have stood. */
export function Arrived({ onClose }: { onClose: () => void }) {
  const { w } = useWords(words);
  return (
    <div
      role="status"
      data-arrived
      className="bg-procedural-soft text-procedural mb-4 flex items-center gap-3 rounded-xl px-4 py-2"
    >
      <CircleCheck className="size-5 shrink-0" aria-hidden />
      <p className="min-w-0 flex-1 font-medium">{w("arrivedBanner")}</p>
      <Button isIconOnly size="sm" variant="ghost" aria-label={w("dismiss")} onPress={onClose}>
        <X aria-hidden />
      </Button>
    </div>
  );
}
