"""Sparse kernels: the only place that touches CSR arrays."""
