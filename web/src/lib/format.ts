import { useTranslation } from "../i18n";

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

function formatOf(locale: string, justNow: string) {
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });
  const longDay = new Intl.DateTimeFormat(locale, { dateStyle: "full" });
  const moment = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
  const time = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
  const number = new Intl.NumberFormat(locale);
  const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });
  const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 });
  return {
    day: (at: string) => day.format(new Date(at)),
    longDay: (at: string) => longDay.format(new Date(at)),
    moment: (at: string) => moment.format(new Date(at)),
    time: (at: string) => time.format(new Date(at)),
    number: (value: number) => number.format(value),
    compact: (value: number) => compact.format(value),
    percent: (value: number) => percent.format(value),
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
        if (Math.abs(elapsed) >= size) return relative.format(Math.round(elapsed / size), unit);
      }
      return justNow;
    },
  };
}
