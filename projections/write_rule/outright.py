"""Constraints, decisions and preferences that a text states outright, by named rules.

The tables stand in `english_…` and `chinese`, each rule with what it finds and what it leaves;
the tests walk them. Here is what holds for every rule: a question states nothing, neither does what
is quoted, nor what stands in an if-clause.
"""

from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

import regex

from mnemolog.projections.write_rule.chinese import CHINESE
from mnemolog.projections.write_rule.english_choices import DECISIONS, PREFERENCES
from mnemolog.projections.write_rule.english_constraints import CONSTRAINTS
from mnemolog.projections.write_rule.sentences import READ_CHARACTERS_MAX, sentences
from mnemolog.projections.write_rule.stated import StatedRule

# The first rule that finds a sentence gives its kind.
RULES: Final = (*CONSTRAINTS, *DECISIONS, *PREFERENCES, *CHINESE)
_CUES: Final = tuple(dict.fromkeys(cue for rule in RULES for cue in rule.cues))
_CUES_IN_ASCII: Final = tuple(filter(str.isascii, _CUES))  # all that such a text can hold

_QUESTION = regex.compile(
    r"""[?？]["'”’」』)）\s\x00]*$
    |(?:吗|么|嘛|呢)[。．.!！~～…\s]*$
    |^(?:must|should|shall)\s+(?:i|we|you|he|she|it|they|the|this|that|these|those|every|all)\b
    |^(?:can|could|would|will|do|does|did|is|are|am|was|were|have|has|may|might)
      \s+(?:i|we|you|he|she|it|they|there)\b
    |^(?:why|what|who|whose|which|how)\b""",
    regex.IGNORECASE | regex.VERBOSE,
)
# What stands between the start of such a clause and a statement has no comma.
_UNREAL = regex.compile(
    r"""\b(?:if|unless|whether|suppos(?:e|ing)|imagine|assuming|in\ case|as\ though)\b[^,:;，]*$
    |(?:如果|假如|假设|要是|倘若|万一|即使|除非|是否|是不是|要不要|能不能|可不可以|用不用|有没有|
        为什么|为何|怎么|什么时候|谁(?![都也])|哪)[^，,：:；;]*$
    |(?:^|[，,；;：:\s])若[^，,：:；;]*$""",
    regex.IGNORECASE | regex.VERBOSE,
)


class Statement(NamedTuple):
    """A sentence that states something, and the rule that found it."""

    text: str
    rule: StatedRule


def statements(text: str, *, kinds: Collection[str]) -> Iterator[Statement]:
    """Yield what *text* states outright of *kinds*, a sentence each, in order, none twice."""
    lowered = text[:READ_CHARACTERS_MAX].lower().replace("’", "'")
    cues = _CUES_IN_ASCII if lowered.isascii() else _CUES
    given = {cue for cue in cues if cue in lowered}
    if not given:
        return  # most texts
    rules = [r for r in RULES if r.kind in kinds and not given.isdisjoint(r.cues)]
    found: set[str] = set()
    for written, seen in sentences(text):
        rule = _rule_of(seen, rules)
        if rule is not None and written not in found:
            found.add(written)
            yield Statement(written, rule)


def _rule_of(seen: str, rules: list[StatedRule]) -> StatedRule | None:
    if _QUESTION.search(seen):
        return None
    return next((rule for rule in rules if _states(seen, rule)), None)


def _states(seen: str, rule: StatedRule) -> bool:
    return any(
        not _UNREAL.search(seen, endpos=found.start()) for found in rule.pattern.finditer(seen)
    )
