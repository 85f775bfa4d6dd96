/** One run of text that two versions share, or that only one of them has. */
export interface Piece {
  kind: "same" | "added" | "removed";
  text: string;
}

const MOST_WORDS = 800;

function wordsOf(text: string): string[] {
  const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Return how one text became another, word by word. */
export function difference(before: string, after: string): Piece[] {
  if (before === after) return before === "" ? [] : [{ kind: "same", text: before }];
  const old = wordsOf(before);
  const now = wordsOf(after);
  if (old.length > MOST_WORDS || now.length > MOST_WORDS) {
    return joined([
      { kind: "removed", text: before },
      { kind: "added", text: after },
    ]);
  }
  const common = longestCommon(old, now);
  const pieces: Piece[] = [];
  let left = 0;
  let right = 0;
  while (left < old.length || right < now.length) {
    if (left < old.length && right < now.length && old[left] === now[right]) {
      pieces.push({ kind: "same", text: old[left] ?? "" });
      left += 1;
      right += 1;
    } else if (
      left < old.length &&
      (right >= now.length || common(left + 1, right) >= common(left, right + 1))
    ) {
      pieces.push({ kind: "removed", text: old[left] ?? "" });
      left += 1;
    } else {
      pieces.push({ kind: "added", text: now[right] ?? "" });
      right += 1;
    }
  }
  return joined(pieces);
}

/** Return a function that tells how many words the rests from two places have in common. */
function longestCommon(old: string[], now: string[]) {
  const width = now.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  for (let left = old.length - 1; left >= 0; left -= 1) {
    for (let right = now.length - 1; right >= 0; right -= 1) {
      lengths[left * width + right] =
        old[left] === now[right]
          ? (lengths[(left + 1) * width + right + 1] ?? 0) + 1
          : Math.max(
              lengths[(left + 1) * width + right] ?? 0,
              lengths[left * width + right + 1] ?? 0,
            );
    }
  }
  return (left: number, right: number) => lengths[left * width + right] ?? 0;
}

function joined(pieces: Piece[]): Piece[] {
  const runs: Piece[] = [];
  for (const piece of pieces) {
    const last = runs.at(-1);
    if (last?.kind === piece.kind) last.text += piece.text;
    else if (piece.text !== "") runs.push({ ...piece });
  }
  return runs;
}
