"""What a model's use cost is read from whatever a source gives for it."""

import pytest

from mnemolog.importers.usage import amount_of, count_of, model_use, tokens_of


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 7, "completion_tokens": 2},
        {"input_tokens": 7, "output_tokens": 2},
        {"tokens_sent": 7, "tokens_received": 2},
        {"prompt_tokens": 0, "input_tokens": 7, "output_tokens": 2},
    ],
)
def test_tokens_have_several_names(usage):
    assert tokens_of(usage) == (7, 2)


@pytest.mark.parametrize("junk", [None, 3, [], "x", {}, {"prompt_tokens": "7"}, {"cost": 1}])
def test_nothing_told_is_nothing_used(junk):
    assert model_use("small-1", junk) is None


@pytest.mark.parametrize("named", [None, "", " \u200b", 3, ["x"]])
def test_a_cost_is_told_though_nobody_names_the_model(named):
    assert model_use(named, cost_usd=0.5)["model"] == "unknown"


@pytest.mark.parametrize("junk", [-1, True, 1.5, "1", None, 2**63])
def test_what_is_no_count_is_none(junk):
    assert count_of(junk) == 0


@pytest.mark.parametrize("junk", [-0.5, True, "1", None, float("inf"), float("nan"), 10**400])
def test_what_is_no_amount_is_none(junk):
    assert amount_of(junk) is None
