import { Skeleton } from "@heroui/react";
import type { LucideIcon } from "lucide-react";

/** One figure with its name on a line; one that can be looked into is a button. */
export function Tile({
  icon: Icon,
  label,
  value,
  note,
  isUrgent = false,
  onOpen,
}: {
  icon: LucideIcon;
  label: string;
  value: string | undefined;
  note?: string;
  /** Whether the note asks for something to be done. */
  isUrgent?: boolean;
  onOpen?: () => void;
}) {
  const content = (
    <>
      <Icon className="text-muted size-4 shrink-0" strokeWidth={1.8} aria-hidden />
      <span className="eyebrow min-w-0 flex-1 truncate">{label}</span>
      {note !== undefined && (
        <span
          className={`hidden truncate text-xs @[14rem]:inline ${isUrgent ? "text-warning-soft-foreground font-medium" : "text-muted"}`}
        >
          {note}
        </span>
      )}
      {value === undefined ? (
        <Skeleton className="h-5 w-10 rounded-md" />
      ) : (
        <span
          className={`number text-lg leading-6 font-semibold tracking-tight ${isUrgent ? "text-warning-soft-foreground" : ""}`}
        >
          {value}
        </span>
      )}
    </>
  );
  const look = "panel @container flex h-11 items-center gap-2 px-3 text-start";
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
