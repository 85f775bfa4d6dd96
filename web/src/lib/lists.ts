/** Return the parts of a text between marks, without those that are empty. */
export function partsOf(text: string, mark: string | RegExp): string[] {
  return text
    .split(mark)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** Return the tags in a text that separates them as either language does. */
export function tagsIn(text: string): string[] {
  return partsOf(text, /[,，、]/);
}
