"""Values: element types, dimensions and symbols, shapes, layouts, tensors and their memory, packing."""
