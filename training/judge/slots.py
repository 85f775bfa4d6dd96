"""Values for the slots of groups and cards: `{svc1} listens on port {port1}`.

Words come from slots.tsv; numbers, times and dates are drawn here. A kind has three values at a
time, all different, each in English and Chinese.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

Value = tuple[str, str]
Values = dict[str, Value]

_SLOT = re.compile(r"\{(\w+)\}")
_HAN = re.compile("[\u4e00-\u9fff]")
_BETWEEN_HAN = re.compile("(?<=[\u4e00-\u9fff]) +(?=[\u4e00-\u9fff])")
_COUNTED = 3
_ORDINALS = (
    *(("second", "二"), ("third", "三"), ("fourth", "四"), ("fifth", "五"), ("sixth", "六")),
    *(("seventh", "七"), ("eighth", "八"), ("ninth", "九"), ("tenth", "十")),
    *(("eleventh", "十一"), ("twelfth", "十二")),
)
_QUARTERS = {0: "", 15: "一刻", 30: "半", 45: "三刻"}
_HOURS = "零一二三四五六七八九十"
_WELL_KNOWN_PORTS = (80, 443, 3000, 5000, 5432, 6379, 8000, 8080, 8081, 8443, 9000, 9090)
_THOUSANDS = (5, 8, 10, 12, 15, 18, 20, 25, 30, 40, 50, 60, 75, 80, 90, 120, 150, 200, 300)


def is_chinese(text: str) -> bool:
    return bool(_HAN.search(text))


def read_table(name: str) -> list[list[str]]:
    """Return the lines of a data file beside this module."""
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


class Slots:
    """Draws values and fills them into templates."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.words = defaultdict[str, list[Value]](list)
        for kind, english, chinese in read_table("slots.tsv"):
            self.words[kind].append((english, chinese))

    def values(self) -> Values:
        """Return three values of every kind: port1, port2, port3, ..."""
        found: Values = {}
        for kind, words in self.words.items():
            for number, value in enumerate(self.draw.sample(words, _COUNTED), 1):
                found[f"{kind}{number}"] = value
        for number, value in enumerate(self.draw.sample(_ORDINALS, _COUNTED), 1):
            found[f"floor{number}"] = value
        for number, value in enumerate(self._versions(), 1):
            found[f"ver{number}"] = (value, value)
        makers: dict[str, Callable[[], Value]] = {
            "port": self._port,
            "n": self._number,
            "pct": self._percentage,
            "money": self._money,
            "time": self._time,
            "date": self._date,
            "phone": self._phone,
            "host": self._host,
            "size": lambda: _both(self.draw.randint(34, 48)),
        }
        for kind, make in makers.items():
            different = dict[Value, None]()
            while len(different) < _COUNTED:
                different[make()] = None
            found |= {f"{kind}{number}": value for number, value in enumerate(different, 1)}
        return found

    def fill(self, template: str, values: Values) -> str:
        """Return the template with its slots filled in the template's own language."""
        chinese = is_chinese(_SLOT.sub("", template))
        text = _SLOT.sub(lambda slot: values[slot[1]][chinese], template)
        if chinese:
            return _BETWEEN_HAN.sub("", text) if self.draw.random() < 0.75 else text
        is_name = template.startswith(("{svc", "{host")) and not text.startswith("the ")
        return text if is_name else text[0].upper() + text[1:]

    def _port(self) -> Value:
        ranges = (self.draw.randint(1025, 9999), self.draw.randint(10_000, 65_000))
        return _both(self.draw.choice((*ranges, self.draw.choice(_WELL_KNOWN_PORTS))))

    def _number(self) -> Value:
        return _both(self.draw.randint(2, self.draw.choice((12, 60, 99))))

    def _versions(self) -> list[str]:
        """Return versions of which the second is the later one; both may share their first part."""
        first, second = sorted(self.draw.sample(range(1, 25), 2))
        python = f"3.{self.draw.randint(7, 13)}"
        chance = self.draw.random()
        if chance < 0.5:
            found = [f"{it}.{self.draw.randint(0, 14)}" for it in (first, second)]
        elif chance < 0.8:
            found = [f"{first}.{it}" for it in sorted(self.draw.sample(range(20), 2))]
        else:
            found = [
                f"{it}.{self.draw.randint(0, 9)}.{self.draw.randint(0, 9)}"
                for it in (first, second)
            ]
        while python in found:
            python = f"3.{self.draw.randint(7, 13)}"
        return [*found, python]

    def _percentage(self) -> Value:
        small = f"{self.draw.randint(0, 9)}.{self.draw.randint(1, 9)}%"
        return _both(self.draw.choice((f"{self.draw.randint(1, 95)}%", small)))

    def _money(self) -> Value:
        thousands = self.draw.choice(_THOUSANDS)
        if self.draw.random() < 0.5:
            return f"{thousands},000 euros", f"{thousands * 1000} 欧元"
        return f"{thousands}k dollars", f"{thousands / 10:g} 万美元"

    def _time(self) -> Value:
        hour, minute = self.draw.randint(8, 18), self.draw.choice((0, 0, 15, 30, 45))
        small = (hour - 1) % 12 + 1
        digits = f"{hour}:{minute:02d}"
        half = "am" if hour < 12 else "pm"
        english = f"{small}:{minute:02d} {half}" if minute else f"{small} {half}"
        if small < len(_HOURS):
            part = "上午" if hour < 12 else "下午"
            chinese = f"{part}{_HOURS[small]}点{_QUARTERS[minute]}"
        else:
            chinese = f"{hour} 点 {minute} 分" if minute else f"{hour} 点"
        return (
            digits if self.draw.random() < 0.5 else english,
            digits if self.draw.random() < 0.4 else chinese,
        )

    def _date(self) -> Value:
        month, day = self.draw.randint(1, 12), self.draw.randint(1, 28)
        name = self.words["month"][month - 1][0]
        english = (f"{day} {name}", f"{name} {day}", f"{name[:3]} {day}")
        chinese = (f" {month} 月 {day} 日", f"{month}月{day}号")
        return self.draw.choice(english), self.draw.choice(chinese)

    def _phone(self) -> Value:
        draw = self.draw.randint
        mobile = f"1{draw(30, 99)}{draw(10**7, 10**8 - 1)}"
        area = f"0{draw(10, 99)} {draw(10**6, 10**7 - 1)}"
        return _both(self.draw.choice((mobile, f"555-{draw(1000, 9999)}", area)))

    def _host(self) -> Value:
        name = self.draw.choice(("node", "srv", "web", "db", "app", "vm", "gpu", "box"))
        return _both(f"{name}-{self.draw.randint(1, 40):02d}")


def exchanged(values: Values, first: str, second: str) -> Values:
    """Return the values with two of them in each other's place."""
    return {**values, first: values[second], second: values[first]}


def _both(value: object) -> Value:
    return str(value), str(value)
