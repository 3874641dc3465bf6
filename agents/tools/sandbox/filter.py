"""The system calls that sandboxed Python may make, as the small program that the kernel runs.

Classic BPF for seccomp, written out here and not by libseccomp: a few lines of assembler cost less
than a C library that pip cannot install. A machine whose numbers are not known has no filter.

What is refused is what gives memory that belongs to no process, so that nobody could count it, and
what opens more of the kernel than plain Python needs. Calls newer than those of 2019 are told that
they do not exist, as an older kernel would; libraries fall back on the older ones.
"""

import errno
import functools
import platform
import socket
import struct
from collections.abc import Iterator, Sequence

from agents.errors import ConfigurationError

Instruction = tuple[int, int, int, int]
"""Code, jump if true, jump if false, operand; as `struct sock_filter` has them."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Where `struct seccomp_data` has what is asked about."""

_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000

_FIRST_NEW = 424
"""From here on all machines have the same numbers; those of x32 on x86_64 lie above, too."""

_STILL_ALLOWED = (424, 434, 436, 439, 441)
"""pidfd_send_signal, pidfd_open, close_range, faccessat2, epoll_pwait2."""

_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)
_NEW_NAMESPACES = 0x7E020000
_SHARED, _ANONYMOUS, _HUGE = 0x01, 0x20, 0x40000
"""Flags of mmap. Memory that is shared and anonymous outlives its pages' place in a process."""

_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CHECKED = {
    "x86_64": {"mmap": 9, "socket": 41, "socketpair": 53, "clone": 56},
    "aarch64": {"mmap": 222, "socket": 198, "socketpair": 199, "clone": 220},
}
_REFUSED = """
# memory that no process owns, or that a pipe holds for it
shmget 29 194; shmat 30 196; shmctl 31 195; memfd_create 319 279; semget 64 190; semop 65 193
semctl 66 191; semtimedop 220 192; msgget 68 186; msgsnd 69 189; msgrcv 70 188; msgctl 71 187
mq_open 240 180; mq_unlink 241 181; remap_file_pages 216 234; splice 275 76; tee 276 77
vmsplice 278 75; io_setup 206 0; io_submit 209 2; mbind 237 235; set_mempolicy 238 237
migrate_pages 256 238; move_pages 279 239
# other processes
ptrace 101 117; process_vm_readv 310 270; process_vm_writev 311 271; kcmp 312 272
perf_event_open 298 241
# namespaces, mounts and files by another way than their path
unshare 272 97; setns 308 268; mount 165 40; umount2 166 39; pivot_root 155 41; chroot 161 51
name_to_handle_at 303 264; open_by_handle_at 304 265; fanotify_init 300 262
fanotify_mark 301 263; inotify_init1 294 26; quotactl 179 60; lookup_dcookie 212 18
# the kernel's own programs, keys and faults
bpf 321 280; seccomp 317 277; userfaultfd 323 282; add_key 248 217; request_key 249 218
keyctl 250 219
# the machine itself
syslog 103 116; personality 135 92; vhangup 153 58; acct 163 89; swapon 167 224; swapoff 168 225
reboot 169 142; sethostname 170 161; setdomainname 171 162; settimeofday 164 170
clock_settime 227 112; adjtimex 159 171; clock_adjtime 305 266; init_module 175 105
finit_module 313 273; delete_module 176 106; kexec_load 246 104; kexec_file_load 320 294
nfsservctl 180 42
# old ways of x86_64 alone
uselib 134 -; ustat 136 -; sysfs 139 -; modify_ldt 154 -; _sysctl 156 -; iopl 172 -; ioperm 173 -
create_module 174 -; get_kernel_syms 177 -; query_module 178 -; inotify_init 253 -
"""
"""Each call with its numbers on x86_64 and on aarch64, `-` where there is none."""


@functools.cache
def filter_program(machine: str = "") -> bytes:
    """Return the filter for this machine as the kernel reads it.

    Raises ConfigurationError for a machine whose calls are not known here.
    """
    machine = machine or platform.machine()
    if machine not in _AUDIT:
        raise ConfigurationError(f"there is no filter of system calls for {machine}")
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in _program(machine))


def _program(machine: str) -> Iterator[Instruction]:
    checked = _CHECKED[machine]
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield from _unless(_EQUAL, _AUDIT[machine], _KILL)
    yield _LOAD, 0, 0, _NUMBER
    for number in _STILL_ALLOWED:
        yield from _if(_EQUAL, number, _ALLOW)
    yield from _if(_AT_LEAST, _FIRST_NEW, _ERROR | errno.ENOSYS)
    for number in _refused(machine):
        yield from _if(_EQUAL, number, _ERROR | errno.EPERM)
    yield from _of(checked["socket"], _known_family())
    yield from _of(checked["socketpair"], _known_family())
    yield from _of(checked["clone"], _in_its_namespaces())
    yield from _of(checked["mmap"], _private_memory())
    yield _RETURN, 0, 0, _ALLOW


def _refused(machine: str) -> Iterator[int]:
    column = list(_AUDIT).index(machine) + 1
    lines = [line for line in _REFUSED.splitlines() if not line.startswith("#")]
    for call in "; ".join(filter(None, lines)).split("; "):
        number = call.split()[column]
        if number != "-":
            yield int(number)


def _if(test: int, value: int, result: int) -> Iterator[Instruction]:
    yield test, 0, 1, value
    yield _RETURN, 0, 0, result


def _unless(test: int, value: int, result: int) -> Iterator[Instruction]:
    yield test, 1, 0, value
    yield _RETURN, 0, 0, result


def _of(number: int, decision: Sequence[Instruction]) -> Iterator[Instruction]:
    """Yield what decides about one call alone; it must end in a result whatever it finds."""
    yield _EQUAL, 0, len(decision), number
    yield from decision


def _known_family() -> Sequence[Instruction]:
    known = [step for family in _FAMILIES for step in _if(_EQUAL, family, _ALLOW)]
    return [_argument(0), *known, (_RETURN, 0, 0, _ERROR | errno.EAFNOSUPPORT)]


def _in_its_namespaces() -> Sequence[Instruction]:
    refused = _if(_ANY_BIT, _NEW_NAMESPACES, _ERROR | errno.EPERM)
    return [_argument(0), *refused, (_RETURN, 0, 0, _ALLOW)]


def _private_memory() -> Sequence[Instruction]:
    return [
        _argument(3),
        *_if(_ANY_BIT, _HUGE, _ERROR | errno.EPERM),
        *_unless(_ANY_BIT, _ANONYMOUS, _ALLOW),
        *_if(_ANY_BIT, _SHARED, _ERROR | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _argument(place: int) -> Instruction:
    """Return the loading of an argument's lower half, which is first on both machines."""
    return _LOAD, 0, 0, _ARGUMENTS + 8 * place
