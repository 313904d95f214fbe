"""A control group of its own for the pods of one real node, in every hierarchy that there is.

With version 1 there is a hierarchy for each controller, and a group must be told its processors
before it takes a process. With version 2 there is one, and a parent must pass its controllers on.
"""
import os
from pathlib import Path

from clusters import processes
from clusters.shell import Trouble, wait_until

ROOT = Path("/sys/fs/cgroup")
EMPTY_SECONDS = 10


def make(name, root=ROOT):
    hierarchies = _hierarchies(root)
    if not hierarchies:
        raise Trouble(f"{root} holds no control groups; a real node cannot be had here")
    for hierarchy in hierarchies:
        group = hierarchy / name
        group.mkdir(exist_ok=True)
        for file in ("cpuset.cpus", "cpuset.mems"):
            if _is_v1(root) and (group / file).exists():
                (group / file).write_text((hierarchy / file).read_text())
    if not _is_v1(root):
        for controller in (root / "cgroup.controllers").read_text().split():
            for group in (root, root / name):
                try:
                    (group / "cgroup.subtree_control").write_text(f"+{controller}")
                except OSError:
                    pass  # the kubelet says which of those that it needs are missing


def remove(name, root=ROOT):
    """Ends what is still in the group, then removes it from the leaves to the root."""
    groups = [group for hierarchy in _hierarchies(root) for group in _groups(hierarchy / name)]
    processes.stop_all_of(name, {pid for group in groups for pid in _members(group)})
    for group in groups:
        wait_until(f"{group} being empty", lambda group=group: _removed(group), EMPTY_SECONDS,
                   whatever_happens=True)


def _is_v1(root):
    return not (root / "cgroup.controllers").exists()


def _hierarchies(root):
    if not _is_v1(root):
        return [root]
    return [path for path in sorted(root.glob("*"))
            if not path.is_symlink() and (path / "cgroup.procs").exists()]


def _groups(top):
    return [Path(path) for path, _, _ in os.walk(top, topdown=False)]


def _members(group):
    try:
        return [int(pid) for pid in (group / "cgroup.procs").read_text().split()]
    except OSError:
        return []


def _removed(group):
    try:
        group.rmdir()
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True
