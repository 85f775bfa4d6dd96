"""Words by which a sentence says what it is: a decision, a task, an agreement, a conclusion.

English lists are patterns of whole words, Chinese ones of characters. The lists are general; what
a single word cannot tell is left to how much a sentence says besides (numbers, names).
"""

from __future__ import annotations

from typing import Final

from recollect.domain.summary import PointKind

CUES_ENGLISH: Final = {
    PointKind.DECISION: (
        r"decid(?:e|ed|es) (?:to|on|that|against|for|in)|decided|decision(?:s)?(?: is| was|:)",
        r"(?:go|going|went|gone) (?:ahead )?with|go for|settl(?:e|ed|ing) (?:on|this|it|that)",
        r"(?:it|that) is(?: then)? for|(?:that|this)(?:'s| is| one is) (?:final|settled|decided)",
        r"(?:we|i|they|team|board|leads?|management|boss|client)(?:'ve| have| has)?(?: all| finally"
        r"| already)? (?:chose|chosen|picked|selected|opted|adopted|approved|rejected|vetoed)",
        r"made up (?:my|our|their) minds?|final (?:choice|decision|answer|call)|the choice is",
        r"(?:let's|let us|we'll|we will|we're going to|i'll|we|we should)(?: just| rather| now)?"
        r" (?:use|keep|stick|stay|switch|drop|move|adopt|standardi[sz]e|migrate|build|buy|skip"
        r"|postpone|replace|rename|call it|make it)",
        r"(?:won't|will not|not going to|no longer) (?:use|build|support|need|do|buy|be|offer"
        r"|ship)",
        r"(?:we're|we are|i'm|i am|they're|they are) (?:dropping|moving|switching|keeping|using"
        r"|replacing|sticking|staying|leaving|buying|adopting|migrating|retiring|postponing)",
        r"rul(?:e|ed|ing) (?:it |that |this )?out|stick(?:s|ing)? (?:with|to)|stays? (?:on|with"
        r"|as)",
        r"(?:moves?|switch(?:es)?|migrates?|goes) (?:over )?to|will (?:run|be built|be based) on",
        r"(?:picked|chose|chosen|selected|opted|preferred) |in favou?r of|approved",
        r"sign(?:ed|s)? off on|green-?lit|locked in|scrap(?:ped|ping)?|scratch|insists? on"
        r"|as of (?:today|now)|cancell?ed|abandon(?:ed)?",
        r"^use .{2,60}(?:, not| instead|, rather)|replaces|is replaced by|will be replaced"
        r"|deprecat(?:e|ed|ing)",
    ),
    PointKind.TODO: (
        r"to-?dos?\b|action items?|action points?|next steps?|task for|homework",
        r"(?:need|needs|needed|have|has|had|got|ought) to|must(?! have| be)|needs? (?:a|an|the) ",
        r"(?:don't|do not|never|mustn't) (?:let me |let us )?forget|remember to|remind",
        r"make sure|be sure to|follow(?:ing)?[- ]up|take care of|look into|get back to",
        r"(?:i|we|he|she|they|[A-Z]\w+)(?:'ll| will| shall) (?:send|write|prepare|check|ask|call"
        r"|fix|update|review|draft|finish|share|book|arrange|order|test|add|document|report|email"
        r"|schedule|deliver|handle|talk|set up|contact|file|open|create|get)",
        r"(?:still|yet) (?:missing|open|pending|outstanding|to be|to do|unwritten|undone|waiting)",
        r"(?:is|are) (?:missing|overdue|outstanding|due)|due (?:by|on|before)|deadline"
        r"|by the end of",
        r"(?:before|by|until) (?:mon|tues|wednes|thurs|fri|satur|sun)day",
        r"(?:before|by|until) (?:next|tomorrow|tonight|the \d|\d{4}-|january|february|march|april"
        r"|may|june|july|august|september|october|november|december|eod|eow)",
        r"assign(?:ed)? to|on (?:my|your|his|her|our|their) plate|blocked (?:by|on)|someone (?:has"
        r"|needs|must|should|will)|is (?:up to|on) (?:me|you|him|her|us|them)|left to do",
        r"please (?:send|write|prepare|check|ask|call|update|review|draft|finish|share|book|arrange"
        r"|make|get|file|create|contact|tell|let .{1,20} know|add|remove|schedule|order)",
        r"(?:not|don't|do not) .{2,40} until|until .{2,40} (?:is|are|has|have)|chase"
        r"|waiting (?:for|on)|haven't .{1,30} yet|hasn't .{1,30} yet|not (?:been )?done yet",
    ),
    PointKind.AGREEMENT: (
        r"agree(?:d|ment)? (?:to|on|that|with|is)|(?:we|both|all)(?:'ve| have)? agreed|as agreed",
        r"from now on|going forward|in (?:the )?future|every time|whenever|at all times"
        r"|^(?:always|never)",
        r"(?:please|we|you|should|must|shall|they) (?:always|never)",
        r"conventions?|rule(?: is|s are|:)|(?:our|the) policy|policy(?: is|:)|ground rules?"
        r"|promised|promise (?:to|that|you|him|her|them|the)|commit(?:ted)? to",
        r"no (?:deploys?|releases?|meetings?|merges?|changes?)|must be|(?:is|are) not allowed",
        r"shook hands|it's a deal|deal:|guarantee[sd]?|by default|sla\b|confirmed",
    ),
    PointKind.CONCLUSION: (
        r"conclusions?|conclude[sd]?|turn(?:s|ed) out|root cause|(?:the )?culprit|boils? down to",
        r"(?:is|was|were|are) (?:caused by|due to|because of|down to)|the reason (?:is|was|for)",
        r"(?:we|i|they) (?:found|learned|learnt|confirmed|proved|verified|established|discovered)",
        r"traced (?:it )?(?:back )?to|the (?:bottleneck|problem|issue|cause|fault|bug) (?:is|was"
        r"|were)",
        r"shows? that|means that|therefore|in the end|bottom line|in short|to sum up|it follows",
        r"(?:is|was|got|been) (?:fixed|solved|resolved)|works now|went (?:down|up) (?:to|by|from)"
        r"|(?:dropped|fell|rose|grew|improved|increased|decreased) (?:to|by|from)",
    ),
    PointKind.FACT: (
        r"responsible for|in charge of|belongs? to|owns|owned by|contact|counterpart|lead for"
        r"|manager|boss|auditor|vendor|supplier|client|partner|maintain(?:s|ed)(?: by)?|host(?:s"
        r"|ed)|located|built by"
        r"|written by|wrote|made by|provided by|(?:is|are|was) (?:called|named) (?-i:[A-Z])"
        r"|reports to|ask",
        r"budget|costs?|price[sd]?|quote[ds]?|salary|revenue|fee|latency|throughput|error rate"
        r"|timeout|limit|quota|retention|capacity|grew|shrank|measured|processed|version"
        r"|(?:contract"
        r"|order|reference|ticket|account|invoice|serial|phone) (?:number|no|id)|reference|address"
        r"|password|port",
    ),
    PointKind.QUESTION: (
        r"open questions?|tbd\b|to be (?:decided|determined|confirmed|clarified)|undecided",
        r"not (?:yet )?(?:clear|decided|known|settled)|unclear|(?:still )?(?:don't|do not) know",
        r"(?:i'm|i am|we're|we are) (?:still )?not sure|remains to be seen|it is unknown",
        r"(?:need|have) to (?:decide|find out|clarify)|wonder(?:ing)? (?:if|whether)|up in the air",
    ),
}

CUES_CHINESE: Final = {
    PointKind.DECISION: (
        r"决定(?!成败|性|于)|定了|定下|敲定|拍板|选定|定为|定在|定成|拍了板|最终选|最后选|最后用"
        r"|最终用",
        r"(?:就|都|还是|统一|一律|改|先|直接|继续|一直)(?:用|走|选|上|买|按|采用|保留|沿用)",
        r"采用|选用|改用|换成|换用|改成|改为|切到|切换到|迁到|迁移到|迁往|搬到|沿用|弃用|停用|启用",
        r"(?:选|选了|选择|挑了|选中)(?![项择]|.{0,3}(?:吗|呢|哪))|不(?:再)?(?:考虑|采用|选|自研"
        r"|支持|做了|用了|改了)",
        r"坚持(?:用|要)|倾向|照.{0,4}办|(?:别|不要)(?:再)?用|作废|下掉|下线|去掉|砍掉|放弃|否决"
        r"|排除|取消|推迟|暂缓|保留|(?:评审|方案|提案|审批|申请).{0,4}通过|批准|批了|同意"
        r"|以.{1,24}为(?:基础|准|主)",
        r"方案(?:是|为|定|用|选)|(?:结论|决议|决策)(?:就)?(?:是|为|[:：])",
    ),
    PointKind.TODO: (
        r"待办|要做的|下一步|后续(?:要|需|得)|行动项|任务[:：是]|需(?:要)?(?:在|把|由|给|完成"
        r"|更新|补|提交|确认|准备|联系)",
        r"需要.{1,12}(?:更新|补充|提交|确认|准备|联系|处理|评审|修改|完成|审|签)",
        r"(?:还|仍|尚|也|就|你|我|他|她|们)(?:得|要|需)(?!是|不|看|么)|还(?:没|差|缺|剩)|尚未"
        r"|没(?:有)?(?:写|做|交|发|签|完成|处理|弄)",
        r"(?:在|要|得|需)等.{1,10}(?:审|批|回|复|确认|签|同意|结果)|别忘|不要忘|记得|记着|提醒"
        r"|跟进|催一?下|落实|抓紧|务必|必须|得把|要把",
        r"(?:[日号月底周一二三四五六天末内点]|明天|后天|今晚|-\d\d)(?:之|以)?前|截止|到期|期限"
        r"|前(?:[我你他她]们?)?(?:要|得|必须|需|把|完成|提交|交|发|给|轮换|更新|上线|做|写)",
        r"我来(?:准备|写|做|负责|跟|联系|处理|改|弄|安排|整理)|(?:由|交给|请|麻烦|让).{1,12}(?:来"
        r"|去|处理|确认|签|审|写|准备|负责|跟|发|更新|评审|补|提供|整理)",
        r"(?:要|会|得)在.{1,14}前|(?:周[一二三四五六日天]|号|日|月底|年底|下周|明天|后天"
        r"|今晚).{0,4}(?:发|交|给|提交|上线|完成|提醒|开会|评审)",
    ),
    PointKind.AGREEMENT: (
        r"约定|约好|商定|说好|谈好|讲好|达成一致|一致同意|达成共识|共识是|答应|承诺|保证",
        r"以后.{0,14}(?:都|要|一律|必须|不|只)|今后|从现在起|从今|往后|一律|凡是|每次.{0,10}(?:都"
        r"|要|必须)|规定|规矩|惯例|默认|统一|(?:规则|原则)(?:上|是|为|[:：])",
        r"不允许|不得|禁止|不准|严禁|必须先",
    ),
    PointKind.CONCLUSION: (
        r"结论|总结(?:一下|下来|[:：])|根因|根本原因|原因(?:是|在于|就是|出在)|归根结底|罪魁祸首",
        r"原来是(?!这样|如此)|查(?:明|出|到了)|定位到|发现(?:了|是|，|问题)|证明|说明(?:了|问题)"
        r"|可见|因此|由此",
        r"问题(?:是|出在|在于|就在)|瓶颈(?:是|在)|导致|已(?:经)?(?:修复|解决|恢复)|修好|解决了"
        r"|验证(?:了|过|通过)|实测",
        r"(?:降|升|涨|跌|减|增|提高|提升|下降|上升|缩短|增长)(?:低|加|少)?(?:到|了|至|为)",
    ),
    PointKind.FACT: (
        r"负责|归.{1,8}管|对接人|联系人|接口人|供应商|主管|经理|老板|审计|客户是|甲方|乙方|合作方是"
        r"|(?:是|由).{1,14}(?:做|写|开发|搭|建|提供|维护|设计|实现|牵头)的?|名叫|[边方师人长司]叫"
        r"|可以(?:问|找)|托管|部署在|放在|存在|位于|找.{1,8}(?:问|要|对接)",
        r"预算|报价|成本|费用|价格|花费|要花|工资|收入|延迟|吞吐|错误率|超时|上限|配额|容量|耗时"
        r"|涨了|降了"
        r"|一共|总共|共计|编号|合同号|单号|账号|电话|邮箱|地址|端口|密码|版本|能扛|压测|活跃|占比"
        r"|比例",
    ),
    PointKind.QUESTION: (
        r"待定|未定|还没定|没想好|待确认|待讨论|有待|不确定|不清楚|不知道.{0,10}(?:是否|要不要"
        r"|能不能)|存疑|疑问",
        r"(?:要不要|是否|该不该).{1,30}(?:还|再|需要)(?:讨论|商量|确认|定)|悬而未决|拿不准",
    ),
}

# Talk about what might be: no decision, and its numbers are no facts.
HYPOTHETICAL_ENGLISH: Final = (
    r"for example|for instance|e\.g\.|suppose|imagine|let's say|if you (?:want|like|prefer)"
    r"|(?:could|would)(?! you)|might|may be|maybe|perhaps|typically|usually|in general|generally"
    r"|option would"
    r"|one option|another option|i can also|should see|let me (?:know|look|check|see|read)|later"
    r"|it depends|not convinced|want me to|shall i|as you can see|say more"
)
HYPOTHETICAL_CHINESE: Final = (
    r"例如|比如|假设|假如|如果|要是|也许|或许|可能|大概率|一般来说|一般|通常|可以(?:考虑|再|在|先"
    r"|给|看)"
    r"|的话|不好说|看情况|举个例子|理论上|应该就?能|以后再|才会|才能"
)

# Words before the matter, which a summary can do without.
LEAD_INS_ENGLISH: Final = (
    r"(?:ok(?:ay)?|right|now|sure|yes|yeah|great|good|fine|alright|thanks|thank you|hi|hello|hey|oh"
    r"|fyi|for the record|to be clear|in any case|anyway|as i said|as discussed|one more thing"
    r"|quick note|heads-?up|in summary|in case you wonder)[,.:!]"
)
JOINING_ENGLISH: Final = (
    r"(?:so|well|and|also|but|then|just|btw|by the way|just so you know|(?:please )?note that"
    r"|actually|basically|i (?:think|guess|believe)(?: that)?),?"
)
LEAD_INS_CHINESE: Final = (
    r"(?:好的?|嗯+|对了?|那么?|然后|另外|还有|顺便(?:说一下|提一下|说一句)?|对了|其实|总之|总的来说"
    r"|说一下|补充一下|我觉得|我认为|我想|我看|可以|行|是的|没错|ok|OK|哦|噢|哈哈|谢谢|你好|就是说)"
)

# What a stated number counts or measures; a bare number says little.
UNITS: Final = (
    r"%|％|‰|percent\b|per cent\b|k\b|m\b|bn\b|ms\b|µs\b|s\b|sec(?:ond)?s?\b|min(?:ute)?s?\b"
    r"|h\b|hours?\b|days?\b|weeks?\b|months?\b|years?\b|users?\b|people\b|customers?\b|rows?\b"
    r"|events?\b|requests?\b|records?\b|items?\b|orders?\b|euros?\b|eur\b|usd\b|dollars?\b|rmb\b"
    r"|[kmgt]i?b\b|km\b|kg\b|m²|°c?|px\b|qps\b|rps\b|tps\b|tokens?\b|files?\b|tickets?\b|seats?\b"
    r"|active\b|nodes?\b|cores?\b|times\b|million\b|billion\b|thousand\b"
    r"|元|块钱|万|亿|千|百|个|人|名|位|条|次|件|份|台|套|天|周|月|年|日|号|小时|分钟|秒|毫秒"
    r"|公里|米|公斤|吨|度|兆|倍|折|户|单|笔|项|节点|核"
)

# How an assistant speaks when it explains or advises: true of anybody, decided by nobody.
ADVICE_ENGLISH: Final = (
    r"\byou(?:'ll|'d|'re| can| could| should| may| might| need| want| have to| must| will| are)\b"
    r"|\byour\b|\bmake sure\b|\bensur(?:e|es|ing)\b|\bconsider\b|\bremember to\b|\brecommend"
    r"|\bit(?:'s| is) (?:important|best|recommended|useful|helpful|good|essential|crucial)\b"
    r"|\bhelps? (?:you|to|in)\b|\ballows?\b|^(?:use|using|add|set|create|define|check|verify|test"
    r"|install|run|update|open|implement|include|provide|start|choose|identify|avoid|keep|review"
    r"|monitor|schedule|write|replace|try|break|plan|follow|call|save|configure|handle|apply"
    r"|gather|research|contact|share|practice|look|prepare|track|read|learn|explore|this)\b"
)
ADVICE_CHINESE: Final = (
    r"建议|您|你(?:可以|需要|应该|要|得|的|也)|可以(?:先|用|选|考虑|把|在|从|通过)|注意|务必|确保"
    r"|最好|不妨|尽量|应当"
    r"|应该|有助于|能够|便于|推荐|切记|不要|避免"
)

# How an assistant begins when it tells what it is doing just now.
OWN_WORK_ENGLISH: Final = (
    r"(?:i'll|i will|i'm going to|i am going to|i need to|i have to|let me|i decided to|i opened"
    r"|i ran|i read|i checked|i looked|i see|i can|i fixed|i found|now i|next,? i|first,? i)"
)
OWN_WORK_CHINESE: Final = (
    r"(?:让?我(?:先|来|再|去|接下来|这就|得先|会|要|决定先|打开|看|跑|读|试|查))"
)
