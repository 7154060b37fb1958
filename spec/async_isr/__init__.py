"""Changes of the ISR that travel: an abstract model of one leader and one controller."""
