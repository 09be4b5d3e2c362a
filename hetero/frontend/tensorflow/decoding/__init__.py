"""Reading of TensorFlow's files: graphs, SavedModel folders and checkpoints, as a TensorflowModel."""
