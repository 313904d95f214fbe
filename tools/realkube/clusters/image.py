"""Container images without a registry: one layer, an OCI archive, made from files of this machine."""
import hashlib
import io
import json
import platform
import tarfile

from clusters.shell import Trouble, run
from clusters.toolchain import MACHINES

BUSYBOX = "realkube.local/busybox:1"
PAUSE = "realkube.local/pause:1"


def write(archive, reference, files, links, command):
    """`files`: path in the image → bytes; `links`: path → target. All files may be executed."""
    layer = _layer(files, links)
    blobs = {}

    def blob(data, kind):
        digest = hashlib.sha256(data).hexdigest()
        blobs[digest] = data
        return {"mediaType": f"application/vnd.oci.image.{kind}", "size": len(data),
                "digest": f"sha256:{digest}"}

    content = blob(layer, "layer.v1.tar")
    config = blob(json.dumps({
        "architecture": MACHINES[platform.machine()], "os": "linux",
        "config": {"Cmd": command, "Env": ["PATH=/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [content["digest"]]}}).encode(), "config.v1+json")
    manifest = blob(json.dumps({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config, "layers": [content]}).encode(), "manifest.v1+json")
    manifest["annotations"] = {"io.containerd.image.name": reference}
    with tarfile.open(archive, "w") as tar:
        _add(tar, "oci-layout", json.dumps({"imageLayoutVersion": "1.0.0"}).encode())
        _add(tar, "index.json", json.dumps({"schemaVersion": 2, "manifests": [manifest]}).encode())
        for digest, data in blobs.items():
            _add(tar, f"blobs/sha256/{digest}", data)


def write_busybox(archive, reference, command):
    """From Debian's busybox-static: a shell and its friends in one file that needs no library."""
    path = "/bin/busybox"
    try:
        with open(path, "rb") as file:
            program = file.read()
    except OSError:
        raise Trouble(f"{path} is not there; `tools/setup --e2e` installs it") from None
    names = run([path, "--list"]).split()
    write(archive, reference, {"bin/busybox": program},
          {f"bin/{name}": "busybox" for name in names if name != "busybox"}, command)


def _layer(files, links):
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as tar:
        for folder in ("bin", "etc", "tmp"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
            tar.addfile(entry)
        for path, data in files.items():
            _add(tar, path, data, 0o755)
        for path, target in links.items():
            entry = tarfile.TarInfo(path)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            tar.addfile(entry)
    return held.getvalue()


def _add(tar, name, data, mode=0o644):
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), mode
    tar.addfile(entry, io.BytesIO(data))
