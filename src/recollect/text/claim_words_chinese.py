"""Chinese words by what they say in a claim, in simplified characters.

Keys are those of the English list, and the concepts are the same. A text is cut at the longest
phrases listed; what lies between them is compared by its characters. So everyday nouns are listed
too where a character of theirs would be taken for a word of its own: 会 in 会议.
"""

from typing import Final

SIGNS: Final = {
    "request + not": "别 不要 勿 禁止 严禁 不准 不许 不得 千万别 千万不要 请勿 切勿 别再 不可",
    "not": """不 没 没有 不用 不能 不可以 不会 不是 不想 不太 不怎么 从不 从来不 从来没 从没 未
        尚未 还没 还没有 并不 并没有 不懂 绝不 无法 无需 拒绝 避免 不必 一点都不 一点也不 完全不
        根本不 决不 不应 不应该 不该 不愿 不愿意 不肯 不需要 不需 不可能 无法再 没法 没办法""",
    "end": """不再 再也不 已经不 已不 戒 戒掉 戒了 停止 停了 停用 放弃 弃用 离开 离开了 退出 辞去
        辞掉 取消 取消了 早就不 现在不 如今不 不继续 不玩了 告别 卸载 退订 停掉 没再 不想再""",
    "now": """现在 如今 目前 当前 眼下 已经 已 从现在起 从今天起 从今以后 今后 以后 往后 最近 近来
        这阵子 现已 刚刚 刚 开始 从下周起 从下个月起 即日起 眼前 这段时间""",
    "formerly": "以前 之前是 曾经 曾 过去 从前 原来 原先 本来 早年 小时候 当年 早些年",
    "correct": """其实 更正 纠正 更正一下 说错了 我说错了 记错了 我记错了 准确地说 应该是 实际上
        事实上""",
    "change": """改到 改成 改为 改 改用 改学 改喝 改吃 改在 换成 换到 换 换了 换为 变成 变为 变更为
        变更到 转到 转为 转用 转学到 转去 调到 调整到 调整为 调整 调成 挪到 成为 成了 更新为 更新到
        更换为 替换成 替换为 迁移到 迁到 切换到 切到 改主意 改主意了 改变主意 转投 改名
        更名 改名为 更名为 变动为 定为了 转学 转学去 转学去了 转校到""",
    "change + direction up": """涨到 涨 涨至 升到 升至 升级到 升级为 升级 升职当 升职为 升职 升任
        提高到 提升到 增加到 增至 延长到 延长至 扩大到 扩到 长到 涨价到 上涨到 上调到 涨了 提高 增加
        提升 上涨 提至 提高至 调高到 上调至""",
    "change + direction down": """降到 降至 降为 减到 减少到 缩减到 砍到 砍 缩短到 缩短为 降价到
        下调到 下降到 跌到 减少 下降 降低 缩减 降""",
    "change + direction later": "推迟到 推迟至 推迟 延期到 延期至 延期 延后到 顺延到 推后到 延后",
    "change + direction earlier": "提前到 提前至 提前 提早到",
    "change + verb live": "搬到 搬去 搬家到 搬进 搬至 搬 搬家 移居 移民 迁居 定居 落户",
    "change + verb work": "跳槽去 跳槽到 跳槽 入职 加入 加盟 转行做 转岗到",
    "change + verb manage": "接手 接管 接替 接任",
    "change + taken": "替换 替换掉 替换了 换掉",
    "from": "从 由原来的 离",
    "taken": "把 将",
    "instead": "而不是 而非 代替 取代 替代",
    "joint": "到 至 往 向 去 成 为 或 或者",
    "and": "和 与 跟 及 以及 还有 、",
    "by": "由 被 归",
    "than": "比 相比 比起",
    "owner": "的",
    "is": "是 就是 等于",
    "be": """在 有 位于 处于 属于 拥有 养 养了 具有 含 包括 包含 共 共有 总共 一共 定在 定于 安排
        安排在 举行 举办 召开 做 当 担任 作为 进行 需要 花 花费 要花 保持 名为 装 装的 属 达 达到
        大约是 处在 出现 发生 开 计划在 计划于 耗时 用时 费时 历时 需时 得花
        设在 建在 坐落在 坐落于""",
    "request": "请 应该 应当 必须 一定要 务必 总是 都要 记得 最好 尽量 需要你 希望你 麻烦你 统一",
    "verb prefer": "更喜欢 更愿意 偏好 偏爱 更爱 更偏好 倾向于 更倾向于 宁愿 更想",
    "order": "先 再 然后 接着 随后",
    "break": ", ; 。 ! ? . : 但 但是 不过 可是 然而 而 因为 所以 虽然 只是",
}

PEOPLE: Final = {
    "self user": "我 用户 本人 我自己 自己 俺 我家 我们家 咱家 我这边",
    "self team": "我们 咱们 咱 我方 我们团队 咱们团队",
    "weak team": "团队",
    "pronoun he": "他",
    "pronoun she": "她",
    "kin wife": "妻子 老婆 太太 媳妇 爱人 夫人",
    "kin husband": "丈夫 老公 先生",
    "kin partner": "伴侣 配偶 另一半",
    "kin girlfriend": "女朋友 女友",
    "kin boyfriend": "男朋友 男友",
    "kin fiance": "未婚妻 未婚夫",
    "kin son": "儿子 小儿子 大儿子",
    "kin daughter": "女儿 闺女 小女儿 大女儿",
    "kin child": "孩子 小孩 娃 子女",
    "kin baby": "宝宝 婴儿",
    "kin mother": "妈妈 母亲 妈 老妈 娘",
    "kin father": "爸爸 父亲 爸 老爸 爹",
    "kin parent": "父母 爸妈 双亲 爸爸妈妈 父亲母亲 爸妈俩",
    "kin brother": "哥哥 哥 大哥",
    "kin younger brother": "弟弟 弟",
    "kin sister": "姐姐 姐",
    "kin younger sister": "妹妹 妹",
    "kin grandmother": "奶奶 外婆 姥姥 祖母",
    "kin grandfather": "爷爷 外公 姥爷 祖父",
    "kin uncle": "叔叔 舅舅 伯伯 姑父 姨父",
    "kin aunt": "阿姨 姑姑 姨妈 舅妈 婶婶",
    "kin cousin": "表哥 表弟 表姐 表妹 堂哥 堂弟 堂姐 堂妹",
    "kin friend": "朋友 好友 好朋友",
    "kin boss": "领导 老板 上司 主管领导 经理 上级 直属领导",
    "kin colleague": "同事 同僚",
    "kin roommate": "室友 舍友 合租室友",
    "kin neighbour": "邻居",
    "kin client": "客户 顾客 甲方",
    "kin landlord": "房东",
    "kin teacher of": "导师 班主任",
    "kin classmate": "同学",
    "kin family": "家人 家里人 亲戚",
}

PHRASES: Final = {
    "often fortnight": "隔周 每隔一周 双周 每两周 隔一周 两周",
    "marital 已婚": "结婚 已婚 成婚 夫妻 嫁给 娶了 结为夫妻 两口子 成家",
    "weak every + period day": "每天 每日 天天",
    "weak every + daypart night": "每晚 每天晚上",
    "weak every + daypart morning": "每天早上 每天早晨",
    "weak every + period week": "每周 每星期 每个星期",
    "weak every + period month": "每月 每个月 月度 按月",
    "weak every + period year": "每年 年度",
    "weak every + period hour": "每小时 每个小时 每钟头",
    "when yesterday": "昨天",
    "when today": "今天 今晚",
    "when tomorrow": "明天",
    "when last week": "上周 上个星期 上星期",
    "when last month": "上个月 上月",
    "when last year": "去年",
    "when next week": "下周 下个星期 下星期",
    "when next month": "下个月 下月",
    "when next year": "明年",
    "when this week": "这周 本周",
    "when this month": "这个月 本月",
}

LIGHT: Final = (
    "地 了 着 过 吗 呢 吧 啊 呀 嘛 哦 么 个 只 条 本 辆 台 位 名 份 件 张 间 所 座 双 套 支 杯 头 "
    "这 那 该 此 其 之 这个 那个 这些 那些 它 它们 你 您 你们 大家 也 还 又 就 才 可 能 会的 给 对 "
    "于 以 上 里 中 内 下面 上面 里面 当中 方面 来说 而言 时候 一下 一些 一点 一直 一起 些 "
    "点儿 正在 正 就行 即可 可以了 好了 的话 等 等等 会 来 要 左右 大约 大概 差不多 约 起来 下来 "
    "出来 过来 并 且 并且 而且 同时 如果 要是 起 得 只要 只有 无论 不管 仅 仅仅 只能 够 已有 主要 "
    "主要是 曾有 目的 那儿 这儿 这里 那里 哪 什么 怎么 让 使 令 叫人 被动 为了 关于 通过了才 才能 "
    "受 受到 能够 可以 得到 一定 之后 后 会不会 没错 对了 真的 其中 也是 都是 还是 算是 算 所谓 即 "
    "亦 皆 均 仍 仍然 依然 依旧 曾被 不错 次 趟 遍 时 名下 这家 那家 一家 每家"
)
"""What joins the words of a claim and adds nothing to compare."""

SYNONYMS: Final = {
    "早晨": "早上",
    "清晨": "早上",
    "夜里": "晚上",
    "夜间": "晚上",
    "英文": "英语",
    "日文": "日语",
    "汉语": "中文",
    "普通话": "中文",
    "教师": "老师",
    "未婚": "单身",
    "星期": "week",
    "红": "红色",
    "蓝": "蓝色",
    "绿": "绿色",
    "黄": "黄色",
    "黑": "黑色",
    "白": "白色",
    "灰": "灰色",
    "繁体": "繁体字",
    "简体": "简体字",
    "年": "year",
    "月": "month",
    "个月": "month",
    "周": "week",
    "天": "day",
    "小时": "hour",
    "钟头": "hour",
    "分钟": "minute",
    "秒": "second",
    "季度": "quarter",
    "狗狗": "狗",
    "小狗": "狗",
    "猫咪": "猫",
    "小猫": "猫",
    "吃素": "素食",
    "素食者": "素食",
    "素食主义者": "素食",
    "素食主义": "素食",
    "吃全素": "纯素",
    "全素": "纯素",
    "吃纯素": "纯素",
    "纯素食": "纯素",
    "严格素食": "纯素",
    "离异": "离婚",
}
"""Members of a class that are the same thing."""

_ANNOUNCING: Final = (
    "顺便说一下|顺便说下|顺便提一下|顺便提一句|顺便|跟你说一下|跟你说|告诉你|补充一下|补充一点|提醒一下|"
    "提醒你|请注意|请记住|请记得|请记一下|请你记住|帮我记住|帮我记一下|帮忙记一下|麻烦记一下|麻烦记住|"
    "麻烦你记住|记住|记一下|别忘了|我觉得|我认为|我想说的是|我想说|我感觉|据我所知|在我看来|说实话|老实说|"
    '坦白说|用户(?:表示|提到|告诉我|反馈|指出|确认|透露)|用户(?:说过?|称)(?=[他她自我其,:“"])|'
    "根据用户所说|麻烦你|麻烦您|请你|请您|烦请|劳驾|拜托|麻烦(?![的很多事])"
)
_GREETING: Final = "你好|您好|嗨|好的|嗯|哦|对了|另外|还有|备注|注意|话说|其实吧|是这样的|事实是"
POLITE: Final = f"(?:(?:{_ANNOUNCING})[,:。!~ ]*|(?:{_GREETING})[,:。!~ ]+)+"
"""How a claim is introduced without saying anything itself; some words only before a comma."""

POLITE_ENDINGS: Final = (
    "(?:[,。!~ ]*(?:谢谢你|谢谢您|谢谢|多谢|感谢|拜托了|拜托|麻烦了|麻烦你了|辛苦了|好吗|可以吗|"
    "行吗|知道吗|哈哈|哦|噢|啦|呢|呀|啊|吧|嘛|就行|就好|就可以了|而已))+[。!? ~]*$"
)
