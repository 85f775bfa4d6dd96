/** Leave out words that others contain: of 座, 位 and 座位 the last says it all. */
export function whole(words: string[]): string[] {
  return words.filter((word) => !words.some((other) => other !== word && other.includes(word)));
}
