"""What else happened in the two months of scenario 1: meetings, small fixes, "好的", other work.

None of it says what the agent asks for in the end; some of it is near, as in real weeks.
"""

from datetime import timedelta
from typing import Final

from mnemolog.demo.telling import Told, answered, called, decided, ended, said, saw


def _day(days_ago: int, clock: str) -> timedelta:
    hours, minutes = clock.split(":")
    return timedelta(days=-days_ago, hours=int(hours) - 24, minutes=int(minutes))


WEEKS: Final[list[Told]] = [
    said("w-01", _day(57, "09:30"), "赵敏", "周会：首页改版推到下个月，先把注册流程做顺"),
    answered("w-02", _day(57, "09:31"), "好的"),
    *called("w-03", _day(56, "14:10"), "eslint", result="12 warnings fixed in the cart pages"),
    said(
        "w-04", _day(54, "10:00"), "Tom", "The thumbnails on the product page are blurry on iPads"
    ),
    answered("w-05", _day(54, "10:01"), "ok"),
    ended(
        "w-06",
        _day(53, "16:40"),
        "Thumbnails are rendered at twice the size",
        lesson="Always look at images on a screen with a high pixel density before closing",
        task="thumbnails",
    ),
    saw("w-07", _day(52, "11:20"), "CI takes 14 minutes; 9 of them install packages"),
    decided(
        "w-08",
        _day(52, "15:00"),
        "Cache the package folder between CI runs, keyed by the lock file",
        why="It changes twice a week and is installed sixty times a day",
        task="ci-speed",
    ),
    said("w-09", _day(51, "17:30"), "Tom", "收到"),
    said("w-10", _day(49, "09:30"), "赵敏", "周会：注册转化率从 31% 到了 38%，大家辛苦"),
    said("w-11", _day(47, "13:00"), "李航", "导出订单的 CSV 一到五万行就内存不够"),
    ended(
        "w-12",
        _day(46, "18:20"),
        "五万行的导出现在只占 40 MB",
        lesson="导出大文件要边查边写，不要先把全部行读进内存",
        task="csv-export",
    ),
    answered("w-13", _day(46, "18:25"), "继续"),
    saw("w-14", _day(44, "10:15"), "The cookie banner covers the checkout button on small phones"),
    *called("w-15", _day(44, "11:40"), "playwright", result="checkout: 8 passed on 3 phone sizes"),
    decided(
        "w-16",
        _day(42, "14:30"),
        "商品列表改用游标分页，每页 24 个",
        why="翻到第 200 页时 OFFSET 查询要 3 秒",
        task="product-list",
    ),
    said("w-17", _day(41, "09:30"), "赵敏", "周会：客服希望后台能按手机号找订单"),
    said("w-18", _day(40, "16:00"), "Tom", "Could the search forgive typos? People type 'jaket'"),
    decided(
        "w-19",
        _day(38, "11:00"),
        "Search uses trigrams, with a similarity of 0.4 or more",
        why="Levenshtein over 80,000 names took 600 ms",
        task="search",
    ),
    answered("w-20", _day(38, "11:02"), "Done."),
    saw("w-21", _day(36, "15:45"), "支付渠道的沙箱每天凌晨两点维护半小时"),
    said("w-22", _day(34, "10:30"), "李航", "发票 PDF 里生僻字都变成方框了"),
    *called("w-23", _day(34, "17:10"), "pytest", result="invoices: 19 passed with Noto Sans CJK"),
    ended("w-24", _day(33, "12:00"), "发票里的生僻字都能显示了", task="invoice-fonts"),
    said("w-25", _day(31, "09:30"), "赵敏", "周会：双十一之前页面冻结两周"),
    saw("w-26", _day(29, "14:00"), "The Docker image shrank from 1.1 GB to 240 MB"),
    decided(
        "w-27",
        _day(27, "10:00"),
        "The partner's API keys are rotated every quarter, by the first Monday",
        why="Their contract asks for it",
        task="partner-keys",
    ),
    said("w-28", _day(25, "18:00"), "Tom", "谢谢"),
    saw("w-29", _day(23, "11:30"), "后台角色列表里有三个没人用的角色"),
    *called("w-30", _day(21, "16:20"), "lighthouse", result="home 71 -> 93 after lazy images"),
    said("w-31", _day(19, "09:30"), "赵敏", "周会：新同事下周到，准备一份本地环境的说明"),
    answered("w-32", _day(19, "09:31"), "收到"),
    said("w-33", _day(16, "13:30"), "李航", "两步验证先不做，等法务的意见"),
    ended(
        "w-34",
        _day(14, "17:00"),
        "The guide for newcomers takes 20 minutes from clone to shop",
        lesson="Let somebody new follow a guide while you only watch",
        task="newcomer-guide",
    ),
    saw("w-35", _day(11, "10:40"), "Memory of the image worker grows by 30 MB a day"),
    said("w-36", _day(9, "15:15"), "Tom", "Can the size chart be shown in centimetres?"),
    *called("w-37", _day(7, "11:00"), "stylelint", error="unknown property 'gap-x' in size-chart"),
    said("w-38", _day(5, "09:30"), "赵敏", "周会：手机端下个迭代开工，接口先定下来"),
    answered("w-39", _day(5, "09:32"), "好的，没问题"),
    saw("w-40", _day(2, "16:00"), "两台 web 服务器的磁盘都用到了 60%"),
]
