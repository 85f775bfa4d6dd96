import { Skeleton } from "@heroui/react";
import type { LucideIcon } from "lucide-react";

/** One figure with its name; one that can be looked into is a button. */
export function Tile({
  icon: Icon,
  label,
  value,
  note,
  onOpen,
}: {
  icon: LucideIcon;
  label: string;
  value: string | undefined;
  note?: string;
  onOpen?: () => void;
}) {
  const content = (
    <>
      <span className="eyebrow flex items-center gap-2">
        <Icon className="size-4" strokeWidth={1.8} aria-hidden />
        {label}
      </span>
      <span className="mt-2 flex h-8 items-baseline gap-2">
        {value === undefined ? (
          <Skeleton className="h-6 w-14 rounded-md" />
        ) : (
          <span className="number text-2xl font-semibold tracking-tight">{value}</span>
        )}
        {note !== undefined && (
          <span className="text-warning-soft-foreground text-xs font-medium">{note}</span>
        )}
      </span>
    </>
  );
  const look = "panel block px-4 py-3.5 text-start";
  if (onOpen === undefined) return <div className={look}>{content}</div>;
  return (
    <button
      type="button"
      className={`${look} focusable hover:border-border-tertiary cursor-pointer transition-colors`}
      onClick={onOpen}
    >
      {content}
    </button>
  );
}
