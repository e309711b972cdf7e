"""The daily chatter of scenario 2: what twelve people say while they work, and "收到"."""

from datetime import timedelta
from typing import Final

from mnemolog.demo.telling import Told, answered, called, said


def on(day: int, clock: str) -> timedelta:
    """Return how long after the start of day 1 it is *clock*, such as "09:05", on *day*."""
    hours, minutes = clock.split(":")
    return timedelta(days=day - 1, hours=int(hours), minutes=int(minutes))


CHATTER: Final[list[Told]] = [
    said("c-01", on(1, "09:38"), "周宁", "好的"),
    answered("c-02", on(1, "09:39"), "收到"),
    said("c-03", on(1, "14:00"), "林晓", "下单页的骨架屏我今天先画出来"),
    said("c-04", on(1, "16:30"), "Tom", "Which icon set are we on, the old one or Lucide?"),
    said("c-05", on(2, "09:30"), "Maya", "The cart badge shows 0 for a blink, I am looking at it"),
    said("c-06", on(2, "10:10"), "李伟", "库存服务的种子数据我生成了一万条"),
    said("c-07", on(2, "11:20"), "Sara", "Grafana 升到 11 了，看板链接没变"),
    *called("t-01", on(2, "16:20"), "eslint", result="web: 0 errors, 7 warnings in 214 files"),
    said("c-08", on(2, "15:45"), "Jonas", "ok"),
    said("c-09", on(2, "17:10"), "周宁", "通知模板的英文版谁能帮忙校对一下"),
    said("c-10", on(3, "09:30"), "Priya", "auth 的单元测试从 6 分钟降到 2 分钟"),
    said("c-11", on(3, "10:40"), "Tom", "I'll take the proofreading"),
    said("c-12", on(3, "17:30"), "林晓", "空购物车的插画换成了新的"),
    *called("t-02", on(3, "18:05"), "deploy notification", result="3 replicas rolled, 41 s"),
    said("c-13", on(4, "09:30"), "Diego", "Two alerts last night, both were the backup job"),
    said("c-14", on(4, "10:20"), "陈晨", "支付渠道给了沙箱账号，我先把下单到付款串起来"),
    said("c-15", on(4, "11:00"), "Maya", "谢谢"),
    *called("t-03", on(4, "13:30"), "jest auth", error="refresh.test.ts: expected 401, got 200"),
    said("c-16", on(4, "14:50"), "赵磊", "备份挪到凌晨四点，避开对账"),
    said(
        "c-17", on(4, "16:15"), "周宁", "The push permission prompt now waits for the first order"
    ),
    said("c-18", on(5, "09:30"), "Jonas", "Retries of notification mails back off up to an hour"),
    *called("t-04", on(5, "10:05"), "npm audit", result="2 moderate findings, none in production"),
    said("c-19", on(5, "14:10"), "林晓", "结账页的表单校验文案统一了"),
    said("c-20", on(5, "16:00"), "Tom", "Team lunch next Thursday, who is vegetarian?"),
    *called("t-05", on(5, "17:30"), "chromatic", result="18 of 312 snapshots of the web differ"),
    said("c-21", on(6, "11:00"), "王芳", "周末值班表更新了，这周是 Sara"),
    *called(
        "t-06", on(6, "04:10"), "pg_dump", result="5 databases, 3.4 GB, 6 min, copied off site"
    ),
    said("c-22", on(7, "10:00"), "Sara", "Quiet weekend so far, one certificate renewed itself"),
    said("c-23", on(8, "09:30"), "Priya", "Refresh tokens are behind a flag, off for everybody"),
    said("c-24", on(8, "10:15"), "李伟", "盘点接口多返回了一个字段，我删掉了"),
    said("c-25", on(8, "11:30"), "Maya", "Dark mode looks odd on the receipt, known, low priority"),
    said("c-26", on(8, "16:40"), "Diego", "好的，继续"),
    said("c-27", on(9, "09:30"), "陈晨", "退款用例补了 9 条，明天上午演示"),
    said("c-28", on(9, "10:50"), "周宁", "短信签名审核通过了"),
    said("c-29", on(9, "13:20"), "Tom", "Lunch is booked, two vegetarians"),
    said("c-30", on(9, "15:30"), "赵磊", "磁盘告警的阈值从 80% 调到 85%"),
    said("c-31", on(9, "17:00"), "Jonas", "Staging was reset to Tuesday's snapshot"),
    said("c-32", on(11, "09:30"), "林晓", "演示很顺利，付款页零报错"),
    said("c-33", on(11, "12:30"), "Maya", "Lunch!"),
    said("c-34", on(12, "09:30"), "Sara", "The on-call handbook has a page on refunds now"),
    said("c-35", on(12, "15:00"), "李伟", "下周开始整理库存服务的遗留接口"),
]
