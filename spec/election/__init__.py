"""The controller of one broker, 2.1 and later: sessions, election, the controller's term, and the requests it sends."""
