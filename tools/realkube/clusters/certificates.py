"""Keys and certificates of one cluster, by openssl; and kubeconfigs, with all data inline."""
import base64
import json
import os
import re

from clusters.shell import Trouble, run

DAYS = "30"
USER = re.compile(r"[A-Za-z0-9][-A-Za-z0-9:._@]{0,62}")
KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc"]


def make_all(cluster):
    folder = cluster.folder / "pki"
    folder.mkdir(mode=0o700)
    for name in ("ca", "front-proxy-ca", "etcd-ca"):
        _authority(folder, name)
    run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout",  # not PKCS 8: unread
         "-out", folder / "service-accounts.key"])
    local = ["IP:127.0.0.1", "DNS:localhost"]
    issue(folder, "etcd", "/CN=etcd", by="etcd-ca", names=local)
    issue(folder, "etcd-client", "/CN=kube-apiserver", by="etcd-ca")
    service = "kubernetes.default.svc.cluster.local".split(".")
    issue(folder, "apiserver", "/CN=kube-apiserver",
          names=[*local, f"IP:{cluster.address}", f"IP:{cluster.service_address}",
                 *(f"DNS:{'.'.join(service[:length])}" for length in (1, 2, 3, 5))])
    issue(folder, "kubelet-client", "/O=system:masters/CN=kube-apiserver-kubelet-client")
    issue(folder, "front-proxy-client", "/CN=front-proxy-client", by="front-proxy-ca")
    issue(folder, "kwok-server", "/CN=kwok", names=[*local, f"IP:{cluster.address}"])
    for user, groups in (("admin", ["system:masters"]), ("kwok", ["system:masters"]),
                         ("system:kube-controller-manager", []), ("system:kube-scheduler", [])):
        make_user(cluster, user, groups)


def make_user(cluster, user, groups=()):
    """A certificate and the kubeconfig with it; what it may do is for RBAC to say."""
    for name in (user, *groups):
        if not USER.fullmatch(name):
            raise Trouble(f"{name!r} cannot be the name of a user or group here: letters, digits "
                          "and any of : . _ @ -")
    folder = cluster.folder / "pki"
    file = f"user-{user}"
    issue(folder, file, "".join(f"/O={group}" for group in groups) + f"/CN={user}")
    write_private(cluster.kubeconfig(user), kubeconfig(
        cluster, user, (folder / "ca.pem").read_bytes(), (folder / f"{file}.pem").read_bytes(),
        (folder / f"{file}.key").read_bytes()))
    return cluster.kubeconfig(user)


def kubeconfig(cluster, user, authority, certificate, key):
    """JSON, which is YAML as well."""
    def inline(data):
        return base64.b64encode(data).decode()
    name = cluster.name
    return json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": name,
        "clusters": [{"name": name, "cluster": {
            "server": cluster.url, "certificate-authority-data": inline(authority)}}],
        "users": [{"name": user, "user": {
            "client-certificate-data": inline(certificate), "client-key-data": inline(key)}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": user}}],
    }, indent=1) + "\n"


def write_private(path, text):
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w",
              encoding="utf-8") as file:
        file.write(text)


def issue(folder, name, subject, by="ca", names=()):
    """For clients and servers alike. Without a section of extensions openssl would make authorities."""
    extensions = ["basicConstraints=critical,CA:FALSE", "keyUsage=critical,digitalSignature",
                  "extendedKeyUsage=clientAuth,serverAuth"]
    if names:
        extensions.append(f"subjectAltName={','.join(names)}")
    _request(folder, name, subject, extensions,
             ["-CA", folder / f"{by}.pem", "-CAkey", folder / f"{by}.key"])


def _authority(folder, name):
    _request(folder, name, f"/CN={name}", ["basicConstraints=critical,CA:TRUE",
             "keyUsage=critical,digitalSignature,keyCertSign,cRLSign"], [])


def _request(folder, name, subject, extensions, signer):
    settings = folder / f"{name}.conf"
    settings.write_text("[req]\ndistinguished_name = name\n[name]\n[extensions]\n"
                        "subjectKeyIdentifier = hash\n"
                        + "\n".join(line.replace("=", " = ", 1) for line in extensions) + "\n")
    run(["openssl", "req", "-x509", "-batch", *KEY, "-days", DAYS, "-config", settings,
         "-extensions", "extensions", "-subj", subject, *signer,
         "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.pem"])

