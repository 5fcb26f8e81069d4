"""The page on which nodes are labelled by hand: `agssl label`."""
