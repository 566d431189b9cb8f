"""Vector indexes (exact table, HNSW graph, inverted file) and the metadata columns of the passages they index."""
