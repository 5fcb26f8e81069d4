"""The GNN: encoder and class head."""
