"""What a marketplace asks of a server: effects, retention, provenance, versions, manifests, a ledger."""
