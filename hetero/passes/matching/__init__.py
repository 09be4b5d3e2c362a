"""Finding and replacing parts of a graph: patterns, predicates, rewriting."""
