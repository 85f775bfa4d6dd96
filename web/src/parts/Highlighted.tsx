import { useMemo } from "react";

const escape = (word: string) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** A text with the words that a search matched marked. */
export function Highlighted({ text, words }: { text: string; words?: string[] }) {
  const parts = useMemo(() => {
    const sought = (words ?? []).filter((word) => word.length > 0);
    if (sought.length === 0) return [text];
    // A matched term is a stem: "travel" marks "travelling" as well.
    const pattern = sought
      .map((word) => (/^[a-z0-9]+$/i.test(word) ? `\\b${escape(word)}\\w*` : escape(word)))
      .join("|");
    // Neighbours make one mark, as the characters of a Chinese word do.
    return text.split(new RegExp(`((?:${pattern})+)`, "giu"));
  }, [text, words]);
  return parts.map((part, place) =>
    place % 2 === 1 ? <mark key={place}>{part}</mark> : <span key={place}>{part}</span>,
  );
}
