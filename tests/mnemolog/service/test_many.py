"""Two hundred clients of two tenants at once: nothing that was acknowledged is lost or mixed up."""

import asyncio
from collections import Counter

import httpx
import pytest
from structlog.testing import capture_logs

from mnemolog.http_wire import TOKEN_HEADER
from support.polling import eventually_async
from support.remembering import recorded
from support.serving import NO_TLS, key_for, problem, served

CLIENTS = 200
EVENTS = 3
TENANTS = ("crimson", "azure")


class Client:
    """One of many: appends its own events, asks, and keeps what it was told."""

    def __init__(self, number, url, keys, statuses):
        self.tenant = TENANTS[number % len(TENANTS)]
        self.name = f"{self.tenant}-{number}"
        self.acknowledged = {}
        self.strange = []
        self._statuses = statuses
        self._http = httpx.AsyncClient(
            base_url=url,
            headers={"Authorization": f"Bearer {keys[self.tenant]}"},
            trust_env=False,
            verify=NO_TLS,
            timeout=120,
        )

    async def live(self):
        async with self._http:
            for number in range(EVENTS):
                await self._append(f"{self.name}-{number}")
            await self._ask("POST", "/v1/recall", json={"question": "which word?", "hits_max": 50})
            await self._ask("GET", "/v1/timeline", params={"rows_max": 50})

    async def _append(self, event_id):
        text = f"the word of {self.tenant} is {event_id}"
        scope = {"id": event_id, "agent": self.name}
        event = {"type": "observation.recorded", "fields": {"text": text}, "scope": scope}
        told = (await self._answered("POST", "/v1/events", json=event)).json()
        self.acknowledged[event_id] = tuple(told["events"][0]["position"])
        self.token = told["token"]

    async def _ask(self, method, path, **given):
        answer = await self._answered(method, path, headers={TOKEN_HEADER: self.token}, **given)
        others = [tenant for tenant in TENANTS if tenant != self.tenant]
        self.strange += [one for one in others if one in answer.text]

    async def _answered(self, method, path, **given):
        """Return the answer, asked again while the service is busy."""

        async def ask():
            answer = await self._http.request(method, path, **given)
            self._statuses[answer.status_code] += 1
            if answer.status_code == 503:
                assert problem(answer)["code"] == "busy"
                return None
            assert answer.status_code == 200, answer.text
            return answer

        return await eventually_async(ask, what=path, within_seconds=120, pause=0.1)


async def storm(url, keys):
    statuses = Counter()
    clients = [Client(number, url, keys, statuses) for number in range(CLIENTS)]
    await asyncio.gather(*(client.live() for client in clients))
    return clients, statuses


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limits", "is_busy"),
    [({}, False), ({"appends_at_once": 2, "asks_at_once": 2, "queued": 20}, True)],
    ids=["as it is", "with little room"],
)
def test_no_acknowledgement_is_lost_and_no_answer_is_another_tenants(tmp_path, limits, is_busy):
    path = tmp_path / "keys.json"
    keys = {tenant: key_for(path, tenant) for tenant in TENANTS}
    with capture_logs() as logs, served(keys=path, **limits) as one:
        clients, statuses = asyncio.run(asyncio.wait_for(storm(one.url, keys), 250))
        for tenant in TENANTS:
            with one.memory(tenant) as memory:
                found = {event.id: tuple(event.position) for event in recorded(memory)}
            told = [c.acknowledged for c in clients if c.tenant == tenant]
            assert found == {event: place for each in told for event, place in each.items()}
            assert len(found) == CLIENTS // len(TENANTS) * EVENTS
    assert [client.strange for client in clients if client.strange] == []
    assert statuses[200] == CLIENTS * (EVENTS + 2)
    assert (statuses[503] > 0) == is_busy
    assert not [log for log in logs if log["log_level"] in {"error", "critical"}]
