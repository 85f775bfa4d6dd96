import { createContext, useContext, useEffect, useMemo, type ReactNode } from "react";
import { I18nProvider } from "react-aria-components";
import { usePreference } from "../lib/storage";
import { en } from "./en";
import { loadServerWords } from "./server";
import { zh } from "./zh";

export type Language = "en" | "zh";
export type MessageKey = keyof typeof en;
type Values = globalThis.Record<string, string | number>;

export const MESSAGES: globalThis.Record<Language, globalThis.Record<MessageKey, string>> = {
  en,
  zh,
};
export const LOCALES: globalThis.Record<Language, string> = { en: "en-GB", zh: "zh-CN" };

export interface Translation {
  language: Language;
  locale: string;
  t: (key: MessageKey, values?: Values) => string;
  /** The message for a word of the server, such as `did.update`; without one, the word. */
  named: (sort: string, word: string) => string;
  chooseLanguage: (language: Language) => void;
}

const TranslationContext = createContext<Translation | null>(null);

function preferred(): Language {
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

/** Return a message with its values filled in; `key_one` is its form for a count of one. */
export function translate(language: Language, key: MessageKey, values?: Values): string {
  const messages = MESSAGES[language];
  if (values === undefined) return messages[key];
  const single = `${key}_one` as MessageKey;
  const message = values.count === 1 && single in messages ? messages[single] : messages[key];
  return message.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? value.toLocaleString(LOCALES[language]) : value;
  });
}

/** Return the message for a word of the server, or the word where there is none. */
export function named(language: Language, sort: string, word: string): string {
  const messages: globalThis.Record<string, string> = MESSAGES[language];
  return messages[`${sort}.${word}`] ?? word;
}

export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, chooseLanguage] = usePreference<Language>("language", preferred());
  useEffect(() => {
    document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
    void loadServerWords(language);
  }, [language]);
  const value = useMemo<Translation>(
    () => ({
      language,
      locale: LOCALES[language],
      t: (key, values) => translate(language, key, values),
      named: (sort, word) => named(language, sort, word),
      chooseLanguage,
    }),
    [language, chooseLanguage],
  );
  return (
    <TranslationContext.Provider value={value}>
      <I18nProvider locale={LOCALES[language]}>{children}</I18nProvider>
    </TranslationContext.Provider>
  );
}

export function useTranslation(): Translation {
  const translation = useContext(TranslationContext);
  if (translation === null) throw new Error("useTranslation needs a LanguageProvider");
  return translation;
}
