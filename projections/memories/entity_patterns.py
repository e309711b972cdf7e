r"""What identifiers, addresses, paths, versions and amounts look like; strongest first.

Each pattern is linear in the text: no start inside a run that another start has scanned, no
nested repeats over the same characters. `\w` is ASCII here: Chinese may stand on either side.
"""

import re
from typing import Final

import regex

_UNITS = (
    "[mµun]s|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|days?|weeks?|months?|years?"
    "|[kKMGTP]i?B|[kKMG]?bps|[kMG]?Hz|bytes?|bits?|qps|rps|tps|QPS|RPS|TPS|px|rpm"
    "|m|km|cm|mm|g|kg|mg|lbs?|miles?|USD|EUR|CNY|RMB|dollars?|euros?|yuan|percent|points?"
    "|tokens?|requests?|users?|people|rows?|events?|connections?|times|items?|files?|lines?"
    "|tests?|errors?|retries|threads?|cores?|nodes?|pods?|replicas?|services?|teams?|tickets?"
)
_CHINESE_UNITS = (
    "毫秒|微秒|纳秒|秒钟?|分钟|小时|天|周|星期|年|美元|欧元|元|块钱?|人|名|位|台|条|次|件|张|页|行|倍"
    "|岁|公里|千米|米|厘米|毫米|公斤|千克|克|斤|吨|字节|兆|项|份|种|组|轮|家|辆|本|杯|只|层|句|度"
)
_COUNTED = "月|小时|半小时|星期|人|工作日"  # after 个; of another noun two characters are taken
_PARTICLES = "的了吗呢吧啊在是有和与或把被就都也很不没要会能可以后前左右内多来"
# Possessive: no unit begins with a digit, a comma or a dot, so that to give some back is in vain.
_NUMBER = r"[+-]?\d++(?:,\d{3})*+(?:\.\d++)?+"
_SEGMENT = r"[\w.+@~%-]"

URL: Final = (
    r"(?<![\w+.-])[A-Za-z][A-Za-z0-9+.-]{1,15}://"
    r"[^\s<>\"'`|\x00「」『』《》“”，。；、（）()\[\]{}\p{Han}]*[[\p{L}\p{N}/]--\p{Han}]"
)
EMAIL: Final = r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+"
MENTION: Final = r"(?<![\w.@])@(?:\w[\w-]+|\p{Han}{2,4})"
PATH: Final = (
    r"(?<![\w/\\.+@~%-])(?:"
    rf"(?:~|\.{{1,2}})?(?:/{_SEGMENT}+){{2,}}"  # /a/b, ./a/b, ~/a/b
    rf"|(?:~|\.{{1,2}})/{_SEGMENT}+"  # ./a
    rf"|[A-Za-z_.]{_SEGMENT}*(?:/{_SEGMENT}+)*/{_SEGMENT}*\.[A-Za-z]\w{{0,7}}"  # a/b.py
    rf"|[A-Za-z_.]{_SEGMENT}*(?:/{_SEGMENT}+){{2,}}"  # a/b/c
    r"|[A-Za-z]:(?:\\[\w.~-]+)+"  # C:\a\b
    r")(?<![.-])"
)
DATE: Final = (
    r"(?=\d)(?:"  # no start elsewhere is tried
    r"(?<![\w.-])\d{4}-\d{1,2}-\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z?)?(?![\w-])"
    r"|(?<!\d)(?:\d{4}年(?:\d{1,2}月(?:\d{1,2}[日号])?)?|\d{1,2}月\d{1,2}[日号])"
    r"|(?<![\w:])\d{1,2}:\d{2}(?::\d{2})?(?![\w:]))"
)
VERSION: Final = r"(?<![\w.-])(?:v\d+(?:\.\d+)*|\d+\.\d+\.\d+(?:\.\d+)*)(?:-[A-Za-z0-9.]+)?(?!\w)"
_MONEY = rf"[$€£¥]\s?{_NUMBER}(?:\s?(?:[kKmMbB](?!\w)|[万亿]))?"
_MEASURED = rf"\s?(?:[%‰]|°[CF]|(?:{_UNITS})(?!\w))"
_CHINESE_MEASURED = (
    rf"\s?[万亿千百]?\s?(?:{_CHINESE_UNITS}"
    rf"|个(?:{_COUNTED}|[\p{{Han}}--[{_PARTICLES}]]{{1,2}}))"
)
AMOUNT: Final = rf"(?<![\w.])(?:{_MONEY}|{_NUMBER}(?:{_MEASURED}|{_CHINESE_MEASURED}))"
AMOUNT_IN_ASCII: Final = rf"(?<![\w.])(?:{_MONEY}|{_NUMBER}{_MEASURED})"  # no Chinese unit is there
CODE: Final = (
    r"(?<![\w-])(?:"
    r"(?=[A-Za-z0-9-]*\d)[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+"  # INC-21234
    r"|\w*[A-Za-z0-9]_+[A-Za-z0-9]\w*"  # snake_case
    r"|[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+"  # dotted.name
    r"|(?!\d+(?:st|nd|rd|th|am|pm|s|x)(?!\w))(?:[A-Za-z]+\d|\d+[A-Za-z])[A-Za-z0-9]*"  # A10293
    r"|[A-Za-z]*?[a-z][A-Z][A-Za-z0-9]*"  # camelCase, PostgreSQL
    r")(?![\w-])"
)
ACRONYM: Final = r"(?<![\w-])[A-Z]{2,8}(?![\w-])"
QUOTED: Final = (
    r"「([^「」\n]{1,60})」|『([^『』\n]{1,60})』|《([^《》\n]{1,60})》|“([^“”\n]{1,60})”"
    r"|(?<![\w\"])\"([^\"\n]{1,60})\"(?![\w\"]|\s*:)|(?<![\w'])'([^'\n]{1,60})'(?![\w']|\s*:)"
    r"|`([^`\n]{1,60})`"
)


def compiled(pattern: str) -> regex.Pattern[str]:
    r"""Return *pattern* with `\w` as ASCII, in the syntax that knows differences of sets."""
    return regex.compile(_with_ascii_words(pattern), regex.VERSION1)


def ascii_compiled(pattern: str) -> re.Pattern[str]:
    r"""Return *pattern*, which names no script, for the standard library, where `\d` is ASCII too.

    That is two to three times as fast, and finds the same in texts without other digits.
    """
    return re.compile(_with_ascii_words(pattern), re.ASCII)


def _with_ascii_words(pattern: str) -> str:
    return pattern.replace(r"[\w", "[A-Za-z0-9_").replace(r"\w", "[A-Za-z0-9_]")
