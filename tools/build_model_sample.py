"""Writes a small database whose vectors are of the default model, to tests/data/models.

    python tools/build_model_sample.py NAME

Run it before the default model changes; from then on a test opens that file with the new one.
"""

import asyncio
import gzip
import sys
import tempfile
from pathlib import Path

from recollect import Memory

ANN = [
    "The spare key hangs behind the kitchen door",
    "I am allergic to peanuts",
    "My sister Clara lives in Lisbon with her two children",
    "The dentist appointment is on Thursday at nine",
    "I take the ferry to the office when it rains",
    "The wifi password of the summer house is on the fridge",
    "I practise the cello every Sunday evening",
    "Our cat Miso only eats tuna",
    "The car insurance ends in March",
    "I moved from Hamburg to Rotterdam last spring",
]
WEI = [
    "备用钥匙挂在厨房门后面",
    "我对花生过敏",
    "妹妹小兰带着两个孩子住在成都",
    "周四上午九点去看牙医",
    "下雨的时候我坐地铁上班",
    "每个星期天晚上我练习二胡",
    "家里的猫只吃金枪鱼",
    "汽车保险三月到期",
]
MANUAL = "# Boiler\n\nOpen the valve before you light it.\n\n# 锅炉\n\n点火之前先打开阀门。"


async def fill(path: Path) -> None:
    async with Memory.open(path) as memory:
        await memory.scope(user="ann").remember_many(ANN)
        await memory.scope(user="wei").remember_many(WEI)
        await memory.scope(user="ann").observe(
            [
                {"role": "user", "content": "Which train goes to Antwerp on Saturday?"},
                {"role": "assistant", "content": "The one at ten past eight, from platform four."},
            ],
            session="travel",
        )
        await memory.knowledge.add(MANUAL, "boiler.md")
        await memory.drain()


def main() -> None:
    (name,) = sys.argv[1:]
    target = Path(__file__).parent.parent / "tests/data/models" / f"{name}.db.gz"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.db"
        asyncio.run(fill(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    print(f"{target.name}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
