"""If, Loop, TensorIterator and variables: operations with bodies or a state."""
