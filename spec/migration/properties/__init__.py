"""What must hold while a cluster migrates."""
