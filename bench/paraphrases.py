"""Questions that share (almost) no word with the memory they ask for, in two languages.

Written for this benchmark. Each topic has a memory in English and in Chinese that say the same,
and a question in each language: so a question can be asked of either language's memories. The
identifier questions have one right memory each, and words cannot be spared there.
"""

from typing import Final, NamedTuple


class Topic(NamedTuple):
    memory_en: str
    memory_zh: str
    question_en: str
    question_zh: str


TOPICS: Final = (
    Topic(
        "The nightly backup ran out of disk space on the archive host.",
        "夜间备份把归档主机的硬盘写满了。",
        "Why is yesterday's copy of our data missing?",
        "昨天的数据副本怎么没有生成？",
    ),
    Topic(
        "We settled on PostgreSQL since the team knows it best.",
        "大家最熟悉 PostgreSQL，所以选它。",
        "Which database was chosen, and what was the reason?",
        "数据库用哪一种，理由是什么？",
    ),
    Topic(
        "Customers complain that the checkout page takes ten seconds to load.",
        "顾客抱怨结账页要十秒才能打开。",
        "Where do buyers feel the site is slow?",
        "买家觉得网站哪里慢？",
    ),
    Topic(
        "Never deploy on Friday afternoon.",
        "禁止在周五下午发布。",
        "When must releases not go out?",
        "什么时间不能上线？",
    ),
    Topic(
        "Lin Xiao drinks coffee without sugar.",
        "林晓喝咖啡不放糖。",
        "How does she like her morning beverage?",
        "她早上的饮品有什么口味偏好？",
    ),
    Topic(
        "The certificate of the payment gateway expires on 3 May.",
        "支付网关的证书五月三日到期。",
        "Until which date will TLS to the card processor work?",
        "刷卡接口的加密连接能用到哪天？",
    ),
    Topic(
        "A memory leak in the image resizer made the pods restart every hour.",
        "图片缩放服务内存泄漏，容器每小时重启一次。",
        "What kept crashing the thumbnails component?",
        "缩略图模块为何反复崩溃？",
    ),
    Topic(
        "The intern broke the build by committing generated files.",
        "实习生提交了自动生成的文件，导致构建失败。",
        "Who made CI go red, and how?",
        "谁把流水线弄红了？",
    ),
    Topic(
        "Translations are due to the agency by the end of the quarter.",
        "译文要在季度末之前交给代理公司。",
        "What is the deadline of the localisation work?",
        "本地化工作的截止期是什么时候？",
    ),
    Topic(
        "The user prefers short answers with bullet points.",
        "用户喜欢分点列出的简短回复。",
        "In what style should I reply?",
        "我应该用怎样的风格作答？",
    ),
    Topic(
        "Passwords are hashed with Argon2, not with bcrypt.",
        "密码散列使用 Argon2，而不是 bcrypt。",
        "How do we store login secrets?",
        "登录凭据怎样保存？",
    ),
    Topic(
        "Wei moved to the Berlin office in spring.",
        "小魏春天调到了柏林办公室。",
        "In which city does my colleague work now?",
        "那位同事现在在哪座城市上班？",
    ),
    Topic(
        "The load test topped out at 1,200 requests a second.",
        "压力测试最高达到每秒一千二百个请求。",
        "How much traffic can the system take?",
        "系统最多能承受多大流量？",
    ),
    Topic(
        "Refunds above 500 euros need a manager's approval.",
        "超过五百欧元的退款须经主管批准。",
        "Who has to sign off when a lot of money goes back to a client?",
        "给客户退一大笔钱要谁点头？",
    ),
    Topic(
        "The old search cluster was switched off for good.",
        "旧的搜索集群已经彻底停用。",
        "Is the previous Elasticsearch still running?",
        "以前的检索服务器还在运行吗？",
    ),
    Topic(
        "My daughter is allergic to peanuts.",
        "我女儿对花生过敏。",
        "Which food must the child avoid?",
        "孩子不能吃什么？",
    ),
    Topic(
        "Logs are kept for thirty days, then deleted.",
        "日志保留三十天后删除。",
        "For how long can we look back at what the servers wrote?",
        "服务器的记录能回查多久？",
    ),
    Topic(
        "The train strike made half of the audience miss the talk.",
        "火车罢工使一半听众错过了演讲。",
        "Why were so few people at the presentation?",
        "那场报告为什么人那么少？",
    ),
    Topic(
        "Retrying the upload with smaller chunks fixed the time-outs.",
        "把上传分成更小的块后重试，超时就消失了。",
        "What helped against the failing file transfers?",
        "文件传不上去后来怎么解决的？",
    ),
    Topic(
        "The landlord will repair the heating on Tuesday.",
        "房东周二来修暖气。",
        "When will it be warm in the flat again?",
        "公寓哪天能重新暖和起来？",
    ),
    Topic(
        "Legal wants the cookie banner removed for logged-in visitors.",
        "法务要求对已登录的访客去掉 Cookie 横幅。",
        "What did the lawyers ask of the front end?",
        "律师对前端提了什么要求？",
    ),
    Topic(
        "The new hire's laptop has not arrived yet.",
        "新同事的笔记本电脑还没送到。",
        "What equipment is the rookie still waiting for?",
        "新人还在等什么设备？",
    ),
    Topic(
        "Prices are stored in cents to avoid rounding errors.",
        "价格以分为单位保存，避免舍入误差。",
        "How do we represent amounts of money?",
        "金额在系统里怎么表示？",
    ),
    Topic(
        "The hiking trip was cancelled because of heavy rain.",
        "因为大雨，徒步活动取消了。",
        "Why did nobody go into the mountains?",
        "大家为什么没去爬山？",
    ),
)

# A question, and the one memory that it asks for.
IDENTIFIERS: Final = (
    ("what was the cause of INC-21234?", "INC-21234: the DNS entry pointed to the old address."),
    ("INC-21243 的原因是什么", "INC-21243：交换机固件有缺陷，导致丢包。"),
    ("which test covers parse_invoice_date", "Added a unit test for parse_invoice_date."),
    ("parse_invoice_total 哪里有问题", "parse_invoice_total 把负数当成零处理了。"),
    ("what changed in src/billing/gateway.py?", "Moved the retry loop of src/billing/gateway.py."),
    ("src/billing/gate.py 里有什么", "src/billing/gate.py 负责限流。"),
    ("who owns the billing-gw service", "billing-gw belongs to Ana's team."),
    ("error E4031 when signing in", "E4031 means that the clock of the device is wrong."),
    ("E4013 是什么错误", "E4013 表示令牌签名不匹配。"),
    ('what about "purple lantern"?', 'The code name of the launch is "purple lantern".'),
    ("is v2.14.3 affected?", "v2.14.3 has the fix of the session fault."),
    ("v2.14.1 有问题吗", "v2.14.1 会丢失会话。"),
)
