"""A link is cut, mended, and made slow."""

import socket
import threading

import pytest

from impl.driving.proxy import Proxy


@pytest.fixture
def proxy():
    """A proxy before a server that answers with what it is told."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=echo, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    made = Proxy(server.getsockname())
    yield made
    made.close()
    server.close()


def echo(connection):
    with connection:
        while data := connection.recv(100):
            connection.sendall(data)


def connect(proxy):
    host, port = proxy.address.split(":")
    return socket.create_connection((host, int(port)), timeout=120)


def test_what_is_sent_arrives(proxy):
    with connect(proxy) as link:
        sent, got = b"abc" * 1000, b""
        link.sendall(sent)
        while len(got) < len(sent):
            got += link.recv(100)
        assert got == sent


def test_a_link_that_is_cut_is_closed_and_can_be_mended(proxy):
    with connect(proxy) as link:
        link.sendall(b"x")
        assert link.recv(1) == b"x"
        proxy.cut()
        assert link.recv(1) == b""
    with connect(proxy) as link:
        assert ended(link)
    proxy.mend()
    with connect(proxy) as link:
        link.sendall(b"y")
        assert link.recv(1) == b"y"


def ended(link):
    try:
        return link.recv(1) == b""
    except ConnectionError:
        return True


def test_a_slow_link_holds_back(proxy, monkeypatch):
    held = []
    monkeypatch.setattr("impl.driving.proxy.time.sleep", held.append)
    proxy.delay = 7.0
    with connect(proxy) as link:
        link.sendall(b"z")
        assert link.recv(1) == b"z"
    assert held.count(7.0) == 2
