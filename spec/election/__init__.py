"""The controller of one broker, 2.1 and later: sessions, election, reign, and the requests it sends."""
