"""Past one machine's memory, and past one machine."""
