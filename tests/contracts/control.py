"""What every `Control` does. A subclass says how to open handles on one."""

from collections.abc import Callable

import pytest

from mnemolog.schemas.errors import InvalidSetting
from mnemolog.streams.control import Acknowledgement, Control

Opened = Callable[[], Control]


class ControlContract:
    """Requests and acknowledgements, seen by every handle."""

    @pytest.fixture
    def opened(self) -> Opened:
        raise NotImplementedError

    def test_nothing_was_asked_at_first(self, opened):
        control = opened()
        assert list(control.asked()) == []
        assert not control.is_paused

    def test_a_request_is_seen_by_another_handle_with_what_became_of_it(self, opened):
        here, there = opened(), opened()
        request = here.request("rebuild", {"projections": ["weights"]}, by="ann")
        (asked,) = there.asked()
        assert (asked.request.id, asked.request.verb) == (request.id, "rebuild")
        assert asked.request.arguments == {"projections": ["weights"]}
        assert asked.request.by == "ann"
        assert asked.request.requested_at is not None
        assert (asked.end, asked.accepted_by) == (None, None)
        there.acknowledge(Acknowledgement(request.id, "accepted", "", "bob"))
        there.acknowledge(Acknowledgement(request.id, "done", "it is there", "bob", [1]))
        (asked,) = here.asked()
        assert asked.accepted_by == "bob"
        assert (asked.end.outcome, asked.end.text, asked.end.result) == ("done", "it is there", [1])

    def test_the_first_end_is_the_end(self, opened):
        control = opened()
        request = control.request("pause", {}, by="ann")
        control.acknowledge(Acknowledgement(request.id, "failed", "gone", "bob"))
        control.acknowledge(Acknowledgement(request.id, "done", "late", "cid"))
        (asked,) = control.asked()
        assert asked.end.text == "gone"
        assert not control.is_paused

    def test_a_pause_holds_from_its_end_to_that_of_a_resume(self, opened):
        control = opened()
        for verb, is_paused in (("pause", True), ("verify", True), ("resume", False)):
            request = control.request(verb, {}, by="ann")
            control.acknowledge(Acknowledgement(request.id, "done", "", "bob"))
            control.asked()
            assert control.is_paused == is_paused
        later = opened()
        later.asked()
        assert not later.is_paused

    def test_another_verb_is_refused_before_it_is_asked(self, opened):
        control = opened()
        with pytest.raises(InvalidSetting, match="dream"):
            control.request("dream", {}, by="ann")
        assert list(control.asked()) == []

    def test_what_is_told_of_is_bounded_and_what_is_under_way_is_told_of(self, opened, monkeypatch):
        monkeypatch.setattr("mnemolog.streams.control.KEPT_MAX", 2)
        control = opened()
        waiting = control.request("verify", {}, by="ann")
        done = [control.request("pause", {}, by="ann") for _ in range(4)]
        for request in done:
            control.acknowledge(Acknowledgement(request.id, "done", "", "bob"))
        kept = [asked.request.id for asked in control.asked()]
        assert kept == [waiting.id, done[-1].id]
