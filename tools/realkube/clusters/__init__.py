"""Real Kubernetes clusters on one machine; `tools/realkube/realkube` is their front door."""
