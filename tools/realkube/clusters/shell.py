"""What all modules here need of the outside: commands, words to the user, waiting with a deadline."""
import subprocess
import sys
import threading
import time

POLL_SECONDS = 0.2
interrupted = threading.Event()  # set by the front door; whoever waits gives up at once


class Trouble(Exception):
    """What could not be done, and what to do about it."""


def say(text):
    """To the user. Answers, such as the path of a kubeconfig, go to the standard output instead.
    Whoever no longer listens must not keep us from cleaning up."""
    try:
        print(f"realkube: {text}", file=sys.stderr, flush=True)
    except OSError:
        pass


def run(command, timeout=60, stdin=None, **more):
    """The output of a command that must succeed."""
    command = [str(word) for word in command]
    try:
        done = subprocess.run(command, input=stdin, text=True, capture_output=True, check=False,
                              timeout=timeout, **more)
    except FileNotFoundError:
        raise Trouble(f"{command[0]} is not installed; `tools/setup --e2e` installs it") from None
    except subprocess.TimeoutExpired:
        raise Trouble(f"`{' '.join(command)}` takes longer than {timeout} s") from None
    if done.returncode != 0:
        raise Trouble(f"`{' '.join(command)}` exits with {done.returncode}: "
                      f"{(done.stderr or done.stdout).strip()}")
    return done.stdout


def succeeds(command, timeout=20):
    try:
        run(command, timeout)
        return True
    except Trouble:
        return False


def wait_until(what, true, seconds, whatever_happens=False):
    """Asks `true()` again and again; it may raise Trouble when there is no hope left.
    An interruption ends the waiting, except where cleaning up must go on `whatever_happens`."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            raise Trouble(f"{what} did not come true within {seconds} s")
        if whatever_happens:
            time.sleep(POLL_SECONDS)
        elif interrupted.wait(POLL_SECONDS):
            raise Trouble("interrupted")
