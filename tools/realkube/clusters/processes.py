"""Processes that outlive this program, and that are stopped later without ever hitting another's.

A pid alone names a process only until it ends. So a pid file also holds the boot and the moment of
the start, as the kernel counts it; both are compared while the process is held by a pidfd, which no
later process can take over. The process writes its own pid file before it becomes the program: there
is no moment in which it runs and is not written down, whatever is killed.
"""
import os
import re
import select
import signal
import subprocess
import time
from pathlib import Path

from clusters.shell import Trouble

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
BECOME = ('read -r boot <' + str(BOOT_ID) + ' && read -r stat </proc/$$/stat && '
          'printf "%s\\n%s\\n" "$boot" "$stat" >"$0.new" && mv "$0.new" "$0" && exec "$@"')
GRACE_SECONDS = 6


def start(pid_file, log, command, prefix=(), environment=None):
    """`prefix` is put before everything: how to enter a namespace. It must exec, not fork."""
    pid_file.parent.mkdir(parents=True, exist_ok=True)
    words = [*prefix, "sh", "-c", BECOME, pid_file, *command]
    with open(log, "w", encoding="utf-8") as output:
        return subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL,
                                stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
                                cwd="/", env=environment)


def read_stat(line):
    """Pid, state and moment of the start from a line of /proc/PID/stat; a name may hold anything."""
    pid, rest = line.split(" (", 1)
    fields = rest.rsplit(")", 1)[1].split()
    return int(pid), fields[0], int(fields[19])


def _hold(pid_file):
    """A pidfd of the process that the file tells of, or None if it has ended."""
    try:
        boot, stat = pid_file.read_text().splitlines()
        pid, _, started = read_stat(stat)
        if boot != BOOT_ID.read_text().strip():
            return None
        held = os.pidfd_open(pid)
    except (OSError, ValueError, IndexError):
        return None
    try:
        _, state, began = read_stat(Path(f"/proc/{pid}/stat").read_text())
        if began == started and state not in "ZX":
            return held
    except (OSError, ValueError, IndexError):
        pass
    os.close(held)
    return None


def running(pid_file):
    held = _hold(pid_file)
    if held is None:
        return False
    os.close(held)
    return True


def pid_of(pid_file):
    return read_stat(pid_file.read_text().splitlines()[1])[0]


def stop(pid_files, grace_seconds=GRACE_SECONDS):
    """Asks all to end, ends those that do not, and removes the files."""
    _end([held for held in map(_hold, pid_files) if held is not None], grace_seconds)
    for pid_file in pid_files:
        pid_file.unlink(missing_ok=True)


def stop_all_in(namespace, grace_seconds=GRACE_SECONDS):
    """Ends what is left in a network namespace that we made: nothing else gets into one."""
    wanted = os.stat(namespace).st_ino
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return _stop_where(lambda pid: os.stat(f"/proc/{pid}/ns/net").st_ino == wanted, pids,
                       grace_seconds)


def stop_all_of(group, pids):
    """Ends those of `pids` that are in a control group that we made: containers of ours."""
    place = re.compile(rf":/{re.escape(group)}(/|$)", re.MULTILINE)
    return _stop_where(lambda pid: place.search(Path(f"/proc/{pid}/cgroup").read_text()), pids, 0.5)


def _stop_where(true, pids, grace_seconds):
    """Asks `true` again when the process is held: until then the pid may change hands."""
    ours = _ancestry()
    found = []
    for pid in pids:
        try:
            if pid in ours or not true(pid):
                continue
            held = os.pidfd_open(pid)
        except OSError:
            continue
        try:
            if true(pid):
                found.append(held)
                continue
        except OSError:
            pass
        os.close(held)
    count = len(found)
    _end(found, grace_seconds)
    return count


def _ancestry():
    """This process and those that wait for it."""
    ours, pid = set(), os.getpid()
    while pid > 0:
        ours.add(pid)
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, ValueError, IndexError):
            break
    return ours


def _end(held, grace_seconds):
    try:
        for kind, seconds in ((signal.SIGTERM, grace_seconds), (signal.SIGKILL, 10)):
            for process in held:
                try:
                    signal.pidfd_send_signal(process, kind)
                except ProcessLookupError:
                    pass
            if _all_ended(held, seconds):
                return
        raise Trouble("a process does not end, not even when killed")
    finally:
        for process in held:
            os.close(process)


def _all_ended(held, seconds):
    deadline = time.monotonic() + seconds
    waiting = select.poll()
    for process in held:
        waiting.register(process, select.POLLIN)
    left = set(held)
    while left:
        rest = deadline - time.monotonic()
        if rest <= 0:
            return False
        for process, _ in waiting.poll(rest * 1000):
            waiting.unregister(process)
            left.discard(process)
    return True
