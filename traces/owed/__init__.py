"""What controllers owed: the writes that a handler had to make, and that are not there when it is left."""
