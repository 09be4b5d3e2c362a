"""What is known of a value before data is there: intervals of its elements, and rules that carry them."""
