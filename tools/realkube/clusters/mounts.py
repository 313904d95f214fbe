"""What is mounted below a folder has to go before the folder does: deleting would reach through it."""
import re
from pathlib import Path

from clusters.shell import Trouble, run

TABLE = Path("/proc/self/mountinfo")


def below(folder, table=None):
    """The mount points in a folder, the deepest and latest first."""
    lines = (TABLE.read_text() if table is None else table).splitlines()
    points = [re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), line.split(" ")[4])
              for line in lines]
    return [point for point in reversed(points) if point.startswith(f"{folder}/")]


def clear(folder):
    for point in below(folder):
        run(["umount", "-l", point])
    left = below(folder)
    if left:
        raise Trouble(f"{left[0]} is still mounted; {folder} stays until it is not")
