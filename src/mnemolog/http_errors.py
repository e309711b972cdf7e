"""What only a service can answer, beside the errors of `schemas.errors`.

MnemologError
├── Refused              the key has not the right for this
│   └── UnknownKey       there is no key, or no such key
├── BadRequest           the request can't be read, whatever it means
│   ├── BodyTooLarge     its body is larger than one may be
│   ├── BodyTooSlow      its body did not come in time
│   ├── UnknownMediaType its body is of a type that is not read here
│   └── NoSuchEndpoint   there is nothing at this path, or not by this method
├── StoreUnavailable
│   └── Busy             as many requests as may be are under way
└── NotServed            a verb of `Memory` that no service answers
"""

from mnemolog.schemas.errors import MnemologError, StoreUnavailable


class Refused(MnemologError):
    """The key may not do this."""

    code = "refused"
    hint = "`mnemolog serve keys add` makes a key with the right that is named."


class UnknownKey(Refused):
    """The service needs a key, and knows none such."""

    code = "unknown_key"
    hint = (
        "Send `Authorization: Bearer KEY`; `mnemolog serve keys list` shows which keys there are."
    )


class BadRequest(MnemologError):
    """The request can't be read."""

    code = "bad_request"
    hint = "Correct the request; /openapi.json describes what is read."


class BodyTooLarge(BadRequest):
    """The request's body is larger than one may be."""

    code = "body_too_large"
    hint = "Send fewer events at a time."

    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        super().__init__(f"a body has at most {bytes_max} bytes")


class BodyTooSlow(BadRequest):
    """The request's body did not come in time."""

    code = "body_too_slow"
    hint = "Send it again; nothing was read of it."


class UnknownMediaType(BadRequest):
    """The request's body is of a type that is not read here."""

    code = "unknown_media_type"
    hint = "Say in Content-Type what the body is: application/json, or CloudEvents in JSON."


class NoSuchEndpoint(BadRequest):
    """There is nothing at this path, or not by this method."""

    code = "no_such_endpoint"
    hint = "/openapi.json lists every path and its methods."


class Busy(StoreUnavailable):
    """As many requests as may be are under way."""

    code = "busy"
    hint = "Retry after a moment; nothing was done."


class NotServed(MnemologError):
    """A verb of `Memory` that no service answers."""

    code = "not_served"
    hint = "Open the data folder itself, on the machine that has it."

    def __init__(self, verb: str) -> None:
        self.verb = verb
        super().__init__(f"{verb} is not answered over HTTP")
