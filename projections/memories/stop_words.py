"""Words that only ask: they would find every other question, and so are left out of questions."""

from typing import Final

_ENGLISH: Final = """
a about all am an and any are as at be been being but by can could did do does doing for from had
has have he her him his how i if in into is it its just may me might my of on or our please shall
she should so some tell than that the their them then there these they this those to us was we
were what when where which who whom whose why will with would you your
"""
_CHINESE: Final = """
什么时候 为什么会 为什么 怎么样 怎么办 是什么 有什么 什么 怎么 怎样 如何 为何 哪里 哪个 哪些 哪儿
多少 几个 谁的 我们 你们 他们 她们 它们 咱们 我的 你的 他的 她的 这个 那个 这些 那些
是不是 有没有 能不能 可不可以 了吗 了么 了呢 请问 请告诉我 告诉我
什麼時候 為什麼 怎麼 什麼 哪裡 我們 你們 他們 這個 那個 了嗎
"""
ENGLISH_STOP_WORDS: Final = frozenset(_ENGLISH.split())
CHINESE_STOP_PHRASES: Final = frozenset(_CHINESE.split())
# Single characters that tell nothing when a stop phrase was cut away around them.
CHINESE_PARTICLES: Final = frozenset(
    "的了吗呢吧啊呀么嘛在是有和与或把被就都也很会我你他她它谁几这那嗎麼是會"
)
# What hangs on such a phrase, in front of what follows it and behind what precedes it.
CHINESE_LEADING: Final = "的了"
CHINESE_TRAILING: Final = "吗呢吧啊呀嘛嗎"
