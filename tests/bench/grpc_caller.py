"""Unary gRPC calls over one connection, enough to measure with: HTTP/2 as RFC 9113 has it, header fields as plain
literals. What is answered is not read but for its end; whoever calls looks for what came of it."""
import socket
import ssl
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
ACK = END_STREAM = 1
END_HEADERS = 4
SECONDS = 10


class GrpcCaller:
    def __init__(self, port, papers):
        context = ssl.create_default_context(cafile=papers / "authority.pem")
        context.load_cert_chain(papers / "client.pem", papers / "client.key")
        context.set_alpn_protocols(["h2"])
        plain = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = context.wrap_socket(plain, server_hostname="127.0.0.1")
        self._socket.sendall(PREFACE + _frame(SETTINGS, 0, 0))
        self._stream = -1

    def call(self, path, message):
        """Comes back when the answer has ended."""
        self._stream += 2
        head = b"".join(b"\x00" + _text(name) + _text(value) for name, value in (
            (":method", "POST"), (":scheme", "https"), (":path", path), (":authority", "127.0.0.1"),
            ("content-type", "application/grpc"), ("te", "trailers")))
        body = struct.pack(">BI", 0, len(message)) + message
        self._socket.sendall(_frame(HEADERS, END_HEADERS, self._stream, head) +
                             _frame(DATA, END_STREAM, self._stream, body))
        while True:
            kind, flags, stream, payload = self._next()
            if kind == SETTINGS and not flags & ACK:
                self._socket.sendall(_frame(SETTINGS, ACK, 0))
            elif kind == PING and not flags & ACK:
                self._socket.sendall(_frame(PING, ACK, 0, payload))
            elif kind in (RST_STREAM, GOAWAY):
                raise AssertionError(f"the server refuses {path}")
            elif stream == self._stream and flags & END_STREAM:
                return

    def close(self):
        self._socket.close()

    def _next(self):
        head = self._read(9)
        length = int.from_bytes(head[:3], "big")
        return head[3], head[4], int.from_bytes(head[5:9], "big") & 0x7FFFFFFF, self._read(length)

    def _read(self, count):
        got = b""
        while len(got) < count:
            part = self._socket.recv(count - len(got))
            if not part:
                raise AssertionError("the server has hung up")
            got += part
        return got


def _text(text):
    return bytes([len(text)]) + text.encode()  # all of ours are shorter than 127


def _frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload
