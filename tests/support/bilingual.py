"""Memories in one language, each with a question about it in the other; and what stands around."""

from typing import Final

CHINESE_ASKED_IN_ENGLISH: Final = {
    "Why did the payment service go down on Friday?": "周五支付服务宕机，因为连接池被耗尽了。",
    "Which drink does Lin Xiao like in the morning?": "林晓早上喜欢喝不加糖的美式咖啡。",
    "How long do login tokens stay valid?": "登录令牌的有效期改成了十五分钟，刷新令牌为七天。",
    "Who is responsible for the order service?": "订单服务由后端组的王磊负责。",
    "When will we move to the new data centre?": "新机房的搬迁定在三月的第二个周末。",
    "What did the customer complain about?": "客户投诉说导出的报表里中文全是乱码。",
}
ENGLISH_ASKED_IN_CHINESE: Final = {
    "我们为什么放弃了 MongoDB？": "We dropped MongoDB: its transactions were too slow for billing.",
    "谁对花生过敏？": "Maria is allergic to peanuts, so no satay at the team dinner.",
    "压力测试的结果怎么样？": "The load test reached 1,200 requests per second at most.",
    "备份保存多久？": "Backups are kept for ninety days and then deleted automatically.",
    "孩子的生日派对在哪里办？": "The kid's birthday party will be at the climbing hall.",
    "内存泄漏的原因是什么？": "The memory leak came from event listeners never removed.",
}
AROUND: Final = (
    "周报每周五下午四点前提交到共享文件夹。",
    "前端组把按钮的颜色统一成了深蓝色。",
    "小宇的自行车坏了，要送去修理店。",
    "会议室的投影仪已经换成了新的。",
    "测试环境的域名证书下个月到期。",
    "周末我们去郊外爬山，天气很好。",
    "The office plants are watered every Tuesday morning.",
    "We renamed the marketing folder and archived last year's slides.",
    "The train to the coast leaves at half past eight.",
    "The logo on the landing page was replaced by a vector image.",
    "Our new intern started in the design team this week.",
    "The printer on the third floor is out of toner again.",
)
