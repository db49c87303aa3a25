"""A small FTP server on loopback: passive mode, retrieval, and habits of bad servers on request."""

import socket
import threading


class FtpServer:
    """Serves `files`; `habit` names how it misbehaves, `said` keeps the commands it got."""

    def __init__(
        self, files: dict[str, bytes], *, habit: str = "", user: tuple[str, str] = ("anonymous", "")
    ):
        self.files = files
        self.habit = habit
        self.user = user
        self.said: list[str] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._done = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    def url(self, path: str, login: str = "") -> str:
        return f"ftp://{login}127.0.0.1:{self.port}{path}"

    def close(self) -> None:
        if self._done.is_set():
            return
        self._done.set()
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _serve(self) -> None:
        while True:
            try:
                peer, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._session, args=(peer,), daemon=True).start()

    def _session(self, peer: socket.socket) -> None:
        with peer, peer.makefile("rb") as lines:
            opened: list[socket.socket] = []
            try:
                self._talk(peer, lines, opened)
            except OSError:
                pass
            finally:
                for data in opened:
                    data.close()

    def _talk(self, peer, lines, opened) -> None:
        def say(text: str) -> None:
            peer.sendall(text.encode() + b"\r\n")

        if self.habit == "silent":
            self._done.wait(30)
            return
        if self.habit == "endless greeting":
            while not self._done.wait(0.05):
                say("220-and another thing")
        while self.habit == "flood of greetings":
            peer.sendall(b"220-and another thing\r\n" * 1000)
        say("220 hello")
        data = name = None
        for raw in lines:
            command, _, argument = raw.decode().strip().partition(" ")
            self.said.append(f"{command} {argument}".strip())
            match command:
                case "USER":
                    name = argument
                    say("331 and the password")
                case "PASS":
                    good = name == self.user[0] and (name == "anonymous" or argument == self.user[1])
                    say("230 welcome" if good else "530 who are you")
                case "TYPE":
                    say("200 yes")
                case "EPSV" if self.habit == "bounce":
                    say("500 what")
                case "EPSV":
                    data = socket.create_server(("127.0.0.1", 0))
                    opened.append(data)
                    say(f"229 here (|||{data.getsockname()[1]}|)")
                case "PASV":
                    data = socket.create_server(("127.0.0.1", 0))
                    opened.append(data)
                    port = data.getsockname()[1]
                    say(f"227 there (10,255,255,1,{port >> 8},{port & 255})")
                case "MDTM" if self.habit != "no times":
                    say("213 20200101102030.5")
                case "RETR" if argument in self.files:
                    self._send(say, data, self.files[argument])
                case "RETR":
                    say("550 no such file")
                case _:
                    say("502 what")

    def _send(self, say, data: socket.socket, body: bytes) -> None:
        announced = {"lies": len(body) + 1, "announces much": 1 << 40}.get(self.habit, len(body))
        say("150 here it comes" if self.habit == "no size" else f"150 here it comes ({announced} bytes)")
        with data.accept()[0] as channel:
            if self.habit == "stalls":
                channel.sendall(body[:1])
                self._done.wait(30)
            elif self.habit == "drips":
                while not self._done.wait(0.05):
                    channel.sendall(b"x")
            elif self.habit == "endless":
                while True:
                    channel.sendall(body)
            elif self.habit == "cut":
                channel.sendall(body[:1])
            else:
                channel.sendall(body)
        say("426 the line broke" if self.habit == "cut" else "226 that was it")
