"""Past one machine."""
