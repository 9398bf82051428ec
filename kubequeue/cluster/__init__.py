"""A Kubernetes cluster in memory: its API server, and what runs the Pods and sweeps up."""
