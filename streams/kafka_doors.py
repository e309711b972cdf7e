"""Why a broker that is there lets a client not in: aiokafka's clients only say that none did."""

import asyncio
import contextlib
import ssl
from typing import Final

from aiokafka import errors
from aiokafka.conn import create_conn

from mnemolog.schemas.errors import LogUnavailable
from mnemolog.streams.brokers import Brokers

KNOCK_SECONDS_MAX: Final = 5.0


async def check_let_in(brokers: Brokers) -> None:
    """Raise LogUnavailable with the reason where the first broker that answers refuses us.

    Plain text without a login is refused by nobody, and a broker that is down says nothing.
    """
    options = brokers.options()
    if options["ssl_context"] is None and not brokers.security.has_login:
        return
    del options["bootstrap_servers"]
    for address in brokers.addresses.split(","):
        host, _, port = address.rpartition(":")
        with contextlib.suppress(OSError, TimeoutError, errors.KafkaError):
            try:
                async with asyncio.timeout(KNOCK_SECONDS_MAX):
                    connection = await create_conn(host.strip("[]"), int(port), **options)
            except (errors.AuthenticationFailedError, errors.SaslAuthenticationFailed) as error:
                raise LogUnavailable(address, f"it refused the login: {error}") from error
            except ssl.SSLError as error:
                raise LogUnavailable(address, f"no trust over TLS: {error}") from error
            connection.close()
            return
