/** How the search part of an address is written: plain names, a list as a repeated name. */
type Search = globalThis.Record<string, unknown>;

export function parseSearch(text: string): Search {
  const found: globalThis.Record<string, string | string[]> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const known = found[name];
    if (known === undefined) found[name] = value;
    else found[name] = Array.isArray(known) ? [...known, value] : [known, value];
  }
  return found;
}

export function stringifySearch(search: Search): string {
  const written = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (Array.isArray(value)) for (const one of value) written.append(name, String(one));
    else if (value !== undefined && value !== null && value !== "") written.set(name, String(value));
  }
  const text = written.toString();
  return text === "" ? "" : `?${text}`;
}

export function oneOf(value: unknown): string | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === "string" && first !== "" ? first : undefined;
}

export function allOf(value: unknown): string[] | undefined {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  const texts = values.filter((one): one is string => typeof one === "string" && one !== "");
  return texts.length > 0 ? texts : undefined;
}
