"""Benchmark of the speed of saving, recalling and starting, on synthetic text."""

from __future__ import annotations

import asyncio
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recollect.assemble.embedding import wanted_embedder
from recollect.evaluation.metrics import percentile
from recollect.memory import Memory
from recollect.ports.embedder import Embedder, Progress, Purpose
from recollect.settings import Settings

# --- Common words of both languages for synthetic text that a model treats like real text ---------
# Words that every index leaves out (the, of, 的) are not included.

_ENGLISH: Final = """
time year people way day thing world school state family student group country problem hand part
place case week company system program question work government number night point home water room
mother area money story fact month lot right study book eye job word business issue side kind head
house service friend father power hour game line end member law car city community name president
team minute idea kid body information parent face level office door health person art war history
party result change morning reason research girl guy moment air teacher force education foot boy age
policy music market process nation plan college interest death experience effect class control field
development role effort rate heart drug show leader light voice wife police mind price report
decision son view relationship town road arm difference value building action model season society
tax director position player record paper space ground form event official matter center couple site
project activity star table need court oil situation cost industry figure street image phone data
picture practice piece land product doctor wall patient worker news test movie north love support
technology step baby computer type attention film tree source truth organization hair window culture
evidence chance brother energy period course summer hospital plant opportunity term letter condition
choice rule daughter south husband floor campaign material population economy call board camera
training garden bread coffee kitchen ticket hotel train flight museum island mountain river forest
weather winter spring autumn rain snow storm cloud bridge station airport harbour village castle
market dinner lunch breakfast recipe soup salad cheese butter chicken fish apple orange lemon sugar
server database deploy release branch merge review backup index query schema cache token budget
invoice contract customer vendor deadline meeting agenda summary draft feedback launch milestone
sprint ticket rollback latency memory archive vector keyword document sentence paragraph chapter
guitar piano violin concert painting drawing photo sculpture theatre novel poem author editor
journal library shelf pencil notebook laptop keyboard screen monitor printer battery charger cable
bicycle motorcycle engine wheel garage driver passenger luggage passport visa border embassy tour
doctor nurse medicine allergy headache fever surgery dentist appointment insurance pharmacy exercise
running swimming tennis football basketball yoga climbing hiking cycling sailing skiing marathon
puppy kitten horse rabbit parrot sheep tiger elephant wolf eagle whale shark spider butterfly
wedding birthday holiday anniversary festival gift candle flower balloon dance singer drummer band
buy sell send receive open close start finish build repair paint clean cook bake write read
speak listen learn teach explain remember forget promise agree refuse choose prefer avoid enjoy
travel visit arrive leave return move carry drive walk climb fall grow save spend borrow lend
cheap expensive fresh broken quiet noisy bright dark heavy empty full ready late early modern
ancient famous local foreign public private simple strange useful dangerous gentle proud nervous
"""

_CHINESE: Final = """
时间 工作 公司 问题 朋友 学生 老师 学校 孩子 妈妈 爸爸 先生 电话 手机 电脑 会议 项目 计划 客户 同事
经理 团队 周末 早上 晚上 下午 今年 去年 上海 北京 广州 深圳 杭州 成都 南京 西安 医院 医生 身体 健康
运动 跑步 游泳 篮球 足球 音乐 电影 小说 照片 旅行 酒店 机场 火车 地铁 汽车 司机 护照 行李 天气 下雨
春天 夏天 秋天 冬天 早餐 午饭 晚饭 咖啡 牛奶 面包 水果 苹果 蔬菜 米饭 面条 鸡蛋 牛肉 味道 餐厅 厨房
房间 卧室 客厅 窗户 桌子 椅子 冰箱 空调 花园 邻居 小区 街道 超市 商店 价格 便宜 礼物 生日 婚礼 节日
儿子 女儿 弟弟 妹妹 哥哥 姐姐 爷爷 奶奶 丈夫 妻子 结婚 搬家 租房 贷款 工资 奖金 银行 保险 合同 发票
报告 文件 邮件 表格 数据 系统 软件 程序 代码 测试 发布 版本 服务 服务器 数据库 网络 网站 用户 密码
权限
设计 产品 市场 销售 广告 品牌 预算 成本 利润 投资 股票 经济 政府 政策 法律 历史 文化 艺术 科学 技术
研究 实验 论文 教授 大学 专业 课程 考试 成绩 作业 毕业 面试 简历 经验 能力 机会 目标 结果 原因 方法
办法 决定 选择 建议 意见 消息 新闻 故事 事情 情况 条件 标准 质量 安全 环境 空气 森林 河流 大海 山顶
动物 小狗 小猫 花朵 树木 阳光 月亮 星星 世界 国家 城市 农村 社会 生活 人们 名字 语言 英语 汉字 词典
喜欢 希望 觉得 认为 知道 记得 忘记 明白 理解 相信 担心 高兴 难过 生气 害怕 奇怪 开始 结束 继续 停止
准备 完成 检查 修理 打扫 洗澡 睡觉 起床 出发 到达 离开 回家 见面 聊天 讨论 解释 介绍 帮助 感谢 道歉
购买 出售 收到 寄出 打开 关闭 使用 改变 提高 减少 增加 保存 删除 更新 安装 连接 下载 上传 搜索 整理
漂亮 安静 热闹 干净 简单 复杂 重要 普通 特别 新鲜 努力 认真 聪明 勇敢 温柔 年轻 成熟 著名 丰富 方便
钢琴 吉他 画画 跳舞 唱歌 摄影 滑雪 爬山 骑车 瑜伽 马拉松 博物馆 图书馆 电影院 健身房
幼儿园 办公室 火车站
感冒 发烧 过敏 头痛 牙医 手术 药品 检验 预约 休息 锻炼 减肥 营养 饮食 习惯 爱好 性格 态度 感情 回忆
"""

ENGLISH: Final = tuple(_ENGLISH.split())
CHINESE: Final = tuple(_CHINESE.split())


def common_characters() -> str:
    """Return the 3,755 common characters of the first level of GB 2312."""
    pairs = (bytes((row, cell)) for row in range(0xB0, 0xD8) for cell in range(0xA1, 0xFF))
    # The last row is incomplete.
    return b"".join(pairs).decode("gb2312", errors="ignore")


# --- Synthetic text that resembles real text: words by Zipf's law, half Chinese, half English -----
# Compared with public conversations, the share of texts with a word of a question (.03 to .05) is
# about the same, and a question has some more tokens than a person's.

_WORDS: Final = 30_000
# Start here, since an index leaves out the most frequent words of a language.
_FIRST_RANK: Final = 10
_LONGEST_PIECE: Final = 5


class Writer:
    """Writes texts and questions, deterministically for each seed.

    Common words are real; rare ones are made of two pieces, like many names and terms.
    """

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        pieces = [word for word in ENGLISH if len(word) <= _LONGEST_PIECE]
        self._english = self._with_rare_words(ENGLISH, pieces)
        self._chinese = self._with_rare_words(CHINESE, common_characters())
        ranks = range(_FIRST_RANK, _FIRST_RANK + _WORDS)
        self._weights = list(accumulate(1 / rank for rank in ranks))

    def text(self, number: int) -> str:
        """Return a text of about 25 words or 50 characters; every second one is Chinese."""
        length = self._random.randint(15, 35)
        return self._zh(length) + "。" if number % 2 else " ".join(self._en(length)) + "."

    def question(self, number: int) -> str:
        """Return a question with at least 12 distinct English words or 25 Chinese pairs."""
        if number % 2:
            return self._zh(13) + "？"
        return " ".join(list(dict.fromkeys(self._en(40)))[:13]) + "?"

    def _en(self, words: int) -> list[str]:
        return self._random.choices(self._english, cum_weights=self._weights, k=words)

    def _zh(self, words: int) -> str:
        return "".join(self._random.choices(self._chinese, cum_weights=self._weights, k=words))

    def _with_rare_words(self, common: Sequence[str], pieces: Sequence[str]) -> list[str]:
        words = dict.fromkeys(common)
        while len(words) < _WORDS:
            words["".join(self._random.choices(pieces, k=2))] = None
        return list(words)


# --- Benchmark of the speed of saving, recalling and starting, at a given size --------------------

Told = Callable[[int], None]

_SAVES: Final = 200
_BATCH: Final = 1_000
_QUESTIONS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedResult:
    """The measured figures; `recall_*` exclude the embedding of the question."""

    records: int
    users: int
    save_per_s: float
    batch_per_s: float
    recall_p50_ms: float
    recall_p95_ms: float
    recall_with_embedding_p50_ms: float
    rss_mb: float
    disk_mb: float
    cold_start_s: float

    def as_json(self) -> dict[str, Any]:
        return {name: round(value, 2) for name, value in asdict(self).items()}


class _QuickPassages:
    """An embedder that embeds questions, but gives passages random vectors.

    So a large memory is filled quickly; embedding is measured by `benchmarks/ingest`.
    """

    def __init__(self, model: Embedder) -> None:
        self.model = model.model
        self.dimension = model.dimension
        self.calibration = model.calibration
        self._model = model
        self._random = np.random.default_rng(7)

    def reads(self, text: str) -> bool:
        return True

    async def embed(
        self, texts: Sequence[str], purpose: Purpose, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        if purpose == "query":
            return await self._model.embed(texts, purpose, progress)
        rows = self._random.normal(size=(len(texts), self.dimension)).astype(np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def notes(self) -> tuple[str, ...]:
        return ()

    async def close(self) -> None:
        await self._model.close()


async def measure_speed(records: int, users: int, settings: Settings, told: Told) -> SpeedResult:
    """Fill a new memory with `records` spread over `users`, and measure."""
    writer = Writer()
    model = await asyncio.to_thread(wanted_embedder, settings)
    embedder = None if model is None else _QuickPassages(model)
    with tempfile.TemporaryDirectory(prefix="recollect-speed-") as folder:
        own = Settings.load({"data_dir": Path(folder), "recall": {"cache_seconds": 0}})
        async with Memory.open(own, embedder=embedder) as memory:
            scopes = [memory.scope(user=f"user-{number}") for number in range(users)]
            batch_per_s = await _fill(scopes, writer, records, told)
            save_per_s = await _save_singly(scopes[0], writer)
            await _warm(scopes, writer)
            questions = [writer.question(number) for number in range(_QUESTIONS)]
            with_model = await _ask(scopes, questions)
            # The second time, a question's vector is cached; its answer is not (that cache is off).
            times = await _ask(scopes, questions)
        return SpeedResult(
            records=records,
            users=users,
            save_per_s=save_per_s,
            batch_per_s=batch_per_s,
            recall_p50_ms=percentile(times, 0.50),
            recall_p95_ms=percentile(times, 0.95),
            recall_with_embedding_p50_ms=0.0 if model is None else percentile(with_model, 0.50),
            rss_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            disk_mb=await asyncio.to_thread(_disk_mb, Path(folder)),
            cold_start_s=await asyncio.to_thread(_cold_start, Path(folder)),
        )


async def _fill(scopes: list[Memory], writer: Writer, records: int, told: Told) -> float:
    """Return the records per second when many are saved at a time."""
    each = max(1, records // len(scopes))
    seconds = 0.0
    for scope in scopes:
        for start in range(0, each, _BATCH):
            texts = [writer.text(number) for number in range(min(_BATCH, each - start))]
            began = time.perf_counter()
            await scope.remember_many(texts)
            seconds += time.perf_counter() - began
            told(len(texts))
    return each * len(scopes) / seconds


async def _save_singly(scope: Memory, writer: Writer) -> float:
    texts = [writer.text(number) for number in range(_SAVES)]
    began = time.perf_counter()
    for text in texts:
        await scope.remember(text)
    return _SAVES / (time.perf_counter() - began)


async def _warm(scopes: list[Memory], writer: Writer) -> None:
    """Ask every scope until it is packed."""
    for scope in scopes:
        for number in range(2):
            await scope.recall(writer.question(number), min_score=0)
    await asyncio.sleep(min(3.0, 0.01 * len(scopes) + 2.0))


async def _ask(scopes: list[Memory], questions: Sequence[str]) -> list[float]:
    """Return the milliseconds of each question."""
    times: list[float] = []
    for number, question in enumerate(questions):
        began = time.perf_counter()
        await scopes[number % len(scopes)].recall(question, min_score=0)
        times.append((time.perf_counter() - began) * 1000)
    return times


def _disk_mb(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*.db*")) / 2**20


def _cold_start(folder: Path) -> float:
    """Return the seconds that `recollect recall` takes in a new process."""
    command = [sys.executable, "-m", "recollect", "recall", "今天开会讨论了什么事情"]
    began = time.perf_counter()
    subprocess.run(
        [*command, "--data", str(folder), "--user", "user-0"], capture_output=True, check=True
    )
    return time.perf_counter() - began
