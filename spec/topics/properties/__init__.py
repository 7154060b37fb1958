"""What is asked of topics."""
