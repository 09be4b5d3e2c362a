"""A module that exists because OpenVINO has ``openvino.torch``: backends of torch.compile register themselves."""
