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

# Everyday things whose first gloss is another sense (酒店 "wine shop", 老公 "eunuch"), a definition
# (停电 "have a power failure") or a rarer word (密码 "cipher") than people write.
_EVERYDAY: Final = """
酒店 hotel, 餐厅 restaurant, 食堂 canteen, 市场 market, 病人 patient, 体检 medical checkup,
药片 pill, 打针 injection, 发烧 fever, 感冒 a cold, 头痛 headache, 牙疼 toothache,
眼镜 glasses, 背 back, 过敏 allergic, 受伤 hurt, 骨折 broken bone, 失眠 insomnia, 睡觉 sleep,
起床 get up, 体重 weight, 足球 football, 爬山 hiking, 散步 walk, 运动 sport, 锻炼 exercise,
教练 coach, 妈妈 mother, 妈 mother, 爷爷 grandfather, 奶奶 grandmother,
外公 maternal grandfather, 外婆 maternal grandmother, 姥姥 maternal grandmother,
姥爷 maternal grandfather, 老公 husband, 太太 wife, 先生 Mr, 对象 partner, 宝宝 baby,
婴儿 baby, 孙女 granddaughter, 侄子 nephew, 侄女 niece, 外甥 nephew, 外甥女 niece, 叔叔 uncle,
阿姨 aunt, 舅舅 maternal uncle, 姑姑 paternal aunt, 姨妈 maternal aunt, 伯伯 uncle,
表哥 older male cousin, 表姐 older female cousin, 表弟 younger male cousin,
表妹 younger female cousin, 堂哥 older male cousin, 堂弟 younger male cousin,
堂姐 older female cousin, 堂妹 younger female cousin, 姐夫 brother-in-law,
妹夫 brother-in-law, 嫂子 sister-in-law, 岳父 father-in-law, 岳母 mother-in-law,
公公 father-in-law, 婆婆 mother-in-law, 同学 classmate, 领导 boss, 主管 supervisor,
客户 customer, 司机 driver, 快递员 courier, 早上 morning, 早晨 morning, 夜里 at night,
凌晨 early morning, 昨晚 last night, 平时 usually, 上旬 early in the month,
中旬 middle of the month, 下旬 end of the month, 底 end, 放假 holiday, 请假 take leave,
休假 vacation, 纪念日 anniversary, 婚礼 wedding, 去世 died, 上班 work, 出差 business trip,
开会 meeting, 面试 interview, 入职 start a job, 离职 leave a job, 工资 salary, 奖金 bonus,
发工资 pay salary, 晚饭 dinner, 晚餐 dinner, 零食 snacks, 姜 ginger, 辣 spicy, 咸 salty,
鸡肉 chicken, 牛奶 milk, 奶 milk, 可乐 cola, 果汁 juice, 吃素 vegetarian, 外卖 takeout,
点菜 order food, 做饭 cook, 炒 fry, 蒸 steam, 口味 taste, 公寓 apartment, 房租 rent, 租 rent,
电费 electricity bill, 燃气费 gas bill, 利率 interest rate, 装修 renovate,
客厅 living room, 门 door, 密码 password, 无线网 wifi, 平板 tablet, 包裹 parcel,
背包 backpack, 手表 watch, 钱包 wallet, 宠物 pet, 小狗 puppy, 存钱 save money,
攒钱 save money, 还钱 pay back, 存款 savings, 积蓄 savings, 账户 account,
报销 reimbursement, 打折 discount, 优惠 discount, 卡 card, 会员卡 membership card,
健身卡 gym card, 付款 pay, 扣款 debit, 股票 stocks, 续保 renew insurance, 报税 file taxes,
收入 income, 支出 expenses, 花费 spend, 二手 second-hand, 高铁 high-speed train,
地铁 subway, 公交 bus, 公交车 bus, 停车 parking, 车站 station, 机票 plane ticket, 行程 trip,
民宿 guesthouse, 订 book, 预订 book, 预约 appointment, 老家 hometown, 海边 seaside,
项目 project, 任务 task, 开发 develop, 部署 deploy, 评审 review, 服务 service, 内存 memory,
崩溃 crash, 错误 error, 修复 fix, 修 repair, 维修 repair, 维护 maintain, 登录 login,
权限 permission, 管理员 administrator, 恢复 restore, 升级 upgrade, 更新 update,
配置 configuration, 生产环境 production environment, 前端 front end, 后端 back end,
框架 framework, 依赖 dependency, 性能 performance, 超时 timeout, 日志 log, 报警 alarm,
文档 document, 报告 report, 周报 weekly report, 演示 demo, 截止 deadline, 截止日期 deadline,
提前 earlier, 担心 worried, 准备 prepare, 爱好 hobby, 教 teach, 考试 exam, 作业 homework,
成绩 result, 唱歌 sing, 应用 app, 照片 photo, 戒烟 quit smoking, 几号 which date, 在哪 where,
哪家 which, 哪间 which, 多远 how far, 多长 how long, 多高 how tall, 多重 how heavy,
几次 how many times, 几年 how many years, 几天 how many days, 到期 expire, 过期 expired,
带 bring, 接 pick up, 送 bring, 拿 take, 换 change, 坏 broken, 关 close, 找 look for,
联系 contact, 邮箱 email, 邮件 email, 微信 WeChat, 生意 business, 觉得 think, 告诉 tell,
必须 must, 刚 just, 正在 now, 一直 always, 一起 together, 特别 especially, 比较 rather,
挺 quite, 一次 once, 两次 twice, 块钱 yuan, 腰 lower back, 腰疼 back pain, 腰痛 back pain,
公积金 housing fund, 挂号 doctor appointment, 急诊 emergency room, 化验 lab test,
拍片 X-ray, 验血 blood test, 复查 checkup, 复诊 follow-up visit, 处方 prescription,
颈椎 neck, 洗牙 teeth cleaning, 预产期 due date, 打疫苗 get vaccinated, 保健品 supplements,
感染 infection, 困 sleepy, 胖 fat, 矮 short, 老 old, 漂亮 beautiful, 聪明 smart, 开心 happy,
难过 sad, 生气 angry, 压力 stress, 性格 personality, 内向 introverted, 脾气 temper,
紫菜 seaweed, 鸡翅 chicken wings, 拉面 ramen, 菜 dish, 菜谱 recipe, 点心 snack, 荔枝 lychee,
榴莲 durian, 盘子 plate, 勺子 spoon, 羽绒服 down jacket, 内衣 underwear, 睡衣 pajamas,
护肤品 skincare, 化妆品 cosmetics, 窗帘 curtains, 马桶 toilet, 停电 power cut,
断网 internet outage, 楼 building, 楼梯 stairs, 旁边 beside, 右边 right, 前面 in front,
后面 behind, 加油 refuel, 充电 charge, 充电桩 charging station, 违章 traffic violation,
罚单 fine, 行驶证 vehicle license, 保养 maintenance, 托运 check in luggage,
转机 change planes, 直飞 direct flight, 商务舱 business class, 头等舱 first class,
延误 delayed, 退票 refund a ticket, 改签 rebook, 卧铺 sleeper, 攻略 guide,
自由行 independent travel, 跟团 group tour, 露营 camping, 钓鱼 fishing,
特产 local specialty, 美元 US dollars, 日元 Japanese yen, 公众号 WeChat account,
小红书 Xiaohongshu, 美团 Meituan, 快递单号 tracking number, 退货 return goods,
售后 after-sales, 保修 warranty, 积分 points, 红包 red envelope, 月供 monthly payment,
分期 installments, 理财 investment, 亏 lose money, 兼职 part-time job, 实习 internship,
试用期 probation period, 年假 annual leave, 述职 performance review, 晋升 promotion,
创业 start a business, 原型 prototype, 排期 schedule, 进度 progress, 复盘 retrospective,
晨会 morning meeting, 站会 standup meeting, 待办 to-do, 优先级 priority, 热修复 hotfix,
漏洞 vulnerability, 安全 security, 令牌 token, 证书 certificate, 端口 port, 代理 proxy,
网关 gateway, 负载 load, 集群 cluster, 容器 container, 镜像 image, 仓库 repository,
定时任务 scheduled job, 队列 queue, 消息 message, 进程 process, 并发 concurrency, 查询 query,
字段 field, 表 table, 主键 primary key, 事务 transaction, 重构 refactor, 注释 comment,
命名 naming, 规范 rules, 类 class, 返回值 return value, 编译 compile, 打包 package,
算法 algorithm, 按钮 button, 后台 backend, 账号 account, 程序 program,
产品经理 product manager, 测试员 tester, 总监 director, 董事长 chairman, 前台 front desk,
保安 security guard, 兴趣班 hobby class, 补习班 tutoring class, 班主任 class teacher,
校长 principal, 作文 essay, 语文 Chinese, 生物 biology, 考研 graduate entrance exam,
托福 TOEFL, 专业 major, 本科 bachelor's degree, 博士 PhD, 属相 zodiac sign,
星座 zodiac sign, 籍贯 hometown, 民族 ethnic group, 单身 single, 分手 break up,
葬礼 funeral, 清明 Qingming Festival, 端午 Dragon Boat Festival, 熬夜 stay up late,
打牌 play cards, 读书 read, 追剧 watch TV series, 看电影 watch movies, 打游戏 play games,
养猫 keep a cat, 养狗 keep a dog, 养 keep, 小提琴 violin, 太极 tai chi, 徒步 hiking,
登山 hiking, 喂 feed, 洗澡 bath, 洗衣服 do laundry, 刷牙 brush teeth, 收拾 tidy up,
整理 tidy up, 擦 wipe, 倒垃圾 take out trash, 买菜 buy groceries, 逛街 go shopping,
取 pick up, 取钱 withdraw money, 取快递 pick up parcel, 打印 print, 申请 apply,
审批 approve, 通过 pass, 结束 end, 增加 increase, 减少 decrease, 提高 increase, 建议 suggest,
参加 attend, 举办 hold, 迟到 late, 约会 date, 聚餐 dinner together, 请客 treat to a meal,
送礼 give a gift, 吵 noisy, 乱 messy, 快 fast, 晚 late, 热 hot, 遍 times, 趟 trip,
片 piece, 包 bag, 层 floor, 克 gram, 升 liter, 度 degree, 上线 launch, 备用 spare,
冠军 champion, 打车 take a taxi
"""


def _table() -> dict[str, str]:
    table = dict.fromkeys(_SAID_BY_NOTHING, "")
    for entry in f"{_SAID_OTHERWISE},{_EVERYDAY}".split(","):
        word, said = entry.split(maxsplit=1)
        table[word] = said
    return table


COMMON_WORDS: Final = _table()
