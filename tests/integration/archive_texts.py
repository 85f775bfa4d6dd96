"""Tool results as a search over a manual gives them, in both languages, with a known answer."""

from __future__ import annotations

import random

_CHINESE = (
    "{n}.{m} 在{a}页面点击“{b}”按钮，填写{c}后保存，系统会在{t}分钟内完成{b}并通知{d}。",
    "{a}支持按{c}筛选；如果{b}失败，请检查{c}是否为空，再联系{d}处理。",
    "注意：{d}修改{c}之后，{a}中的历史数据不会重新计算，编号为 OP-{n}{m}{t}。",
)
_ENGLISH = (
    "{n}.{m} On the {a} page press {b}, fill in the {c} and save; {t} minutes later {d} is told.",
    "The {a} can be filtered by {c}; if {b} fails, look whether the {c} is empty and ask {d}.",
    "Note: once {d} has changed the {c}, history in the {a} stays as it was, see OP-{n}{m}{t}.",
)
_WORDS = {
    "zh": {
        "a": ("审批流", "合同台账", "库存盘点", "报销单", "客户档案", "工单中心"),
        "b": ("导出", "同步", "归档", "批量导入", "作废", "复核"),
        "c": ("成本中心", "币种", "有效期", "负责人", "附件清单", "税率"),
        "d": ("财务专员", "部门经理", "系统管理员", "采购员"),
    },
    "en": {
        "a": ("approvals", "contract", "inventory", "expense", "customer", "ticket"),
        "b": ("export", "synchronise", "archive", "bulk import", "void", "review"),
        "c": ("cost centre", "currency", "expiry date", "owner", "attachment list", "tax rate"),
        "d": ("the accountant", "the manager", "the administrator", "the buyer"),
    },
}
ANSWERS = {
    "zh": ("角色权限如何配置", "角色权限的配置分三步：新建角色、勾选菜单、绑定用户组。"),
    "en": (
        "how are role permissions configured",
        "Role permissions are configured in three steps: make a role, tick menus, bind a group.",
    ),
}


def manual(language: str, characters: int = 50_000, seed: int = 0) -> str:
    """A long result with the answer somewhere in its second half."""
    chosen = random.Random(f"{language}{seed}")
    sentences = _CHINESE if language == "zh" else _ENGLISH
    answer = ANSWERS[language][1]
    place = chosen.uniform(0.5, 0.9) * characters
    lines: list[str] = []
    length = 0
    while length < characters - len(answer) - 1:
        if length >= place and answer not in lines:
            line = answer
        else:
            words = {name: chosen.choice(of) for name, of in _WORDS[language].items()}
            numbers = {name: chosen.randint(1, 99) for name in "nmt"}
            line = chosen.choice(sentences).format(**words, **numbers)
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines)[:characters]
