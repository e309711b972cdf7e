"""What a model's answers took is counted once, from totals or from responses."""

import pytest

from mnemolog.importers.openhands_spending import Spending


def total(tokens_in, tokens_out, cost=0.0, **usage) -> dict:
    counted = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, **usage}
    return {"llm_metrics": {"accumulated_cost": cost, "accumulated_token_usage": counted}}


def response(name, tokens_in=5, tokens_out=1, model="small-1") -> dict:
    usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
    return {"tool_call_metadata": {"model_response": {"id": name, "model": model, "usage": usage}}}


def amounts(use) -> tuple | None:
    return use and (use["tokens_in"], use["tokens_out"], use["cost_usd"])


def test_of_totals_an_event_took_what_was_added():
    spending = Spending("small-1")
    uses = [spending.of(total(100, 10, 0.1)), spending.of(total(250, 30, 0.3))]
    assert [amounts(use) for use in uses] == [(100, 10, 0.1), (150, 20, 0.2)]


def test_a_total_that_did_not_grow_took_nothing():
    spending = Spending(None)
    spending.of(total(100, 10, 0.1))
    assert spending.of(total(100, 10, 0.1)) is None


def test_a_total_that_fell_is_a_new_count():
    spending = Spending(None)
    spending.of(total(100, 10, 0.1))
    assert amounts(spending.of(total(40, 4, 0.05))) == (40, 4, 0.05)


def test_several_calls_of_one_response_count_it_once():
    spending = Spending(None)
    uses = [spending.of(response(name)) for name in ("a", "a", "b")]
    assert [amounts(use) for use in uses] == [(5, 1, None), None, (5, 1, None)]


def test_the_model_is_the_totals_the_responses_or_the_runs():
    spending = Spending("of-the-run")
    assert spending.of(total(1, 1, model="of-the-total"))["model"] == "of-the-total"
    both = {**total(2, 2, model="default"), **response("a", model="of-the-response")}
    assert spending.of(both)["model"] == "of-the-response"
    assert spending.of(total(3, 3))["model"] == "of-the-run"
    assert Spending(None).of(total(1, 1))["model"] == "unknown"


@pytest.mark.parametrize("junk", [None, 3, [], "x", {"accumulated_cost": "7"}])
def test_junk_took_nothing(junk):
    spending = Spending(None)
    assert spending.of({"llm_metrics": junk, "tool_call_metadata": junk}) is None
    assert not spending.was_told
