"""Pid files: what is stopped is what was started, and never another process."""
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from clusters import processes  # noqa: E402
from clusters.shell import wait_until  # noqa: E402

PATIENCE_SECONDS = 20


class PidFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.pid_file = self.folder / "pids" / "program"

    def start(self, *command):
        process = processes.start(self.pid_file, self.folder / "log", command)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until("the pid file", self.pid_file.exists, PATIENCE_SECONDS)
        return process

    def bystander(self):
        process = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def write(self, boot, pid, started):
        fields = ["S", *"0" * 18, str(started), "0"]
        self.pid_file.parent.mkdir()
        self.pid_file.write_text(f"{boot}\n{pid} (some) name) {' '.join(fields)}\n")

    def started_at(self, pid):
        return processes.read_stat(Path(f"/proc/{pid}/stat").read_text())[2]

    def boot(self):
        return processes.BOOT_ID.read_text().strip()

    def test_a_process_is_written_down_under_its_own_pid(self):
        process = self.start("sleep", "1000")
        self.assertEqual(processes.pid_of(self.pid_file), process.pid)
        self.assertTrue(processes.running(self.pid_file))

    def test_stopping_ends_the_process_and_removes_the_file(self):
        process = self.start("sleep", "1000")
        processes.stop([self.pid_file])
        self.assertEqual(process.wait(PATIENCE_SECONDS), -signal.SIGTERM)
        self.assertFalse(self.pid_file.exists())

    def test_a_process_that_does_not_listen_is_killed(self):
        process = self.start("sh", "-c", "trap '' TERM; echo deaf; exec sleep 1000")
        wait_until("deafness", lambda: (self.folder / "log").read_text(), PATIENCE_SECONDS)
        processes.stop([self.pid_file], grace_seconds=0.2)
        self.assertEqual(process.wait(PATIENCE_SECONDS), -signal.SIGKILL)

    def test_a_process_that_ended_is_not_running_though_nobody_asked_for_its_end(self):
        process = self.start("true")
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it stays, as a zombie
        self.assertFalse(processes.running(self.pid_file))
        processes.stop([self.pid_file])

    def test_a_later_process_with_the_same_pid_is_spared(self):
        other = self.bystander()
        self.write(self.boot(), other.pid, self.started_at(other.pid) - 1)
        self.assertFalse(processes.running(self.pid_file))
        processes.stop([self.pid_file])
        self.assertIsNone(other.poll())

    def test_a_process_of_another_boot_is_spared(self):
        other = self.bystander()
        self.write("00000000-another-boot", other.pid, self.started_at(other.pid))
        processes.stop([self.pid_file])
        self.assertIsNone(other.poll())

    def test_the_true_owner_of_a_file_written_by_hand_is_stopped(self):
        other = self.bystander()
        self.write(self.boot(), other.pid, self.started_at(other.pid))
        processes.stop([self.pid_file])
        self.assertEqual(other.wait(PATIENCE_SECONDS), -signal.SIGTERM)

    def test_nonsense_in_a_file_stops_nothing(self):
        self.pid_file.parent.mkdir()
        for text in ("", "1", f"{self.boot()}\n1", f"{self.boot()}\n1 (init) S", "\0\n\0\n"):
            self.pid_file.write_text(text)
            self.assertFalse(processes.running(self.pid_file))
            processes.stop([self.pid_file])
            self.assertFalse(self.pid_file.exists())

    def test_a_file_that_is_not_there_is_nothing_to_stop(self):
        processes.stop([self.pid_file])

    def test_a_name_with_brackets_and_spaces_is_read(self):
        line = "7 (a) S 1) R " + " ".join(str(number) for number in range(1, 30))
        self.assertEqual(processes.read_stat(line), (7, "R", 19))


class Namespaces(unittest.TestCase):
    def test_those_who_wait_for_us_are_spared_with_us(self):
        self.assertIn(os.getpid(), processes._ancestry())
        self.assertIn(os.getppid(), processes._ancestry())


if __name__ == "__main__":
    unittest.main()
