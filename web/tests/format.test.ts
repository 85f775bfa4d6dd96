import { afterEach, expect, test, vi } from "vitest";
import { formatOf } from "../src/i18n/format";

const english = formatOf("en-GB", "just now");
const chinese = formatOf("zh-CN", "刚刚");

afterEach(() => vi.useRealTimers());

test("an age is told in its largest unit", () => {
  vi.useFakeTimers({ now: new Date("2026-03-10T12:00:00Z") });
  expect(english.age("2026-03-10T11:59:30Z")).toBe("just now");
  expect(english.age("2026-03-10T11:58:00Z")).toBe("2 minutes ago");
  expect(english.age("2026-03-09T12:00:00Z")).toBe("yesterday");
  expect(english.age("2024-03-10T12:00:00Z")).toBe("2 years ago");
  expect(chinese.age("2026-03-10T09:00:00Z")).toBe("3小时前");
  expect(chinese.age("2026-03-10T12:00:00Z")).toBe("刚刚");
});

test("sizes and shares are short", () => {
  expect(english.bytes(0)).toBe("0 bytes");
  expect(english.bytes(999)).toBe("999 bytes");
  expect(english.bytes(1500)).toBe("1.5 kB");
  expect(english.bytes(2_000_000_000_000)).toBe("2,000 GB");
  expect(english.percent(0.756)).toBe("76%");
  expect(english.number(1234567)).toBe("1,234,567");
  expect(chinese.compact(12_345)).toBe("1.2万");
});
