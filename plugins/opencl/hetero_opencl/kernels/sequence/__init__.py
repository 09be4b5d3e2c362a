"""CTC, n-grams and trees."""
