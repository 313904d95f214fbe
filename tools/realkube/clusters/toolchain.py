"""A Go that is new enough: the one in the PATH, or else the pinned one from the Go module proxy.

Debian 12 has Go 1.19, which can neither build Kubernetes nor fetch a newer Go by itself. The proxy
serves Go as a module, golang.org/toolchain; `toolchain.sum` has its hash in the form of a go.sum,
from the public checksum database, and what has another hash is not unpacked.
"""
import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

from clusters.shell import Trouble, run, say

SUMS = Path(__file__).resolve().parent.parent / "toolchain.sum"
DEFAULT_PROXY = "https://proxy.golang.org"
MODULE = "golang.org/toolchain"
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


def cache_folder():
    home = os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME", "/")) / ".cache"
    return Path(home) / "spillway" / "realkube"


def find(wanted):
    """The path of a go that is at least `wanted`, such as 1.24.0."""
    here = shutil.which("go")
    if here and numbers(_version(here)) >= numbers(wanted):
        return here
    version, hash_ = _pinned()
    if numbers(version) < numbers(wanted):
        raise Trouble(f"Go {wanted} is needed and {SUMS} pins {version}; please put a newer go "
                      "into the PATH")
    root = cache_folder() / f"go-{hashlib.sha256(hash_.encode()).hexdigest()[:12]}"
    if not (root / "bin" / "go").exists():
        say(f"fetching Go {version}: there is {'go ' + _version(here) if here else 'no go'} here, "
            f"and {wanted} is needed")
        _fetch(version, hash_, root)
    return root / "bin" / "go"


def numbers(version):
    """1.26, 1.25.5 and 1.26rc1 as something that compares."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _version(go):
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    done = subprocess.run([go, "version"], env=environment, text=True, capture_output=True,
                          check=False, cwd="/")
    found = re.search(r"\bgo(\d[\w.]*)", done.stdout)
    return found[1] if found else "0"


def _pinned():
    system = f"linux-{MACHINES.get(platform.machine(), platform.machine())}"
    for line in SUMS.read_text().splitlines():
        module, version, hash_ = line.split()
        if module == MODULE and version.endswith(f".{system}"):
            return re.search(r"-go([\d.]+)\.", version)[1], hash_
    raise Trouble(f"no Go is pinned for {system}; please put one of at least 1.26 into the PATH")


def proxies(setting):
    """The proxies of GOPROXY; it may also say `direct` and `off`, which mean nothing here."""
    words = re.split(r"[,|]", setting or DEFAULT_PROXY)
    return [word.strip().rstrip("/") for word in words if "://" in word]


def _fetch(version, hash_, root):
    system = f"linux-{MACHINES[platform.machine()]}"
    path = f"{MODULE}/@v/v0.0.1-go{version}.{system}.zip"
    prefix = f"{MODULE}@v0.0.1-go{version}.{system}/"
    root.parent.mkdir(parents=True, exist_ok=True)
    archive = root.with_suffix(".zip")
    _download([f"{proxy}/{path}" for proxy in proxies(os.environ.get("GOPROXY"))], archive)
    with zipfile.ZipFile(archive) as content:
        if module_hash(content) != hash_:
            raise Trouble(f"{archive} is not what {SUMS} says; it stays there to be looked at")
        draft = root.with_suffix(".new")
        shutil.rmtree(draft, ignore_errors=True)
        _unpack(content, prefix, draft)
    archive.unlink()
    run([draft / "bin" / "go", "version"], env={**os.environ, "GOTOOLCHAIN": "local"}, cwd="/")
    draft.rename(root)


def _download(addresses, target):
    refusals = []
    for address in addresses:
        try:
            with urllib.request.urlopen(address, timeout=60) as source, open(target, "wb") as sink:
                shutil.copyfileobj(source, sink, 1 << 20)
            return
        except (urllib.error.URLError, OSError) as error:
            refusals.append(f"{address}: {error}")
    raise Trouble("Go cannot be fetched: " + ("; ".join(refusals) or "GOPROXY names no proxy")
                  + ". Please put a newer go into the PATH")


def module_hash(content):
    """The h1: hash of go.sum: over the sorted list of all files and their hashes."""
    lines = []
    for name in sorted(content.namelist()):
        with content.open(name) as file:
            lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {name}\n")
    return "h1:" + base64.b64encode(hashlib.sha256("".join(lines).encode()).digest()).decode()


def _unpack(content, prefix, root):
    """A module holds neither permissions nor files called go.mod; this undoes both."""
    for name in content.namelist():
        if not name.startswith(prefix) or ".." in name.split("/"):
            raise Trouble(f"the archive holds {name!r}, which does not belong there")
        path = root / name.removeprefix(prefix)
        if path.name == "_go.mod":
            path = path.with_name("go.mod")
        path.parent.mkdir(parents=True, exist_ok=True)
        with content.open(name) as source, open(path, "wb") as sink:
            shutil.copyfileobj(source, sink)
    for folder in ("bin", "pkg/tool"):
        for path in (root / folder).rglob("*"):
            if path.is_file():
                path.chmod(0o755)
