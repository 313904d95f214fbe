"""Programs that a test starts, kills and looks after; and how it waits for what they do."""
import os
import signal
import socket
import subprocess
import time

PAUSE_SECONDS = 0.25  # between two looks at something that changes by itself


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def eventually(what, question, within, pause=PAUSE_SECONDS):
    """What a question answers, as soon as it answers anything; the last trouble if it never does."""
    deadline = time.monotonic() + within
    trouble = "nothing"
    while time.monotonic() < deadline:
        try:
            answer = question()
            if answer:
                return answer
            trouble = f"the last answer was {answer!r}"
        except (AssertionError, OSError, ValueError) as error:
            trouble = str(error)
        time.sleep(pause)
    raise AssertionError(f"{what}: not within {within} s; {trouble}")


class Program:
    """One program that can be started again as it was; its log goes on."""

    def __init__(self, name, command, log):
        self.name, self.command, self.log = name, [str(word) for word in command], log
        self.process = None
        self.heard = 0  # so much of the log counts as read

    def start(self):
        """It ends with the test, however that ends: it would go on at the same cluster."""
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *self.command],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True)
        return self

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def forget(self):
        """What it has said so far does not count from now on."""
        self.heard = len(self.text())

    def says(self, words):
        """Whether it has said so, since forget; and it runs."""
        if not self.is_running():
            raise AssertionError(f"{self.name} has ended: {self.tail()}")
        return words in self.text()[self.heard:]

    def text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def tail(self):
        return "\n  ".join([str(self.log), *self.text().splitlines()[-5:]])

    def kill(self):
        """As a crash would: nothing is said, nothing is saved."""
        self._end(signal.SIGKILL)

    def stop(self):
        self._end(signal.SIGTERM)

    def _end(self, how):
        if not self.is_running():
            return
        os.kill(self.process.pid, how)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()
