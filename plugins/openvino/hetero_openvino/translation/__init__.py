"""Translation of models into OpenVINO's."""
