"""What a running broker executes of the specification, and what replay follows."""
