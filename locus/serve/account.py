"""The account that Locus runs as when root starts it: root's rights end before untrusted data is read."""

from __future__ import annotations

import os
import pwd
import stat
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from core.confinement.kernel import prctl, set_capabilities
from core.process.file_modes import DATABASE

# PostgreSQL refuses to run as root. One account for all processes means that no file must be shared.
NAME = "locus-postgres"
ROOT = Path(__file__).resolve().parents[2]

PR_SET_KEEPCAPS = 8  # linux/prctl.h
CAP_DAC_OVERRIDE = 1 << 1  # linux/capability.h

ACL = "system.posix_acl_access"
ACL_VERSION, ACL_ENTRY = struct.Struct("<I"), struct.Struct("<HHI")
# linux/posix_acl.h: the kinds of entries.
OWNER, USER, GROUP, MASK, OTHERS = 1, 2, 4, 0x10, 0x20
NO_ID = 0xFFFFFFFF
PASS = 1


class RootError(Exception):
    """Root's rights can't be given up here; the message says why."""


def find_or_make() -> pwd.struct_passwd:
    """Return the account, created if needed; raise `RootError` if that fails."""
    try:
        return pwd.getpwnam(NAME)
    except KeyError:
        command = ["useradd", "--system", "--no-create-home", "--shell=/bin/false", NAME]
    try:
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603
        return pwd.getpwnam(NAME)
    except (OSError, KeyError, subprocess.CalledProcessError) as error:
        raise RootError(f"the account {NAME} can't be made") from error


def leave_root(data_dir: Path, *, reads_roots_files: bool) -> None:
    """Switch to the account for good, and make it the owner of `data_dir`; raise `RootError` if that fails.

    With `reads_roots_files` this process alone, not its children, can still read every file: a command given
    by root may name one.
    """
    account = find_or_make()
    try:
        _hand_over(data_dir, account)
        places = [data_dir, ROOT, *map(Path, (sys.prefix, sys.base_prefix, sys.executable))]
        allow_passage({place for place in places for place in (place, place.resolve())}, account)
        _check_access(account)
        if reads_roots_files:
            prctl(PR_SET_KEEPCAPS, 1)
        _become(account)
        if reads_roots_files:
            set_capabilities(CAP_DAC_OVERRIDE)
    except OSError as error:
        raise RootError(f"{error.filename or NAME}: {error.strerror}") from error
    os.environ.update(HOME=str(data_dir), USER=NAME, LOGNAME=NAME)


def stay_root(data_dir: Path) -> None:
    """Go on as root; raise `RootError` if root without its powers can't use `data_dir`.

    Processes that read documents have given these up. And an account that has run here before would not reach
    what root stores.
    """
    if sys.platform != "linux" or not data_dir.is_dir():
        return
    own = (place for place in data_dir.iterdir() if place.name != DATABASE and not place.is_symlink())
    folders = [data_dir, *filter(Path.is_dir, own)]
    needed = os.R_OK | os.W_OK | os.X_OK
    if not _succeeds(lambda: set_capabilities(0), lambda: all(os.access(path, needed) for path in folders)):
        raise RootError(f"{data_dir} belongs to another account")


def _become(account: pwd.struct_passwd) -> None:
    os.setgroups([])
    os.setresgid(account.pw_gid, account.pw_gid, account.pw_gid)
    os.setresuid(account.pw_uid, account.pw_uid, account.pw_uid)


def _hand_over(data_dir: Path, account: pwd.struct_passwd) -> None:
    """Make the account the owner of files that root wrote; once, because the folder then belongs to it."""
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    if data_dir.stat().st_uid == account.pw_uid:
        return
    links = (path.resolve() for path in data_dir.iterdir() if path.is_symlink() and path.is_dir())
    for top in (*links, data_dir):
        for _, folders, files, folder in os.fwalk(top, topdown=False):
            for name in (*folders, *files):
                _change_owner(name, folder, account)
            if folder is not None:
                os.fchown(folder, account.pw_uid, account.pw_gid)


def _change_owner(name: str, folder: int, account: pwd.struct_passwd) -> None:
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    # A file with a second name may also exist elsewhere.
    is_elsewhere = stat.S_ISREG(found.st_mode) and found.st_nlink > 1
    if found.st_uid == 0 and not is_elsewhere:
        os.chown(name, account.pw_uid, account.pw_gid, dir_fd=folder, follow_symlinks=False)


def allow_passage(places: Iterable[Path], account: pwd.struct_passwd) -> None:
    """Let only this account pass through closed folders on the way to these places, without listing them."""
    for folder in sorted({parent for place in places for parent in place.parents}):
        entries = _entries(folder)
        if folder.stat().st_uid != account.pw_uid and not _passes(entries, account):
            _let_pass(folder, entries, account)


def _passes(entries: Mapping[tuple[int, int], int], account: pwd.struct_passwd) -> bool:
    """Return whether the account may pass: its own entry within the mask counts, or else that of others."""
    own = entries.get((USER, account.pw_uid))
    return bool(PASS & (entries[OTHERS, NO_ID] if own is None else own & entries[MASK, NO_ID]))


def _let_pass(folder: Path, entries: dict[tuple[int, int], int], account: pwd.struct_passwd) -> None:
    entries[USER, account.pw_uid] = entries.get((USER, account.pw_uid), 0) | PASS
    # The mask limits all entries except owner and others. A later change of the folder's mode may take the
    # right from it.
    entries[MASK, NO_ID] = entries.get((MASK, NO_ID), entries[GROUP, NO_ID]) | PASS
    packed = (ACL_ENTRY.pack(tag, bits, id) for (tag, id), bits in sorted(entries.items()))
    os.setxattr(folder, ACL, ACL_VERSION.pack(2) + b"".join(packed))
    print(f"Locus runs as {NAME}, which may now pass through {folder}.", file=sys.stderr)  # noqa: T201


def _entries(folder: Path) -> dict[tuple[int, int], int]:
    """Return the rights on a folder: `(kind, id) -> bits`."""
    try:
        stored = os.getxattr(folder, ACL)
    except OSError:
        mode = folder.stat().st_mode
        return {(OWNER, NO_ID): mode >> 6 & 7, (GROUP, NO_ID): mode >> 3 & 7, (OTHERS, NO_ID): mode & 7}
    rows = ACL_ENTRY.iter_unpack(stored[ACL_VERSION.size :])
    return {(tag, id): bits for tag, bits, id in rows}


def _check_access(account: pwd.struct_passwd) -> None:
    """Raise `RootError` if the account can't read Python, its packages or our code."""
    packages = [Path(entry) for entry in sys.path if entry and Path(entry).exists()]
    needed = [
        Path(sys.executable),
        Path(os.__file__),
        *packages,
        ROOT / "manage.py",
        ROOT / "locus" / "asgi.py",
    ]
    if not _succeeds(lambda: _become(account), lambda: all(os.access(path, os.R_OK) for path in needed)):
        raise RootError(f"{NAME} can't read {ROOT} or the Python that runs it")


def _succeeds(give_up: Callable[[], None], check: Callable[[], bool]) -> bool:
    """Return what a check finds in a child process that has given rights up."""
    child = os.fork()
    if child == 0:
        try:
            give_up()
            os._exit(0 if check() else 1)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    return not status
