"""Decides which addresses of pictures go to a model's provider: none that leads into a private network.

Nothing is fetched here, and no name is looked up: the provider asks another resolver at another time, so an answer
here would prove nothing. The address alone is judged: its scheme, its host in every spelling of a number, and
names that are known to lead into private networks.
"""

import ipaddress
import socket
import unicodedata
from pathlib import Path
from urllib.parse import unquote, urlsplit

from langmem_plugin.errors import InvalidInput

_SCHEMES = ("http", "https")
_LONGEST = 4_000
# Ends of names that lead to this machine, into a company, a home or a cluster; names that makers give to routers; and
# public names whose addresses are written in the name itself.
_INSIDE = tuple(Path(__file__).with_name("inside_names.txt").read_text(encoding="ascii").split())
_GIVEN_OUT = ipaddress.IPv6Network("2000::/3")  # all other networks are private or reserved
_TRANSLATED = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "::ffff:0:0:0/96", "::/96", "::ffff:0:0/96")))
_NOT_GIVEN_OUT = ipaddress.IPv6Network("3fff::/20")
_ISATAP = (0x5EFE, 0x0200_5EFE)  # in the bits before the last 32, whatever the network


def public_url(url: str) -> str:
    """Return the address unchanged. Raises InvalidInput if it is not public."""
    if (reason := why_refused(url)) is not None:
        raise InvalidInput(f"{reason}: give the picture's bytes")
    return url


def why_refused(url: str) -> str | None:
    """The reason why an address is refused; None if it may be passed on."""
    if len(url) > _LONGEST or any(each.isspace() or unicodedata.category(each) in {"Cc", "Cf"} for each in url):
        return "the picture's address is too long, or holds what no address holds"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "the picture's address cannot be read"
    if parts.scheme not in _SCHEMES or not host:
        return "pictures are taken from http and https addresses alone"
    if "@" in parts.netloc or "\\" in parts.netloc:
        return "the picture's address names a user, which hides its host"
    return "the picture's address leads into a private network" if _is_inside(_plain(host)) else None


def _plain(host: str) -> str:
    """The host as a resolver reads it: full-width digits, dots of other scripts and escapes become plain ones."""
    return unicodedata.normalize("NFKC", unquote(host)).replace("。", ".").casefold().rstrip(".")


def _is_inside(host: str) -> bool:
    address = _address(host)
    if address is not None:
        return not _is_public(address)
    # A name without a dot is of the local network; a last part in digits is a number in a wrong form.
    if "." not in host or not host.rpartition(".")[2].strip("0123456789") or not host.isprintable():
        return True
    return any(host == name or host.endswith(f".{name}") for name in _INSIDE)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address of a host that is a number: dotted, or as C reads it (octal, hexadecimal, fewer parts)."""
    try:
        return ipaddress.ip_address(host.partition("%")[0].strip("[]"))
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Tell whether an address is public; an IPv6 one is only if all IPv4 addresses inside it are."""
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not address.is_multicast
    last = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if any(address in network for network in _TRANSLATED):
        return _is_public(last)
    inside = [*(address.teredo or ()), *([address.sixtofour] if address.sixtofour else ())]
    if int(address) >> 32 & 0xFFFFFFFF in _ISATAP:
        inside.append(last)
    is_given_out = address in _GIVEN_OUT and address not in _NOT_GIVEN_OUT
    return is_given_out and all(map(_is_public, inside)) and (bool(inside) or address.is_global)
