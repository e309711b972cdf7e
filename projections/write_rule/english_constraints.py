"""How constraints are stated in English, ownership and technologies among them.

Patterns are verbose: white space in them is for the reader. They see one sentence without its
list mark, with quotations hidden and every apostrophe straight.
"""

from typing import Final

from mnemolog.projections.write_rule.stated import rule

# Where an imperative begins: at the start, or behind a colon, a comma or a "please".
# (\K lets the find begin behind it, so that an if-clause before the comma is no part of it.)
_START: Final = (
    r"(?:^|[;:]\s*|,\s+|\bplease,?\s+)(?:and\s+|but\s+|so\s+|also,?\s+|then\s+|please,?\s+)*\K"
)
# Words behind "never" or "always" that make no imperative: participles, adjectives, particles.
_NO_VERB: Final = r"""(?!(?:mind|again|ever|been|seen|had|heard|thought|knew|known|saw|got|gotten
    |have|has|did|was|were|is|are|a|an|the|too|to|in|on|at|up|so|as|here|there|enough|quite|really
    |better|more|less|good|great|nice|fun|happy|glad|welcome|amazing|gonna|knows?|gets?|fails?|easy
    |hard|boring|dull|calm|changing|remember|love|loves|enjoy|wanted|felt|found|made|came|went|took
    |told|said|such|for|worth|possible|say\s+never|give\s+up|quit|i|we|you|he|she|it|they|this|that
    |my|your|our|their)\b
    |(?!(?:feed|need|embed|proceed|exceed|succeed|shed|speed|heed)\b)\w+ed\b|(?!bring)\w+ing\b)"""
_DAY: Final = r"""(?:(?:the\s+)?(?:end|start|beginning|close|first|second|third|fourth|last|next)\b
    |(?:next\s+|this\s+)?(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tonight|tomorrow|noon|midnight
    |(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d|\d|day\s+\d|week\s+\d|eod|eow|q[1-4])"""

CONSTRAINTS: Final = (
    rule(
        "en-never",
        "constraint",
        cues="never",
        pattern=rf"{_START}never\s+{_NO_VERB}[a-z]+|\b(?:must|should|shall)\s+never\b",
        finds=(
            "Never deploy on a Friday.",
            "In production, never log a token.",
            "Please never call me before nine.",
            "Secrets should never reach the log.",
        ),
        leaves=(
            "Never mind.",
            "Never seen that before!",
            "I never met him.",
            "If you never deploy, nothing breaks.",
            "Must I never log in again?",
            'The old wiki says "never deploy on a Friday".',
            "It never fails.",
        ),
    ),
    rule(
        "en-always",
        "constraint",
        cues="always",
        pattern=rf"{_START}always\s+{_NO_VERB}[a-z]+|\b(?:must|should|shall)\s+always\b",
        finds=(
            "Always run the migrations before the tests.",
            "Before a release, always tag the commit.",
            "Answers should always cite a source.",
        ),
        leaves=(
            "Always a pleasure!",
            "I always forget my keys.",
            "Should we always tag the commit?",
            "You don't have to always be there.",
            "If you always retry, the queue grows.",
        ),
    ),
    rule(
        "en-must",
        "constraint",
        cues="must",
        pattern=r"""(?<!\b(?:a|the|an\s+absolute)\s+)\bmust(?:\s+not\b|n't\b)?(?!-)
            (?!\s+(?:have\b|say\b|admit\b|confess\b|feel\b|miss\b|mean\b|know\b|think\b|love\b|seem\b
                |of\b|look\b|sound\b|take\s+a\s+lot|(?:really|surely)\b|add\s+so\b
                |be\s+(?:an?|the|so|very|really|such|quite|kidding|joking|nice|hard|tough|great|amazing|incredible
                    |wonderful|beautiful|lovely|fun|tired|proud|exciting|awesome|honest|wrong|missing|something|why|because)\b))
            (?<!\b(?:you|he|she|who|there|that|this|it|they)\s+must(?=\s+be\b)
                (?!\s+be\s+(?:encrypted|hashed|tested|reviewed|approved|signed|done|finished|kept|used|deleted
                    |removed|logged|stored|delivered|shipped|completed|deployed|checked|validated)\b))
            \s+[a-z]""",
        finds=(
            "The JWT migration must not touch live sessions.",
            "Passwords must be hashed with argon2.",
            "All services mustn't share a database.",
            "If a test fails, the release must wait.",
            "Payment must be integrated by the second Wednesday.",
            "It must be encrypted at rest.",
        ),
        leaves=(
            "Must I restart it?",
            "You must be tired.",
            "It must have been the cache.",
            "That must be hard!",
            "I must say that I like it.",
            "This place is a must.",
            "If it must run twice the job is slow.",
            'She wrote "the service must not restart" and left.',
        ),
    ),
    rule(
        "en-do-not",
        "constraint",
        cues="do not|don't",
        pattern=rf"""{_START}(?:do\s+not|don't)\s+(?!(?:worry|quit|mind|know|think|hesitate|forget|be|you|we|i|they
            |get|have|care|give\s+up|let|stress|feel|miss|sweat|see|want|like|understand|remember|believe
            |need|mention|seem|even|really|blame|look|he|she|it|sell|push|beat|lose|say|all|the|those
            |make\s+me|make\s+sense|quite)\b)[a-z]+""",
        finds=(
            "Do not touch the billing tables.",
            "Please don't restart node-7.",
            "If the check fails, do not deploy.",
        ),
        leaves=(
            "Don't worry about it.",
            "Don't you think so?",
            "I do not use Windows.",
            "Don't know.",
            "They don't deploy on Fridays.",
        ),
    ),
    rule(
        "en-forbidden",
        "constraint",
        cues="forbidden|prohibited|mandatory|off limits|off-limits|required|allowed|permitted",
        pattern=r"""\b(?:is|are|be|remains?)\s+(?:strictly\s+|absolutely\s+)?
            (?:forbidden|prohibited|mandatory|off[-\s]limits|required\b(?!\s+reading)|not\s+(?:allowed|permitted))\b""",
        finds=(
            "Direct writes to the ledger are strictly forbidden.",
            "Code review is mandatory.",
            "Force pushes are not allowed.",
        ),
        leaves=(
            "Code review is not mandatory.",
            "Is a review required?",
            "He got what was forbidden fruit to others.",
            "If a visa is required we wait.",
        ),
    ),
    rule(
        "en-limit",
        "constraint",
        cues="exceed|later than|greater than|longer than|higher than|lower than|fewer than"
        "|more than|less than|limited to|capped at|limit|budget|maximum|cap ",
        pattern=r"""\b(?:can\s?not|can't|may\s+not|must\s+not|shall\s+not|should\s+not|shouldn't|won't)\s+
            (?:exceed\b|be\s+(?:more|less|greater|later|longer|higher|lower|fewer)\s+than\b)
            |\b(?:no|not)\s+(?:later|more)\s+than\s+(?:the\b|\d|[$€£¥]|(?:mon|tues|wednes|thurs|fri|satur|sun)day)
            |\b(?:is|are)\s+(?:limited\s+to|capped\s+at)\s
            |\b(?:limit|budget|maximum|cap)(?:\s+\w+){0,3}\s+(?:is|are)\s+(?:at\s+most\s+)?[$€£¥]?\d""",
        finds=(
            "Latency cannot exceed 200 ms.",
            "The budget for this is $500.",
            "Uploads are limited to 20 MB.",
            "Reply no later than Friday.",
        ),
        leaves=(
            "Does it exceed the limit?",
            "We have no budget.",
            "The limit was raised.",
            "If it can't exceed 3 we stop.",
        ),
    ),
    rule(
        "en-deadline",
        "constraint",
        cues="deadline|due |by |before ",
        pattern=rf"""(?<!\b(?:no|any|meet|met|missed?|without\s+an?)\s+(?:the\s+|a\s+|our\s+)?)\bdeadline(?:\s+(?!was\b|has\b)\w+){{0,5}}?(?:\s+(?:is|moved\s+to)\s|\s*[:：])
            |\b(?:is|are)\s+due\s+(?:on|by|before|at|in)?\s*{_DAY}
            |\b(?:has|have|needs?|is|are)\s+to\s+(?:be\s+)?\w+(?:\s+\w+){{0,4}}?\s+(?:by|before)\s+{_DAY}
            |\b(?:finish|ship|deliver|complete|launch|release|submit)\w*(?:\s+\w+){{0,5}}?\s+by\s+{_DAY}""",
        finds=(
            "The deadline for payment is the second Wednesday.",
            "Deadline: 2026-03-11.",
            "The report is due on Friday.",
            "Payment integration has to be live by the second Wednesday.",
        ),
        leaves=(
            "When is the deadline?",
            "We met the deadline: hooray.",
            "There is no deadline.",
            "If the report is due on Friday I am late.",
            "I drove by the second house.",
        ),
    ),
    rule(
        "en-owns",
        "constraint",
        cues="owns|owned by|owner|responsible for|in charge of",
        pattern=r"""(?<!\b(?:who|nobody|no\s+one|none|he|she|it)\s+)\bowns\s+(?!(?:an?|the\s+same|his|her|my|its|their|your
                |some|many|several|two|three|four|five|\d+)\b)[\w-]
            |\b(?:is|are)\s+owned\s+by\s+(?!(?:an?|nobody|no\s+one)\b)\w
            |\b(?:is|are)\s+(?:the\s+one\s+|now\s+|fully\s+)?(?:responsible\s+for|in\s+charge\s+of)\s+(?!(?:this\s+mess|everything)\b)\w
            |\bowner(?:\s+of\s+[\w\s-]{1,40})?\s*(?:[:：]|\bis\s+(?!(?:unknown|an?|not)\b))\s*\w""",
        finds=(
            "Chen owns payment.",
            "The payment service is owned by Li Wei.",
            "The backend team is responsible for inventory.",
            "Owner of auth: Maria.",
        ),
        leaves=(
            "Who owns payment?",
            "Nobody owns payment.",
            "My uncle owns a bakery.",
            "She is not responsible for inventory.",
            "If Chen owns payment we ask him.",
        ),
    ),
    rule(
        "en-stack",
        "constraint",
        cues="stack|we use|only use|always use|all use|now use|currently use|will use|we're using"
        "|we are using|written in|built with|built on|runs on|run on",
        pattern=r"""\b(?:tech(?:nology|nical)?|our|the|project(?:'s)?)\s+stack\s*(?:is\b|consists\s+of\b|will\s+be\b|[:：])
            |\bwe(?:\s+(?:only|always|all|now|currently|will))?\s+use\s+(?:only\s+)?(?-i:(?=(?:[a-z]+\s+)?[A-Z0-9]))
            |\bwe(?:'re|\s+are)\s+using\s+(?-i:(?=(?:[a-z]+\s+)?[A-Z0-9]))
            |\b(?:is|are|be)\s+(?:all\s+)?(?:written\s+in|built\s+(?:with|on))\s+(?-i:(?=[A-Z]))
            |\b(?:services?|backend|frontend|everything|api|app|project)\s+runs?\s+on\s+(?-i:(?=[A-Z]))""",
        finds=(
            "We use TypeScript, Node and PostgreSQL.",
            "The tech stack is TypeScript and Node.",
            "The backend is written in Go.",
            "Tech stack: React, FastAPI.",
        ),
        leaves=(
            "Do we use PostgreSQL?",
            "We use it every day.",
            "We do not use MongoDB.",
            "The book is written in three parts.",
            "If we use MongoDB we need a cluster.",
            "The cards are in a stack.",
        ),
    ),
)
