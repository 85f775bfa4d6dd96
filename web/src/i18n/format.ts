import { useTranslation } from ".";

const SECOND = 1000;
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * 86_400 * SECOND],
  ["month", 30 * 86_400 * SECOND],
  ["day", 86_400 * SECOND],
  ["hour", 3_600 * SECOND],
  ["minute", 60 * SECOND],
];

type Format = ReturnType<typeof formatOf>;

// Making a formatter takes as long as drawing a card, and there are many cards.
const made = new Map<string, Format>();

/** Write dates, ages and numbers as the chosen language does. */
export function useFormat(): Format {
  const { locale, t } = useTranslation();
  const known = made.get(locale);
  if (known !== undefined) return known;
  const format = formatOf(locale, t("time.justNow"));
  made.set(locale, format);
  return format;
}

/** Make something when it is first needed. */
function lazily<T>(make: () => T): () => T {
  let known: T | undefined;
  return () => (known ??= make());
}

/** Return the writers of one language. */
export function formatOf(locale: string, justNow: string) {
  const dates = (options: Intl.DateTimeFormatOptions) => {
    const known = lazily(() => new Intl.DateTimeFormat(locale, options));
    return (at: string) => known().format(new Date(at));
  };
  const numbers = (options: Intl.NumberFormatOptions) => {
    const known = lazily(() => new Intl.NumberFormat(locale, options));
    return (value: number) => known().format(value);
  };
  const relative = lazily(() => new Intl.RelativeTimeFormat(locale, { numeric: "auto" }));
  return {
    day: dates({ dateStyle: "medium" }),
    longDay: dates({ dateStyle: "full" }),
    moment: dates({ dateStyle: "medium", timeStyle: "short" }),
    second: dates({ dateStyle: "medium", timeStyle: "medium" }),
    time: dates({ timeStyle: "short" }),
    clock: dates({ timeStyle: "medium" }),
    number: numbers({}),
    compact: numbers({ notation: "compact", maximumFractionDigits: 1 }),
    percent: numbers({ style: "percent", maximumFractionDigits: 0 }),
    bytes: (value: number) => {
      const units = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;
      const power = Math.min(Math.floor(Math.log10(Math.max(value, 1)) / 3), 3);
      return new Intl.NumberFormat(locale, {
        style: "unit",
        unit: units[power] ?? "byte",
        unitDisplay: power === 0 ? "long" : "short",
        maximumFractionDigits: 1,
      }).format(value / 1000 ** power);
    },
    /** How long ago it was: "3 days ago". */
    age: (at: string) => {
      const elapsed = new Date(at).getTime() - Date.now();
      for (const [unit, size] of UNITS) {
        if (Math.abs(elapsed) >= size) return relative().format(Math.round(elapsed / size), unit);
      }
      return justNow;
    },
  };
}
