"""Two real servers to speak to: a third party's mock of every vendor, and one that breaks rules."""

import re
import shutil
import ssl
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from agents.contracts import Message, Purpose, Role
from agents.control import Control
from agents.model.call import Call
from agents.providers.base import Finish, ModelRequest, Token
from agents.providers.choice import Credentials
from agents.providers.dialects import dialect
from agents.providers.vendors import RemoteName
from agents.providers.wire.remote import RemoteProvider
from tests.certificates import write_self_signed
from tests.unit.agents.providers.calls import Ask, ProviderOf, Reply, attempts
from tests.unit.agents.providers.mock import Mock
from tests.unit.agents.providers.wire import Wire

KEY = "sk-a-key-that-nobody-may-see"
MOCK = Path(__file__).parents[4] / "node_modules/@copilotkit/aimock/dist/cli.js"


@pytest.fixture
def key() -> str:
    return KEY


@pytest.fixture
def provider_of() -> ProviderOf:
    def provider_of(
        base_url: str, model: str = "m", key: str = KEY, provider: RemoteName = "openai"
    ) -> RemoteProvider:
        return dialect(provider)(
            Credentials(
                provider=provider,
                base_url=base_url,
                api_key=SecretStr(key),
                model=model,
                found="a test",
            )
        )

    return provider_of


@pytest.fixture
def ask(provider_of: ProviderOf) -> Ask:
    def ask(
        base_url: str,
        question: str = "hello",
        *,
        messages: Sequence[Message] = (),
        model: str = "m",
        provider: RemoteName = "openai",
        control: Control | None = None,
        **request: Any,
    ) -> Reply:
        asked = provider_of(base_url, model, provider=provider)
        messages = messages or [Message(role=Role.USER, content=question)]
        wanted = ModelRequest(purpose=Purpose.THINK, messages=messages, **request)
        given = asked.body(wanted)
        call = Call(asked, control or Control(60, idle_seconds=30), wanted)
        tokens = [item for item in attempts(call) if isinstance(item, Token)]
        if call.error is not None:
            raise call.error
        record = call.record()
        finish = Finish(stop_reason=record.stop_reason, usage=record.usage)
        return Reply(tokens, finish, given, record.request)

    return ask


@pytest.fixture(scope="session")
def mock_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mock]:
    node = shutil.which("node")
    assert node, "The tests need Node 20.15 or newer on the PATH."
    assert MOCK.is_file(), "The tests need the mock model server: run `npm ci` first."
    nothing = tmp_path_factory.mktemp("mock") / "fixtures.json"
    nothing.write_text('{"fixtures": []}')
    process = subprocess.Popen(
        [node, str(MOCK), "-p", "0", "-f", str(nothing), "-c", "5"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        said = []
        for line in process.stdout:
            said.append(line)
            if found := re.search(r"listening on (http://\S+)", line):
                yield Mock(found[1])
                return
        pytest.fail("The mock model server did not start: " + "".join(said))
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


@pytest.fixture
def mock(mock_server: Mock) -> Mock:
    mock_server.forget()
    return mock_server


@pytest.fixture
def wire() -> Iterator[Wire]:
    server = Wire()
    yield server
    server.close()


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Write a certificate of 127.0.0.1 that nobody else has signed, with its key."""
    path = tmp_path / "certificate.pem"
    write_self_signed(path)
    return path


@pytest.fixture
def tls_wire(certificate: Path) -> Iterator[Wire]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = Wire(context)
    yield server
    server.close()
