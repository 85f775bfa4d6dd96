/** A thin bar with its share filled. */
export function Meter({
  value,
  label,
  tone = "bg-accent",
  className = "h-1.5",
}: {
  value: number;
  label: string;
  tone?: string;
  className?: string;
}) {
  const share = Math.max(0, Math.min(1, value));
  return (
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
      className={`bg-default w-full overflow-hidden rounded-full ${className}`}
    >
      <div className={`h-full rounded-full ${tone}`} style={{ width: `${share * 100}%` }} />
    </div>
  );
}
