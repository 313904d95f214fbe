"""What Schemathesis must not do to the broker that it is looking at (tools/schemathesis)."""
import os

import schemathesis

SPARED = set(filter(None, os.environ.get("SPILLWAY_SPARED", "").split(",")))


@schemathesis.hook
def before_call(context, case, kwargs):
    """The members whose turn it is, or comes, are not revoked: it would end the run, not a test."""
    name = (case.path_parameters or {}).get("name")
    if case.operation.path == "/v1/identities/{name}/revoke" and name in SPARED:
        case.path_parameters["name"] = "nobody-here"
