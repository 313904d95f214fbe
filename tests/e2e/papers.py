"""Certificates for the two ends of externalgrpc, by openssl: an authority, a server, a client."""
import subprocess

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-days", "2")
LEAF = ("-addext", "basicConstraints=critical,CA:FALSE", "-addext", "keyUsage=critical,digitalSignature")


def _make(folder, name, *words):
    subprocess.run(["openssl", "req", "-x509", "-batch", *KEY, "-subj", f"/CN={name}", "-keyout", folder / f"{name}.key",
                    "-out", folder / f"{name}.pem", *words], check=True, capture_output=True, timeout=20)


def make_papers(folder):
    """authority.pem, server.pem for 127.0.0.1, client.pem, each with its key beside it."""
    folder.mkdir(mode=0o700)
    _make(folder, "authority", "-addext", "keyUsage=critical,keyCertSign")
    by = ("-CA", folder / "authority.pem", "-CAkey", folder / "authority.key")
    _make(folder, "server", *by, *LEAF, "-addext", "extendedKeyUsage=serverAuth",
          "-addext", "subjectAltName=IP:127.0.0.1")
    _make(folder, "client", *by, *LEAF, "-addext", "extendedKeyUsage=clientAuth")
    return folder
