"""The kernel refuses sandboxed code what plain Python does not need."""

import errno
import platform
import struct
from collections.abc import Callable

import pytest

from agents.control import Control
from agents.errors import ConfigurationError, ToolFailed
from agents.tools.sandbox.bubblewrap import Bubblewrap
from agents.tools.sandbox.filter import filter_program

Refusal = Callable[[str], str]

CALLS = """
import ctypes, mmap, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *given):
    if libc[name](*given) == -1:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
"""
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NUMBERS = {
    "x86_64": {"write": 1, "mmap": 9, "shmget": 29, "socket": 41, "clone": 56, "execve": 59}
    | {"ptrace": 101, "keyctl": 250, "perf_event_open": 298, "bpf": 321, "userfaultfd": 323},
    "aarch64": {"write": 64, "mmap": 222, "shmget": 194, "socket": 198, "clone": 220}
    | {"execve": 221, "ptrace": 117, "keyctl": 219, "perf_event_open": 241, "bpf": 280}
    | {"userfaultfd": 282},
}
HERE = NUMBERS[platform.machine()]
ALLOWED, KILLED = 0x7FFF0000, 0x80000000


@pytest.fixture
def refusal(bubblewrap: Bubblewrap) -> Refusal:
    """Run code that must fail; return the failure."""

    def refusal(code: str) -> str:
        with pytest.raises(ToolFailed) as raised:
            list(bubblewrap.run(CALLS + code, Control(seconds=60)))
        return str(raised.value)

    return refusal


@pytest.mark.parametrize("process", ["self", "1"])
def test_every_process_inside_has_the_filter(bubblewrap: Bubblewrap, process: str) -> None:
    code = f"print([line for line in open('/proc/{process}/status') if 'Seccomp:' in line])"

    assert "".join(bubblewrap.run(code, Control(seconds=60))) == "['Seccomp:\\t2\\n']\n"


@pytest.mark.parametrize(
    "code",
    [
        "call('shmget', 0, 4096, 0o1600)",
        "call('shmat', 0, None, 0)",
        "call('msgget', 0, 0o1600)",
        "call('semget', 0, 1, 0o1600)",
        "os.memfd_create('x')",
        "mmap.mmap(-1, 4096)",
        "mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000)",
        "call('splice', 0, None, 1, None, 1, 0)",
        "call('vmsplice', 1, None, 0, 0)",
    ],
)
def test_memory_that_no_process_owns_is_refused(refusal: Refusal, code: str) -> None:
    assert "PermissionError" in refusal(code)


def test_zeroes_can_be_read_and_not_be_mapped(bubblewrap: Bubblewrap, refusal: Refusal) -> None:
    read = "".join(bubblewrap.run("open('/dev/zero', 'rb').read(2)", Control(seconds=60)))

    assert read == "b'\\x00\\x00'\n"
    assert "OSError" in refusal("mmap.mmap(os.open('/dev/zero', os.O_RDWR), 4096)")


@pytest.mark.parametrize(
    "code",
    [
        "call('unshare', 0x10000000)",
        "call('setns', 0, 0)",
        "call('mount', b'none', b'/w', b'tmpfs', 0, None)",
        "call('personality', 0)",
        "call('inotify_init1', 0)",
        f"call('syscall', {HERE['clone']}, 0x10000000 | 17, 0, 0, 0, 0)",
        *(
            f"call('syscall', {HERE[name]}, 0, 0, 0, 0, 0)"
            for name in ("ptrace", "keyctl", "perf_event_open", "bpf", "userfaultfd")
        ),
    ],
)
def test_what_plain_python_does_not_need_is_refused(refusal: Refusal, code: str) -> None:
    assert "PermissionError" in refusal(code)


@pytest.mark.parametrize("family", ["AF_NETLINK", "AF_VSOCK", "AF_PACKET", "AF_ALG"])
def test_only_plain_families_of_sockets_are_there(refusal: Refusal, family: str) -> None:
    told = refusal(f"socket.socket(socket.{family}, socket.SOCK_RAW)")

    assert "Address family not supported" in told


@pytest.mark.parametrize("number", [425, 435, 447, 500, 0x40000000 | 29, 0xFFFFFFFF])
def test_new_calls_and_those_of_another_abi_do_not_exist(refusal: Refusal, number: int) -> None:
    assert "Function not implemented" in refusal(f"call('syscall', {number}, 0, 0, 0, 0, 0)")


@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_of_each_machine_decides_alike(machine: str) -> None:
    decide, numbers = _Kernel(filter_program(machine), MACHINES[machine]), NUMBERS[machine]
    refused = 0x50000 | errno.EPERM

    assert decide(numbers["write"]) == decide(numbers["execve"]) == ALLOWED
    assert {decide(numbers[name]) for name in ("shmget", "ptrace", "bpf", "keyctl")} == {refused}
    assert decide(numbers["clone"], 0x00010F00) == ALLOWED
    assert decide(numbers["clone"], 0x10000000) == refused
    assert decide(numbers["mmap"], 0, 0, 0, 0x22) == ALLOWED
    assert decide(numbers["mmap"], 0, 0, 0, 0x21) == refused
    assert decide(numbers["socket"], 2) == ALLOWED
    assert decide(numbers["socket"], 16) == 0x50000 | errno.EAFNOSUPPORT
    assert decide(425) == decide(0x40000000 | numbers["write"]) == 0x50000 | errno.ENOSYS
    assert decide(436) == ALLOWED


@pytest.mark.parametrize("machine", MACHINES)
def test_a_call_made_as_another_machine_kills(machine: str) -> None:
    i386 = 0x40000003

    assert _Kernel(filter_program(machine), i386)(NUMBERS[machine]["write"]) == KILLED


def test_without_a_filter_for_the_machine_there_is_no_sandbox() -> None:
    with pytest.raises(ConfigurationError, match="no filter of system calls for riscv64"):
        filter_program("riscv64")


class _Kernel:
    """Decide about a call as the kernel would: the part of classic BPF that filters are made of."""

    def __init__(self, program: bytes, architecture: int) -> None:
        self._steps = list(struct.iter_unpack("<HBBI", program))
        self._architecture = architecture

    def __call__(self, number: int, *arguments: int) -> int:
        filled = (*arguments, *[0] * (6 - len(arguments)))
        data = struct.pack("<IIQ6Q", number, self._architecture, 0, *filled)
        held, at = 0, 0
        while True:
            code, yes, no, value = self._steps[at]
            at += 1
            if code == 0x20:
                (held,) = struct.unpack_from("<I", data, value)
            elif code == 0x06:
                return int(value)
            else:
                is_so = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}
                at += yes if is_so[code] else no
