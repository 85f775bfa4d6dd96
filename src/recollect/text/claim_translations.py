"""Chinese words whose concept is that of an English word: so a fact is known in either language.

Verbs, kin and most nouns share their concepts by the keys of the lists. These are the values that
people give: members of a class (colours, trades …), places and companies.
"""

from typing import Final

MEMBERS: Final = """
    红色 red, 蓝色 blue, 绿色 green, 黄色 yellow, 黑色 black, 白色 white, 灰色 grey, 橙色 orange,
    紫色 purple, 粉色 pink, 棕色 brown, 银色 silver, 金色 gold, 青色 cyan, 米色 beige, 茶 tea,
    咖啡 coffee, 啤酒 beer, 果汁 juice, 水 water, 牛奶 milk, 可乐 cola, 拿铁 latte, 素食 vegetarian,
    纯素 vegan, 狗 dog, 猫 cat, 仓鼠 hamster, 兔子 rabbit, 鹦鹉 parrot, 金鱼 goldfish, 乌龟 turtle,
    英语 english, 德语 german, 法语 french, 西班牙语 spanish, 意大利语 italian, 葡萄牙语 portuguese,
    中文 chinese, 粤语 cantonese, 日语 japanese, 韩语 korean, 俄语 russian, 阿拉伯语 arabic,
    深色 dark, 浅色 light, 工程师 engineer, 架构师 architect, 程序员 programmer, 护士 nurse,
    医生 doctor, 律师 lawyer, 记者 journalist, 会计 accountant, 厨师 chef, 教授 professor,
    研究员 researcher, 分析师 analyst, 顾问 consultant, 摄影师 photographer, 演员 actor,
    牙医 dentist, 农民 farmer, 失业 unemployed, 单身 single, 离婚 divorced, 订婚 engaged,
    前端 frontend, 后端 backend, 桌面 desktop, 制表符 tab, 空格 space, 列表 list, 字典 dictionary,
    元组 tuple, 字符串 string, 整数 integer, 数组 array, 初级 junior, 高级 senior
"""
PLACES: Final = """
    北京 beijing, 上海 shanghai, 广州 guangzhou, 深圳 shenzhen, 杭州 hangzhou, 南京 nanjing,
    成都 chengdu, 武汉 wuhan, 西安 xian, 苏州 suzhou, 天津 tianjin, 重庆 chongqing, 厦门 xiamen,
    青岛 qingdao, 台北 taipei, 东京 tokyo, 大阪 osaka, 京都 kyoto, 首尔 seoul, 新加坡 singapore,
    曼谷 bangkok, 悉尼 sydney, 墨尔本 melbourne, 伦敦 london, 巴黎 paris, 里昂 lyon, 柏林 berlin,
    慕尼黑 munich, 汉堡市 hamburg, 法兰克福 frankfurt, 维也纳 vienna, 苏黎世 zurich, 日内瓦 geneva,
    罗马 rome, 米兰 milan, 马德里 madrid, 巴塞罗那 barcelona, 里斯本 lisbon, 波尔图 porto,
    阿姆斯特丹 amsterdam, 布鲁塞尔 brussels, 哥本哈根 copenhagen, 斯德哥尔摩 stockholm, 奥斯陆 oslo,
    赫尔辛基 helsinki, 华沙 warsaw, 布拉格 prague, 布达佩斯 budapest, 雅典 athens, 莫斯科 moscow,
    都柏林 dublin, 爱丁堡 edinburgh, 芝加哥 chicago, 波士顿 boston, 西雅图 seattle, 多伦多 toronto,
    温哥华 vancouver, 蒙特利尔 montreal, 迪拜 dubai, 孟买 mumbai, 开罗 cairo, 中国 china,
    日本 japan, 韩国 korea, 德国 germany, 法国 france, 英国 britain, 美国 america, 意大利 italy,
    西班牙 spain, 葡萄牙 portugal, 荷兰 netherlands, 瑞士 switzerland, 瑞典 sweden, 挪威 norway,
    丹麦 denmark, 芬兰 finland, 俄罗斯 russia, 印度 india, 泰国 thailand, 越南 vietnam,
    加拿大 canada, 澳大利亚 australia, 巴西 brazil, 墨西哥 mexico, 埃及 egypt
"""
COMPANIES: Final = """
    华为 huawei, 小米公司 xiaomi, 腾讯 tencent, 阿里巴巴 alibaba, 百度 baidu, 字节跳动 bytedance,
    西门子 siemens, 谷歌 google, 微软 microsoft, 苹果公司 apple, 亚马逊 amazon, 特斯拉 tesla,
    钉钉 dingtalk, 飞书 lark
"""


def by_chinese(text: str) -> dict[str, str]:
    """The English word of each Chinese one in such a list."""
    words = text.replace(",", " ").split()
    return dict(zip(words[::2], words[1::2], strict=True))
