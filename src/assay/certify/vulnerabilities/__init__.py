"""Known vulnerabilities of the components in an SBOM, from an OSV export."""
