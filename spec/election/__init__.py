"""Who becomes the controller: sessions, elections, terms that end, and the requests that a term sends."""
