"""What the words around a number say that it is: a phone, a card, an order, a version."""

import re
from typing import Literal, cast

from recollect.text.scripts import HAN

Cue = Literal["order", "id", "phone", "card", "identity", "passport", "address", "version"]

# A word farther away speaks of something else.
_REACH = 32

_SENTENCE_END = re.compile(r"[\n。!?;]|(?<!no)\.\s", re.IGNORECASE)

# Words for things are common in talk about people ("my order is late, call …"): they claim a number
# only when it follows at once, with no more than such words between.
_AT_ONCE = (
    r"""(?:[\ :\#("'=_是为的应该就]|号码?|编号|numbers?\b|no\b\.?|ids?\b|code\b|(?:is|was)\b)*$"""
)

# Where words of two cues begin together, the one that stands first here is taken.
_WORDS: dict[Cue, str] = {
    "order": rf"""
        (?:(?:订单|单号|编号|流水|工单|发票|学号|工号|会员编?号|商品|货号|型号|序列|批号|条形?码
            |书号|时间戳|哈希|车架|追踪号|交易|会议|群|零件|包裹|第)
        |(?:用户|设备|商品|会员|任务|客户|员工)\ ?id
        |\b(?:user|member|account|customer|employee|student)[ _-]?(?:id|number|no)s?\b
        |\b(?:case|job|order|request|trace|device|task|item|product|message|event|transaction
            |meeting|ticket|tracking|invoice|serial|part|batch|model|timestamp|sku|upc|ean|isbn
            |issn|imei|imsi|vin|doi|row|record|reference|ref|confirmation|booking|reservation
            |parcel|shipment|receipt|lot|commit|zoom|flight|seat|uid|qq)s?\b){_AT_ONCE}
        """,
    "identity": r"""
        (?:身份证?|证件)(?:号码?|编号)|身份证|证件
        |identity|\bid[ _-]?card\b|\b(?:national|chinese|china)\ id\b
        """,
    "passport": r"passport(?:\ card)?|(?:护照|通行证|回乡证|台胞证)(?:号码?|编号)?",
    "phone": r"""
        电话|手机|座机|传真|热线|联系|[打拨]|致电|来电|短信|微信
        |\b(?:phone|telephone|tel|mobile|cell(?:phone)?|fax|call(?:ed|ing)?|ring|rang|text(?:ed)?
            |dial|whatsapp|sms|contact|reach|landline|hotline)\b
        |\b(?:my|his|her|our|their|your|whose|\w+'s)
            \ (?:(?:new|old|work|home|private|personal|office|direct|current)\ )?number\b
        """,
    "card": r"""
        卡|银行|账号|账户|[工建农招交]行|收款|还款
        |\b(?:card|visa|mastercard|amex|unionpay|discover|jcb|maestro|debit|credit)s?\b
        """,
    "address": r"""
        地址|服务器|路由|网关|主机|登录|访问|名单
        |\b(?:ip(?:v[46])?|address|addr|host|server|router|gateway|ping|ssh|login|dns|proxy)\b
        """,
    "version": r"""
        版|固件|驱动|升级|更新|依赖|条款|章节
        |\b(?:versions?|ver|releases?|build|firmware|section|chapter|clause|paragraph|article
            |upgraded?|updated?|downgraded?|assembly|kernel|driver|sdk|package|patch|pinned|oid
            |python|node|java|chrome|firefox|windows|android|ios|macos|linux|ubuntu)\b
        """,
    "id": rf"\bid\b{_AT_ONCE}",
}

_CUE = re.compile(
    rf"(?=\b[a-z]|[{HAN}])(?:"
    + "|".join(f"(?P<{cue}>{words})" for cue, words in _WORDS.items())
    + ")",
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)


def cue_before(text: str, start: int) -> Cue | None:
    """What the nearest telling word before this place, in the same sentence, announces."""
    sentence = _SENTENCE_END.split(text[max(0, start - _REACH) : start])[-1]
    words = list(_CUE.finditer(sentence))
    return _cue(words[-1]) if words else None


def cue_after(text: str, end: int) -> Cue | None:
    """What the first telling word after this place, in the same sentence, says it was."""
    first = _CUE.search(_SENTENCE_END.split(text[end : end + _REACH], maxsplit=1)[0])
    return _cue(first) if first else None


def _cue(word: re.Match[str]) -> Cue:
    return cast(Cue, word.lastgroup)
