"""Vector indexes (exact table, HNSW graph) and the metadata columns of the passages they index."""
