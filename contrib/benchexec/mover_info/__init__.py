"""Tool-info module of mover for BenchExec."""
