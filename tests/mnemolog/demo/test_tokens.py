import pytest

from mnemolog.demo.tokens import LIFE_SECONDS, User, issue, refusal, trial

USER = User("u-1", "customer", session_version=3)
KEY = b"a key of this test"
ISSUED = 1_800_000_000


@pytest.mark.parametrize(
    ("seconds_later", "why"),
    [
        (0, None),
        (-60, None),
        (-61, "time"),
        (LIFE_SECONDS + 59, None),
        (LIFE_SECONDS + 60, "time"),
    ],
)
def test_a_token_is_good_for_its_life_and_a_minute_around_it(seconds_later, why):
    token = issue(USER, at=ISSUED, key=KEY)
    assert refusal(token, USER, at=ISSUED + seconds_later, key=KEY) == why


def test_a_raised_session_version_and_another_key_refuse():
    token = issue(USER, at=ISSUED, key=KEY)
    raised = User(USER.id, USER.role, session_version=4)
    assert refusal(token, raised, at=ISSUED, key=KEY) == "session version"
    assert refusal(token, USER, at=ISSUED, key=KEY + b"!") == "signature"


def test_the_trial_tells_each_case():
    assert trial(at=ISSUED, key=KEY) == (
        "clock 40 s behind: accepted; signed out everywhere: session version;"
        " an hour later: time; another key: signature"
    )
