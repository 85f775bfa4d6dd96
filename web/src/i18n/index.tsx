import { createContext, useContext, useEffect, useMemo, type ReactNode } from "react";
import { I18nProvider } from "react-aria-components";
import { usePreference } from "../lib/storage";
import { en } from "./en";
import { zh } from "./zh";

export type Language = "en" | "zh";
export type MessageKey = keyof typeof en;
type Values = globalThis.Record<string, string | number>;

const MESSAGES: globalThis.Record<Language, globalThis.Record<MessageKey, string>> = { en, zh };
const LOCALES: globalThis.Record<Language, string> = { en: "en-GB", zh: "zh-CN" };

export interface Translation {
  language: Language;
  locale: string;
  t: (key: MessageKey, values?: Values) => string;
  /** Whether there is a message of this name. */
  has: (key: string) => key is MessageKey;
  chooseLanguage: (language: Language) => void;
}

const TranslationContext = createContext<Translation | null>(null);

function preferred(): Language {
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

/** Return a message with its values filled in; `key_one` is its form for a count of one. */
function translate(language: Language, key: MessageKey, values?: Values): string {
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

export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, chooseLanguage] = usePreference<Language>("language", preferred());
  useEffect(() => {
    document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  }, [language]);
  const value = useMemo<Translation>(
    () => ({
      language,
      locale: LOCALES[language],
      t: (key, values) => translate(language, key, values),
      has: (key): key is MessageKey => key in en,
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
