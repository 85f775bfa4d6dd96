import type { Chunk, Section } from "../../api/knowledge";

/** Where something begins in a document's text, and where it ends. */
export type Span = [start: number, end: number];

/** A stretch of a section's text, and the chunk that it is of, if any. */
export interface Piece {
  chunk: Chunk | null;
  start: number;
  text: string;
}

/** Return the heading that a Markdown section begins with, and how long it is with its line ends. */
export function headingOf(section: Section): { text: string; length: number } | null {
  const found = /^#{1,6} ([^\n]*)\n*/.exec(section.text);
  return found === null ? null : { text: found[1] ?? "", length: found[0].length };
}

/** Cut a section's text behind its heading where its chunks begin and end. */
export function piecesOf(section: Section, chunks: Chunk[], headingLength = 0): Piece[] {
  const pieces: Piece[] = [];
  const cut = (from: number, to: number) =>
    section.text.slice(from - section.start, to - section.start);
  let at = section.start + headingLength;
  for (const chunk of chunks) {
    if (chunk.section !== section.ordinal) continue;
    const from = Math.max(at, chunk.start);
    const to = Math.min(section.end, chunk.end);
    if (to <= from) continue;
    if (from > at) pieces.push({ chunk: null, start: at, text: cut(at, from) });
    pieces.push({ chunk, start: from, text: cut(from, to) });
    at = to;
  }
  if (at < section.end) pieces.push({ chunk: null, start: at, text: cut(at, section.end) });
  return pieces;
}
