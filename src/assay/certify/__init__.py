"""Evidence that anyone can check again: keys, signed statements, manifests, SBOM, vulnerabilities."""
