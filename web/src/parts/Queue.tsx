import { Button, Kbd } from "@heroui/react";
import { useEffect, useRef, type ComponentProps, type ReactNode } from "react";

type Look = ComponentProps<typeof Button>["variant"];

/** One way to decide about something. */
export interface Decision {
  label: string;
  icon?: ReactNode;
  look?: Look;
  isDisabled?: boolean;
  onDecide: () => void;
}

/** Put the keyboard on the first thing of a queue when it opens. */
export function useFirstInQueue(isThere: boolean) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (isThere) list.current?.querySelector<HTMLElement>("[data-queued]")?.focus();
  }, [isThere]);
  return list;
}

/** One thing to decide about: a number key decides, the arrows go to the next and the one before. */
export function QueueItem({
  label,
  decisions,
  children,
  ...marks
}: {
  label: string;
  decisions: Decision[];
  children: ReactNode;
} & { [mark: `data-${string}`]: string }) {
  const step = (from: HTMLElement, by: "next" | "previous") => {
    const other = by === "next" ? from.nextElementSibling : from.previousElementSibling;
    if (other instanceof HTMLElement) other.focus();
    return other !== null;
  };
  return (
    <li
      {...marks}
      data-queued
      tabIndex={0}
      aria-label={label}
      className="focusable border-line rounded-2xl border p-4"
      onKeyDown={(event) => {
        if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey) return;
        const decision = decisions[Number(event.key) - 1];
        const to = { ArrowDown: "next", j: "next", ArrowUp: "previous", k: "previous" }[event.key];
        if (decision !== undefined && decision.isDisabled !== true) {
          if (!step(event.currentTarget, "next")) step(event.currentTarget, "previous");
          decision.onDecide();
        } else if (to !== undefined) step(event.currentTarget, to as "next" | "previous");
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      {children}
      {decisions.length > 0 && (
        <div className="mt-3 flex flex-wrap gap-2">
          {decisions.map(({ label: name, icon, look, isDisabled = false, onDecide }, place) => (
            <Button
              key={name}
              size="sm"
              variant={look}
              isDisabled={isDisabled}
              aria-label={name}
              onPress={onDecide}
            >
              {icon}
              {name}
              <Kbd className="bg-transparent text-inherit opacity-70 max-sm:hidden" aria-hidden>
                {place + 1}
              </Kbd>
            </Button>
          ))}
        </div>
      )}
    </li>
  );
}
