"""The operator under study: KubeRay v1.7.0, ray-operator/controllers/ray."""
