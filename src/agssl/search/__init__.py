"""The search for settings: its space, its objective, and the study that survives a kill (extra `tune`)."""
