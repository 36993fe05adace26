"""Tells whether a port may be opened for other machines: only where somebody has been given a token to come in by."""

import ipaddress

from langmem_plugin.errors import ConfigurationError
from langmem_plugin.people.access_tokens import AccessTokens, Kind


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def refuse_open_door(tokens: AccessTokens, host: str, *kinds: Kind) -> None:
    """Raises ConfigurationError where `host` is beyond loopback and nobody has a token of these kinds yet."""
    if is_loopback(host) or any(each.kind in kinds for each in tokens.listed()):
        return
    how = " or ".join(_MADE_BY[each] for each in kinds)
    raise ConfigurationError(
        f"{host} is reached from other machines, and nobody has a token: make one with {how} first, or leave out --host"
    )


_MADE_BY: dict[Kind, str] = {"person": "`langmem token new PHONE`", "operator": "`langmem token new --operator`"}
