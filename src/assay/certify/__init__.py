"""Evidence that anyone can check again: statements, manifests, SBOM, vulnerabilities, certificates."""
