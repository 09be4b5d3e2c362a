"""Control flow of TensorFlow 1, loops of frames and conditionals of switches, as nodes that call functions."""
