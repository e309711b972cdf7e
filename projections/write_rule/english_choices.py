"""How decisions and preferences are stated in English.

Patterns are verbose: white space in them is for the reader. They see one sentence without its
list mark, with quotations hidden and every apostrophe straight.
"""

from typing import Final

from mnemolog.projections.write_rule.stated import rule

DECISIONS: Final = (
    rule(
        "en-decided",
        "decision",
        cues="decided|decision|agreed|settled on|chose |opted for",
        pattern=r"""\b(?:we|i|they|the\s+team)(?:'ve|\s+have|\s+had|\s+has)?(?:\s+(?:finally|all|now|just))?\s+
                (?:decided\s+(?:to|on|that|not|against)\b|agreed\s+(?:to|on|that)\b(?!\s+disagree)|settled\s+on\b|opted\s+for\b)
            |\b(?:we|the\s+team)(?:\s+(?:finally|all))?\s+chose\s+(?!(?:this\s+life|wisely|poorly)\b)
            |\bit\s+(?:was|is|has\s+been)\s+(?:decided|agreed)\b
            |\b(?:final\s+|our\s+|the\s+)?decision\s*(?:[:：]|is\s+(?:to|that|final)\b)""",
        finds=(
            "We decided to move to JWT.",
            "We've agreed on two-week sprints.",
            "Decision: keep the pool at 40.",
            "I have decided not to upgrade.",
        ),
        leaves=(
            "We have not decided to move.",
            "Have we decided on a database?",
            "We haven't agreed on anything.",
            "If we decided to move it would cost a week.",
            'The note says "we decided to move".',
            "The decision is hard.",
        ),
    ),
    rule(
        "en-lets",
        "decision",
        cues="let's|we'll|we will|going with|go with|we are going",
        pattern=r"""\blet's\s+(?:go\s+with|use|adopt|switch\s+to|stick\s+(?:to|with)|settle\s+on|choose|pick|keep\s+to)\s+
                (?!(?:the\s+flow|it\b|that\b|them\b|this\b))\w
            |\bwe(?:'ll|\s+will|'re\s+going\s+to|\s+are\s+going\s+to)\s+(?:go\s+with|use|adopt|switch\s+to|stick\s+(?:to|with))\s+
                (?!(?:the\s+flow|it\b|that\b|them\b|this\b))\w
            |\b(?:we(?:'re|\s+are)|i(?:'m|\s+am))\s+going\s+with\s+(?!(?:the\s+flow|him|her|them|you|my|friends|a\s+friend)\b)\w""",
        finds=(
            "Let's go with Stripe.",
            "OK, let's use refresh tokens.",
            "We'll switch to nightly builds.",
            "We are going with option B.",
        ),
        leaves=(
            "Should we go with Stripe?",
            "Let's go with the flow.",
            "Let's see.",
            "Let's not go with Stripe.",
            "If we'll use Stripe we need keys.",
        ),
    ),
)

PREFERENCES: Final = (
    rule(
        "en-prefer",
        "preference",
        cues="prefer|rather|favour|favor|best|most",
        pattern=r"""\b(?:i|we)(?:'d|\s+would)?(?:\s+(?:really|strongly|much|generally|usually|always|still|definitely|personally))*\s+prefer\b
            |\b(?:the\s+)?(?:user|customer|client)\s+(?:really\s+|strongly\s+)?prefers\b
            |\bi(?:'d|\s+would)\s+(?:much\s+|really\s+)?rather\s+(?!(?:be|not\s+say)\b)\w
            |\bi\s+(?:really\s+)?(?:like|love|enjoy)\s+[^.!?,;]{1,80}?\s+(?:(?:the\s+)?best|(?:the\s+)?most)\b
            |\bmy\s+(?:all-time\s+)?(?:favou?rite|preferred)\b(?:\s+\w+){0,4}\s+(?:is|are)\s
            |\bmy\s+preference\s+(?:is|would\s+be)\s""",
        finds=(
            "I prefer tea to coffee.",
            "I'd rather fly in the morning.",
            "I like the window seat best.",
            "My favourite editor is Helix.",
            "The user prefers short answers.",
        ),
        leaves=(
            "Do I prefer tea?",
            "I don't prefer either.",
            "Which do you prefer?",
            "If I prefer tea I say so.",
            'He asked: "I prefer tea, and you?"',
            "I like it.",
        ),
    ),
    rule(
        "en-dislike",
        "preference",
        cues="don't like|do not like|dislike|hate|can't stand|cannot stand",
        pattern=r"""\bi\s+(?:really\s+|absolutely\s+)?(?:do\s+not|don't)(?:\s+really)?\s+like\s+(?!(?:it|that|this|to\s+say)\b)\w
            |\bi\s+(?:really\s+|absolutely\s+)?(?:dislike|hate|can't\s+stand|cannot\s+stand)\s+(?!(?:it|that|this|to|when|how)\b)\w""",
        finds=("I don't like window seats.", "I really hate long e-mails."),
        leaves=(
            "I hate to say it.",
            "Do you hate long e-mails?",
            "I don't like it.",
            "If I hate it, I leave.",
        ),
    ),
)
