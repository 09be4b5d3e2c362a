"""Translation of a decoded graph, the same for all formats: translators, their registry, scopes, subgraphs."""
