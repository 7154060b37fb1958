"""Group coordinators of a recording, followed through the *group* system."""
