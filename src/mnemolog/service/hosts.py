"""Which names and addresses mean this machine alone."""

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Say whether nothing but this machine can reach *host*, a name or an address.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost")
    (True, True, True)
    >>> is_loopback("0.0.0.0"), is_loopback(""), is_loopback("127.0.0.1.evil.example")
    (False, False, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def name_in(host_header: str) -> str:
    """Return the host in a Host header, without its port and brackets.

    >>> name_in("[::1]:8000"), name_in("localhost:8000"), name_in("127.0.0.1")
    ('::1', 'localhost', '127.0.0.1')
    """
    if host_header.startswith("["):
        return host_header[1:].partition("]")[0]
    return host_header.partition(":")[0]
