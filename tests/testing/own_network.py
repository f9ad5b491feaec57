"""A network of its own for a process and all that it starts: loopback, and no way out."""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct
from pathlib import Path

CLONE_NEWNET = 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
# What the kernel counts when a packet has nowhere to go, or comes to a port of loopback where nobody listens.
COUNTERS = {"snmp": ("Ip OutNoRoutes", "Udp NoPorts"), "snmp6": ("Ip6OutNoRoutes", "Udp6NoPorts")}


def counted() -> dict[str, int]:
    """Return how many packets of this network had no way to go."""
    counts: dict[str, int] = {}
    lines = Path("/proc/net/snmp").read_text().splitlines()
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        kind = names.split(":")[0]
        counts |= {
            f"{kind} {name}": int(value)
            for name, value in zip(names.split()[1:], values.split()[1:], strict=True)
        }
    for line in Path("/proc/net/snmp6").read_text().splitlines():
        name, value = line.split()
        counts[name] = int(value)
    return {name: counts[name] for names in COUNTERS.values() for name in names}


def enter_a_network_of_its_own() -> None:
    """Leave the machine's network for a new one that has loopback alone; runs in the child."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "no network of its own")
    with socket.socket() as any_socket:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))
