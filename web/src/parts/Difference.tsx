import { useMemo } from "react";
import { useTranslation } from "../i18n";
import { difference } from "../lib/difference";

/** Two texts as one, with what was taken away and what was added marked. */
export function Difference({ before, after }: { before: string; after: string }) {
  const { t } = useTranslation();
  const pieces = useMemo(() => difference(before, after), [before, after]);
  return (
    <p className="said leading-relaxed whitespace-pre-wrap">
      {pieces.map((piece, place) => {
        if (piece.kind === "same") return <span key={place}>{piece.text}</span>;
        const isAdded = piece.kind === "added";
        const Mark = isAdded ? "ins" : "del";
        return (
          <Mark
            key={place}
            className={
              isAdded
                ? "bg-procedural-soft text-procedural rounded-sm px-0.5 no-underline"
                : "bg-danger-soft text-danger-soft-foreground rounded-sm px-0.5"
            }
          >
            <span className="sr-only">{t(isAdded ? "difference.added" : "difference.removed")} </span>
            {piece.text}
          </Mark>
        );
      })}
    </p>
  );
}
