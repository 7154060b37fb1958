"""Connections between brokers: requests of Kafka and their answers, over TCP on the loopback interface.

Each process listens on one port. It has a lane, a connection with a thread, for what a controller asks a broker, for each
partition that it follows at a leader, and for each ISR that it proposes: on a lane one request is under way at a time.
What a controller asks is sent until it is answered, as long as its term lasts and the receiver's process lives
(ControllerChannelManager.RequestSendThread.doWork); any other request whose connection breaks is lost, as the
specification allows. What arrives goes into the owner's queue.
"""

from __future__ import annotations

import queue
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from kafkaproof.impl.protocol.inner_frames import Frame, api_of, read_answer, read_request
from kafkaproof.impl.protocol.wire import HOST, LARGEST
from kafkaproof.impl.seams.between.messages import Receiver
from kafkaproof.impl.seams.between.naming import Asked

AGAIN = 0.1
"""After how many seconds a controller asks again where its link does not work."""
_SIZE = struct.Struct(">i")


@dataclass(eq=False)
class Request:
    """A request that is to be sent, on a lane; `frame` writes it with a correlation number. `is_control`: it is what a
    controller asks, in the term `epoch`.
    """

    receiver: Receiver
    lane: tuple
    api: int
    version: int
    asked: Asked
    frame: Callable[[int], bytes]
    is_control: bool = False
    epoch: int = 0


@dataclass(eq=False)
class Arrived:
    """A request that has arrived, and the connection over which it is to be answered."""

    frame: Frame
    connection: Connection


@dataclass(eq=False)
class Answered:
    """A request that was answered, and its answer."""

    request: Request
    frame: Frame


class Connection:
    """The answering end of a connection, with a thread that sends what cannot be sent at once: whoever answers does not wait
    for a slow reader.
    """

    def __init__(self, end: socket.socket, port: Port):
        self._end, self._port = end, port
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._left, self._lock = 0, threading.Lock()
        threading.Thread(target=self._send_all, daemon=True).start()

    def answer(self, data: bytes) -> None:
        """Send an answer behind those before; an empty one ends it."""
        with self._lock:
            left = data if not data or self._left or self._port.delay else self._send_now(data)
            if left or not data:
                self._left += 1
                self._answers.put(left)

    def _send_now(self, data: bytes) -> bytes:
        """Send as much as there is room for; what is left."""
        try:
            return data[self._end.send(data, socket.MSG_DONTWAIT) :]
        except BlockingIOError:
            return data
        except OSError:
            return b""  # who asked has gone

    def hang_up(self) -> None:
        """End the connection without an answer: who asked asks again."""
        try:
            self._end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it has ended already

    def _send_all(self):
        while data := self._answers.get():
            self._port.hold_back()
            try:
                self._end.sendall(data)
            except OSError:
                pass  # who asked has gone
            with self._lock:
                self._left -= 1


class Port:
    """Listens on a free port, or a given one, and sends; `inbox` receives Arrived and Answered.

    `is_wanted` tells whether what was asked as the controller is still to be sent. `serves` tells of an API and a version
    whether it is one between brokers; all else is answered by `others`. `delay` is how long each request and answer is
    held back, in seconds: a slow link. `pipelined`: a request does not wait for the answer to the one before.
    """

    def __init__(
        self,
        inbox: queue.SimpleQueue,
        is_wanted: Callable[[Request], bool] = lambda request: True,
        serves: Callable[[int, int], bool] = lambda api, version: True,
        others: Callable[[bytes], bytes | None] = lambda data: None,
        pipelined: bool = False,
        port: int = 0,
    ):
        self.inbox, self.is_wanted, self.pipelined = inbox, is_wanted, pipelined
        self._serves, self._others = serves, others
        self._listener = socket.create_server((HOST, port))
        self.address = (HOST, self._listener.getsockname()[1])
        self._lanes: dict[tuple, Lane] = {}
        self.links_cut: set[tuple[str, int]] = set()
        self.delay = 0.0
        threading.Thread(target=self._accept, daemon=True).start()

    def ask(self, request: Request) -> None:
        """Send a request behind those that were sent on the same lane."""
        key = request.receiver.address, request.lane
        if key not in self._lanes:
            self._lanes[key] = Lane(self, request.receiver.address)
        self._lanes[key].ask(request)

    def is_busy(self, address: tuple[str, int], lane: tuple) -> bool:
        """Whether a request on a lane has not been answered yet, and is not lost."""
        found = self._lanes.get((address, lane))
        return found is not None and found.waiting.unfinished_tasks > 0

    def cut(self, address: tuple[str, int], is_cut: bool) -> None:
        """Let nothing through to an address, or everything again."""
        (self.links_cut.add if is_cut else self.links_cut.discard)(address)
        if is_cut:
            for (to, _), lane in self._lanes.items():
                if to == address:
                    lane.hang_up()

    def hold_back(self) -> None:
        """Wait as long as each request and answer is held back."""
        if self.delay:
            time.sleep(self.delay)

    def flush(self) -> None:
        """Wait until all that is sent without waiting for answers has left this process, or is lost."""
        for lane in list(self._lanes.values()):
            lane.waiting.join()

    def _accept(self):
        while True:
            end, _ = self._listener.accept()
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._receive, args=(end,), daemon=True).start()

    def _receive(self, end: socket.socket):
        connection = Connection(end, self)
        with end, end.makefile("rb") as stream:
            try:
                while data := read_frame(stream):
                    if self._serves(*api_of(data)):
                        self.inbox.put(Arrived(read_request(data), connection))
                    elif answer := self._others(data):
                        connection.answer(answer)
            except (OSError, ValueError, KeyError, IndexError, struct.error):
                pass  # the sender has died in the middle of a frame, or speaks another protocol: hang up
            finally:
                connection.answer(b"")


class Lane:
    """A connection to another process, with a thread: requests one after the other, each until it is answered or lost."""

    def __init__(self, port: Port, address: tuple[str, int]):
        self._port, self._address = port, address
        self.waiting: queue.Queue[tuple[Request, bool]] = queue.Queue()
        self._open: tuple[socket.socket, BinaryIO] | None = None
        self._unanswered: dict[int, Request] = {}
        self._number = 0
        threading.Thread(target=self._run, daemon=True).start()

    def ask(self, request: Request) -> None:
        """Send a request behind those before: at once where none is under way, so that no thread has to wake up first."""
        self.waiting.put((request, self.waiting.unfinished_tasks == 0 and self._sent_at_once(request)))

    def _sent_at_once(self, request: Request) -> bool:
        port = self._port
        if not self._open or port.pipelined or port.delay or self._address in port.links_cut:
            return False
        try:
            self._send(self._open[0], request)
        except OSError:
            return False  # the thread notices, too
        return True

    def _send(self, end: socket.socket, request: Request) -> None:
        self._number += 1
        self._unanswered[self._number] = request
        end.sendall(request.frame(self._number))

    def hang_up(self) -> None:
        """Break the connection; what is under way on it is lost, or asked again."""
        opened = self._open
        try:
            if opened:
                opened[0].shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it is broken already

    def _run(self):
        while True:
            request, is_sent = self.waiting.get()
            if not is_sent:
                self._port.hold_back()
            while not self._asked(request, is_sent):
                time.sleep(AGAIN)
                is_sent = False
            self.waiting.task_done()

    def _asked(self, request: Request, is_sent: bool) -> bool:
        """Whether a request, which may be sent already, is done: answered, or lost."""
        try:
            if self._address in self._port.links_cut:
                raise ConnectionError("the link is cut")
            end, stream = self._open or self._connect()
            if not is_sent:
                self._send(end, request)
            if not self._port.pipelined:
                self._take_answer(stream)
            return True
        except (OSError, ValueError) as error:
            self._close()
            lasts = request.is_control and self._port.is_wanted(request)
            return not lasts or isinstance(error, ConnectionRefusedError)

    def _connect(self) -> tuple[socket.socket, BinaryIO]:
        end = socket.create_connection(self._address, timeout=1)
        end.settimeout(None)
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = end.makefile("rb")
        self._open, self._unanswered = (end, stream), {}
        if self._port.pipelined:
            threading.Thread(target=self._take_answers, args=(stream,), daemon=True).start()
        return end, stream

    def _take_answers(self, stream: BinaryIO):
        try:
            while True:
                self._take_answer(stream)
        except (OSError, ValueError):
            pass  # the connection is broken

    def _take_answer(self, stream: BinaryIO):
        """Hand over the next answer; raises ConnectionError where none comes any more."""
        data = read_frame(stream)
        if not data:
            raise ConnectionError("it was closed")
        request = self._unanswered.pop(int.from_bytes(data[:4], "big"), None)
        if request is None:
            raise ValueError("an answer to no request")
        self._port.inbox.put(Answered(request, read_answer(data, request.api, request.version)))

    def _close(self):
        if self._open:
            for each in self._open:
                each.close()
        self._open = None


def read_frame(stream: BinaryIO) -> bytes:
    """The next frame, without its length; nothing at the end; raises ValueError where it is not whole, or none."""
    header = stream.read(_SIZE.size)
    if len(header) < _SIZE.size:
        return b""
    size = _SIZE.unpack(header)[0]
    if not _SIZE.size <= size <= LARGEST:
        raise ValueError("no frame")
    data = stream.read(size)
    if len(data) < size:
        raise ConnectionError("it was closed in the middle of a frame")
    return data
