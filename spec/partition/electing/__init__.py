"""What the steps of an election do to the controller's work: /controller is one request, /controller_epoch another."""
