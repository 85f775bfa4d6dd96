"""What grounding knows about words: which only frame a claim, which mean the same, which negate."""

# ruff: noqa: E501 (one way a line)

from __future__ import annotations

import re
from typing import Final

from recollect.text.signal_patterns import word_set

# Who speaks, what kind of statement it is, and verbs that say no more than that it holds: a model
# writes "User prefers …" whatever the words of the user were.
FRAME_ENGLISH: Final = word_set(
    """
    user users person speaker assistant agent team project people someone they
    prefer prefers preferred preference preferences like likes liked love loves loved enjoy enjoys want
    wants wanted wish wishes would favourite favorite best asked ask asks request requested requests
    require requires required needs need must should has have had having is are was were be been being
    uses use used using decided decide decision decisions agreed agree agrees chose choose chosen selected
    feedback to do todo follow up pending reminder remind task plan plans planned intends going
    said says stated mentioned told reports reported feels feel feeling
    name named called works work working lives live living located located keep keeps get gets got
    make makes made do does did done go goes went put set give gives given take takes took
    now currently also always usually generally very really just still already any more longer
    long last lasts first then finally when whenever every time each current new own some
    remember note noted information fact about regarding related concerning
    include includes including exclude excludes excluding dislike dislikes hate hates avoid avoids
    stop stops refuse refuses not no never without cannot able
    place happen happens answer answers response responses reply replies most least maximum minimum
    """
)
FRAME_CHINESE: Final = re.compile(
    "用户|助手|团队|大家|项目|偏好|喜欢|希望|想要|想让|要求|需要|应该|必须|习惯|偏爱|倾向|最爱|决定|选择|选用|同意|确定|使用|采用|反馈|待办"
    "|跟进|提醒|表示|认为|觉得|感到|情绪|位于|放在|存放|目前|现在|已经|已|正在|一直|总是|通常|以后|今后|名叫|名字|姓名|担任|进行|关于|相关"
    "|信息|事实|其中|以及|并且|而且|讨厌|避免|拒绝|禁止|反对|停止|不要|不再|没有|不想|记住|记录|告诉|进行|属于|称为|回复时|回答时|时候"
    "|所有|之前|之后|为了|因为|由于|所以|如果|那么|时间"
)
# Words of one meaning, on both sides replaced by the first of their line.
_SAME_ENGLISH: Final = """
    child kid kids children son sons daughter daughters
    colour color colors colours
    apologise apology apologies apologize apologizes apologises apologising apologizing
    kind sort sorts type types
    picture image images photo photos
    mail e-mail e-mails email emails mails
    buy buys bought purchase purchases purchased
    start starts started begin begins began begun
    film films movie movies
    large big huge
    fast quick quickly
    document documents doc docs
    finish finishes finished complete completes completed
    mother mom mum
    father dad
    save saves saved export exports exported store stores stored lie lies
    head heads headed lead leads led manage manages managed
    sick ill unwell
    flat apartment
    holiday vacation
    jog jogs jogging run runs running
    """
_SAME_CHINESE: Final = """
    妻子 老婆 太太 媳妇
    丈夫 老公
    妈 妈妈 母亲 妈咪
    爸 爸爸 父亲 老爸
    问 询问 请示 征求
    简洁 简短 精简
    回答 答复 回复 作答
    发布 上线
    包含 包括 含有
    选 选择 挑选 挑 选定 选中 选用
    用 使用 采用 利用
    改 修改 改动 更改 变更
    买 购买 购入
    住 居住
    去 前往
    删 删除
    开 经营 开设
    当 担任
    每天 每日
    完成 做完 搞定
    坏 故障 宕机 挂
    做 进行 执行
    想 希望 想要
    使 让
    存 保存 导出 存放 存储 写入
    喝酒 沾酒 饮酒
    负责 带领 主管 牵头
    去世 过世 离世
    父母 爸妈 双亲
    搬到 搬去 迁到
    """
_SAME: Final = {
    other: first
    for line in (*_SAME_ENGLISH.strip().splitlines(), *_SAME_CHINESE.strip().splitlines())
    for first, *others in [line.split()]
    for other in others
}
_HAS_SAME: Final = re.compile(
    rf"\b(?:{'|'.join(it for it in _SAME if it.isascii())})\b|"
    + "|".join(sorted((it for it in _SAME if not it.isascii()), key=len, reverse=True))
)
_WORD: Final = re.compile(r"\be-mails?\b|\w+")

_HARMLESS: Final = re.compile(
    r"\b(?:not only\b|no (?:problem|doubt|worries|wonder|matter)\b|can't wait\b|why not\b|no\. ?\d"
    r"|not (?:more|less|later) than\b|no (?:more|less|later) than\b|no fewer\b)"
    "|不(?:错|过|仅|但|管|论|同|断|久|少|止|客气|得不|好意思)|差不多|对不起|没(?:问题|错|想到|关系)|特别|别[人的墅]|[分区级性告辨]别"
    "|无论|未来|非常|忍不住|离不开|了不起|(?:不|不能|不得|不可|不应)超过|不低于|不少于|不多于|不迟于|不晚于"
)
_NEGATIVE: Final = re.compile(
    r"\b(?:can(?:'t|not) (?:stand|bear)|not (?:a|an|any|the)|not|never|no|none|nothing|nobody|neither"
    r"|nor|without|cannot|stop|stops|stopped|quit|avoid|avoids|avoiding|dislikes?|disliked|hates?|hated"
    r"|detests?|loathes?|refuses?|refused|rejects?|rejected|excludes?|excluded|excluding|against|unable|lacks?"
    r"|drop|drops|dropped|forbids?|forbidden|instead of|rather than|isn't|unlike|allergic|allergy|allergies)\b|n't\b"
    "|从不|从来不|从来没|不再|不|没有?|别|无|未|勿|讨厌|避免|禁止|拒绝|反对|停止|放弃|厌恶|反感"
)
_CLAUSE: Final = re.compile(
    r"[,;:.!?，。；：！？、\n]|\b(?:(?:but|while|whereas|although|yet|and|or|over|only|just)\b"
    r"|(?=(?:instead of|rather than)\b))|但是?|而(?!且)|只(?=用|吃|喝|看|能)|宁"
)


def clauses(text: str) -> list[tuple[str, bool]]:
    """The clauses of a text in lower case, and whether each denies what it says."""
    harmless = _HARMLESS.sub(lambda match: "_" * len(match[0]), text)
    return [
        (piece, len(_NEGATIVE.findall(piece)) % 2 == 1)
        for piece in _CLAUSE.split(harmless)
        if piece.strip()
    ]


def same_words(text: str) -> str:
    """The text in lower case with one word for each meaning."""
    if text.isascii():
        # Looking up every word is quicker than looking for each of the list everywhere.
        return _WORD.sub(lambda match: _SAME.get(match[0], match[0]), text)
    return _HAS_SAME.sub(lambda match: _SAME[match[0]], text)
