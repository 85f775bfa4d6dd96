import type { Language } from "..";

export interface ServerWords {
  settings: globalThis.Record<string, string>;
  problems: globalThis.Record<string, string>;
}

let words: ServerWords = { settings: {}, problems: {} };

/** Load what the server says in this language; English is what it says itself. */
export async function loadServerWords(language: Language): Promise<void> {
  if (language === "en") {
    words = { settings: {}, problems: {} };
    return;
  }
  const [{ settings }, { problems }] = await Promise.all([
    import("./settings.zh"),
    import("./problems.zh"),
  ]);
  words = { settings, problems };
}

/** What the server says of a setting, in the chosen language as far as it is known. */
export function describedSetting(description: string): string {
  return words.settings[description] ?? description;
}

/** What a problem's code means in the chosen language; nothing where the server says it best. */
export function problemOf(code: string): string | undefined {
  return words.problems[code];
}
