"""The programs: which module each comes from, where it is kept, and how it is built.

Each folder beside this package with a go.mod and a go.sum pins one project. Its programs are built
by name from the Go module proxy, with `-mod=readonly`: what go.sum does not vouch for is not built.
They are kept outside of the tree, in a folder that is named by the hash of go.mod and go.sum.
"""
import fcntl
import hashlib
import os
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from clusters import toolchain
from clusters.shell import Trouble, say

HERE = Path(__file__).resolve().parent.parent
RECIPE = "1"  # a part of the hash; another number when the way of building changes
ABOUT = "on 2 idle cores"


@dataclass(frozen=True)
class Program:
    """`seconds`: of the first build, in the order of this table, on two cores with nothing else to do;
    measured for the three large parts of Kubernetes, and in proportion to them for the others."""
    name: str
    module: str
    package: str
    seconds: int


def _kubernetes(name, seconds):
    return Program(name, "kubernetes", f"k8s.io/kubernetes/cmd/{name}", seconds)


def _liqo(name, command, seconds, module="liqo"):
    return Program(name, module, f"github.com/liqotech/liqo/cmd/{command}", seconds)


def _liqo_cluster(module="liqo"):
    """What `up --liqo` runs of it."""
    return [
        _liqo("liqo-controller-manager", "liqo-controller-manager", 210, module),
        _liqo("liqo-crd-replicator", "crd-replicator", 10, module),
        _liqo("liqo-webhook", "webhook", 25, module),
        _liqo("liqo-virtual-kubelet", "virtual-kubelet", 20, module),
    ]


# Versions of Liqo, each pinned by a folder; the first is the one that nobody has to ask for. The others
# have programs of the same names, are built by the name of the folder, and have no liqoctl.
LIQO = {"1.2": "liqo", "1.1": "liqo-1.1"}
USUAL_LIQO = next(iter(LIQO))
GROUPS = {
    "control-plane": [
        Program("etcd", "etcd", "go.etcd.io/etcd/server/v3", 75),
        _kubernetes("kube-apiserver", 320),
        _kubernetes("kube-controller-manager", 70),
        _kubernetes("kube-scheduler", 10),
        _kubernetes("kubectl", 50),
        Program("kwok", "kwok", "sigs.k8s.io/kwok/cmd/kwok", 150),
    ],
    "nodes": [_kubernetes("kubelet", 60)],
    "helm": [Program("helm", "helm", "helm.sh/helm/v3/cmd/helm", 110)],
    "liqo": [
        *_liqo_cluster(),
        _liqo("liqoctl", "liqoctl", 110),
        _liqo("liqo-ipam", "ipam", 10),
        _liqo("liqo-metric-agent", "metric-agent", 10),
        _liqo("liqo-proxy", "proxy", 5),
        _liqo("liqo-telemetry", "telemetry", 10),
        _liqo("liqo-gateway", "gateway", 20),
        _liqo("liqo-fabric", "fabric", 20),
    ],
}
ALL = {program.name: program for group in GROUPS.values() for program in group}
OLDER = {module: _liqo_cluster(module) for version, module in LIQO.items() if version != USUAL_LIQO}


def with_liqo(version=USUAL_LIQO):
    """What `up --liqo` needs beside a control plane."""
    more = [ALL["liqoctl"]] if version == USUAL_LIQO else []
    return [*GROUPS["helm"], *_liqo_cluster(LIQO[version]), *more]


def chosen(only):
    """Programs by the names of groups or of single ones; without any, all but older Liqos."""
    groups, found = {**GROUPS, **OLDER}, []
    for name in only or GROUPS:
        if name not in groups and name not in ALL:
            raise Trouble(f"there is nothing called {name} to build; there is "
                          f"{', '.join([*groups, *ALL])}")
        found += groups.get(name) or [ALL[name]]
    return list(dict.fromkeys(found))


def given_folder():
    given = os.environ.get("REALKUBE_BIN")
    return Path(given) if given else None


def path_of(program):
    return folder_of(program.module) / program.name


def folder_of(module):
    if given_folder():
        return given_folder() / module if module in OLDER else given_folder()
    digest = hashlib.sha256(RECIPE.encode())
    for name in ("go.mod", "go.sum"):
        digest.update((HERE / module / name).read_bytes())
    return toolchain.cache_folder() / f"{module}-{digest.hexdigest()[:12]}"


def find(programs):
    """Where each is; all that are missing are named at once."""
    missing = _missing(programs)
    if missing and given_folder():
        raise Trouble(f"{given_folder()} (REALKUBE_BIN) lacks {_names(missing)}; nothing is built "
                      "while REALKUBE_BIN is set")
    if missing:
        raise Trouble(f"not built yet: {_names(missing)}; `tools/realkube/realkube build --only "
                      f"{','.join(_words(missing))}` takes {_about(missing)}")
    return {program.name: path_of(program) for program in programs}


def build(programs):
    """Builds what is missing, one after the other: two cores are busy with one."""
    if given_folder() or not _missing(programs):
        return find(programs)
    cache = toolchain.cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / "lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another realkube is building; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        missing = _missing(programs)
        if missing:
            say(f"the first build of {len(missing)} programs takes {_about(missing)} and some GB in "
                f"the caches of Go; later runs find them in {cache}")
        for count, program in enumerate(missing, 1):
            say(f"building {program.name} ({count} of {len(missing)}), {_about([program])}")
            began = time.monotonic()
            _build(program)
            say(f"built {program.name} in {time.monotonic() - began:.0f} s")
    return find(programs)


def _build(program):
    folder = HERE / program.module
    target = path_of(program)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.new")
    text = (folder / "go.mod").read_text()
    command = [toolchain.find(wanted_go(text)), "build", "-mod=readonly", "-trimpath", "-buildvcs=false",
               "-ldflags", " ".join(["-s", "-w", *version_flags(program, text)]),
               "-o", draft, program.package]
    environment = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off", "GOTOOLCHAIN": "local"}
    done = subprocess.run(["nice", "-n", "10", *map(str, command)], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise Trouble(f"{program.name} cannot be built. If the module proxy refused something, that "
                      "is final: another version has to be pinned, with checks left on")
    draft.rename(target)


def version_flags(program, go_mod):
    """What the programs answer when asked for their version; taken from what is pinned."""
    if program.module == "kubernetes":
        version = pinned(go_mod, "k8s.io/kubernetes")
        major, minor = version.lstrip("v").split(".")[:2]
        return [f"-X {package}.{name}={value}"
                for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
                for name, value in (("gitVersion", version), ("gitMajor", major),
                                    ("gitMinor", minor), ("gitTreeState", "clean"))]
    if program.module == "helm":
        return [f"-X helm.sh/helm/v3/internal/version.version={pinned(go_mod, 'helm.sh/helm/v3')}"]
    if program.name == "liqoctl":
        package = "github.com/liqotech/liqo/pkg/liqoctl/version"
        return [f"-X {package}.LiqoctlVersion={pinned(go_mod, 'github.com/liqotech/liqo')}"]
    return []


def pinned(go_mod, module):
    return re.search(rf"^(?:require)?\s*{re.escape(module)} (v\S+)", go_mod, re.MULTILINE)[1]


def wanted_go(go_mod):
    return re.search(r"^go (\S+)", go_mod, re.MULTILINE)[1]


def _missing(programs):
    return [program for program in programs if not os.access(path_of(program), os.X_OK)]


def _words(programs):
    """What `build --only` wants to hear."""
    return dict.fromkeys(one.module if one.module in OLDER else one.name for one in programs)


def _names(programs):
    return ", ".join(program.name for program in programs)


def _about(programs):
    seconds = sum(program.seconds for program in programs)
    return f"about {max(1, round(seconds / 60))} min {ABOUT}"
