"""The devices of a compilation: which ones a user names, and which operations each supports."""
