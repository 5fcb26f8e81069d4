"""What everything stands on: errors, randomness, files, locks, processes, names. Imports nothing else of ours."""
