"""A regulation behind three tools, as the design of session notes has them (S2)."""

from typing import Any

ID = "angui_2024"
CHAPTER = "第三章 倒闸操作"
PAGE = "倒闸操作应由两人进行，一人操作，一人监护，并认真执行唱票、复诵制。"


def contents() -> dict[str, Any]:
    """Return a table of contents whose JSON text is over 25,000 characters long."""
    names = ("总则", "作业要求", "倒闸操作", *(f"设备 {n} 的检修与试验" for n in range(4, 25)))
    numbers = "一二三四五六七八九十"
    chapters: list[dict[str, Any]] = []
    for n, name in enumerate(names, 1):
        spoken = numbers[n - 1] if n <= len(numbers) else str(n)
        clauses = [
            {"title": f"{n}.{m} 条款及其说明", "page_start": 4 * n + m // 4, "level": 2}
            for m in range(1, 21)
        ]
        chapters.append({"title": f"第{spoken}章 {name}", "page_start": 4 * n, "children": clauses})
    return {"reg_id": ID, "title": "电力安全工作规程", "total_pages": 120, "items": chapters}


class Regulation:
    """The tools of an agent, which count how often they are run."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.is_down = False

    def get_toc(self, reg_id: str) -> dict[str, Any]:
        """Return the table of contents; an empty one while the service is down."""
        self.calls.append("get_toc")
        return {"reg_id": reg_id, "items": []} if self.is_down else contents()

    def read_page_range(self, reg_id: str, start_page: int, end_page: int) -> dict[str, Any]:
        """Return the text of some pages."""
        self.calls.append("read_page_range")
        return {"content_markdown": PAGE}


def wants_contents(prompt: str) -> bool:
    """Tell whether an agent that follows its prompt has to fetch the table of contents."""
    return not ("get_toc()" in prompt and CHAPTER in prompt)
