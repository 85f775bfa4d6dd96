"""Chinese words whose dictionary gloss misleads, with what an English sentence would say.

Dictionaries gloss particles by describing them and begin very common words with a rare sense
(给 "to", 被 "quilt", 跟 "heel"). A word that adds nothing to the meaning stands for nothing.
"""

from __future__ import annotations

from typing import Final

_SAID_BY_NOTHING: Final = "的地得了着过吗呢吧啊呀哦嘛哈把之所个就位名件条张本只台辆颗棵"

_SAID_OTHERWISE: Final = """
不 not, 没 not, 没有 not, 未 not, 非 not, 无 without, 别 do not, 不要 do not, 不是 is not,
不会 will not, 不能 cannot, 不想 not want,
也 also, 都 all, 才 only, 再 again, 又 again, 还 still, 很 very, 太 too, 最 most, 更 more, 比 than,
在 at, 和 and, 跟 with, 与 and, 及 and, 或 or, 而 and, 但 but, 因 because, 从 from, 到 to, 对 for,
向 towards, 为 for, 于 at, 以 with, 由 by, 被 by, 等 and so on,
上 on, 下 under, 里 in, 中 in, 内 in, 外 outside, 前 before, 后 after, 时 when, 间 between,
左右 about,
我 I, 你 you, 您 you, 他 he, 她 she, 它 it, 我们 we, 你们 you, 他们 they, 咱们 we, 自己 self,
这 this, 那 that, 这个 this, 那个 that, 这里 here, 那里 there, 其 its, 该 this, 每 every, 各 each,
某 some,
谁 who, 哪位 who, 什么 what, 哪 which, 哪个 which, 哪些 which, 哪天 which day,
哪里 where, 哪儿 where, 何时 when, 什么时候 when, 几 how many, 几个 how many, 多少 how many,
几点 what time, 几岁 how old, 多久 how long, 多大 how old, 怎么 how, 怎样 how, 如何 how, 为什么 why,
是 is, 有 have, 会 will, 要 want, 想 want, 能 can, 可以 can, 应该 should, 将 will, 让 let, 给 give,
叫 call, 打 hit, 去 go, 来 come, 做 do, 说 say, 看 look, 用 use, 买 buy, 吃 eat, 喝 drink, 住 live,
行 OK,
年 year, 月 month, 日 day, 天 day, 号 number, 点 o'clock, 分 minute, 岁 years old, 元 yuan, 块 yuan,
次 times, 一 one, 一个 a, 两 two, 两个 two,
家 home, 人 person, 钱 money, 长 long, 大 big, 小 small, 多 many, 少 few, 好 good
"""


def _table() -> dict[str, str]:
    table = dict.fromkeys(_SAID_BY_NOTHING, "")
    for entry in _SAID_OTHERWISE.split(","):
        word, said = entry.split(maxsplit=1)
        table[word] = said
    return table


COMMON_WORDS: Final = _table()
