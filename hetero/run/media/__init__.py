"""Files as input arrays, and decoding of results: pictures, sounds, arrays, text."""
