import { useMemo } from "react";
import { LOCALES, useTranslation } from ".";

/** The messages of one page, which are loaded with it; both languages have the same keys. */
export interface Words<Key extends string> {
  en: globalThis.Record<Key, string>;
  /** It may have more: words of the server, which are English. */
  zh: globalThis.Record<NoInfer<Key>, string>;
}
type Values = globalThis.Record<string, string | number>;

/** Return the messages of a page in the chosen language; `key_one` is the form for a count of one. */
export function useWords<Key extends string>(words: Words<Key>) {
  const { language } = useTranslation();
  return useMemo(() => {
    const messages: globalThis.Record<string, string> = words[language];
    const fill = (message: string, values: Values) =>
      message.replace(/\{(\w+)\}/g, (whole, name: string) => {
        const value = values[name];
        if (value === undefined) return whole;
        return typeof value === "number" ? value.toLocaleString(LOCALES[language]) : value;
      });
    const w = (key: Key, values?: Values): string => {
      if (values === undefined) return messages[key] ?? key;
      const single = messages[`${key}_one`];
      return fill(values.count === 1 && single !== undefined ? single : (messages[key] ?? key), values);
    };
    /** The message for a word of the server, such as `reason.budget`; without one, the word. */
    const named = (sort: string, word: string): string => messages[`${sort}.${word}`] ?? word;
    return { w, named };
  }, [words, language]);
}
