"""openvino: benchmark_app measures a model of a chosen shape with a number of iterations, and prints statistics."""

import re
import subprocess
import sys

import numpy as np
import openvino as ov
from openvino import opset13 as ops

x = ops.parameter([-1, 64], np.float32, name="x")
x.output(0).set_names({"x"})
weights = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
ov.save_model(ov.Model([ops.relu(ops.matmul(x, weights, False, True))], [x], "layer"), "layer.xml")
options = ["-shape", "x[2,64]", "-d", "CPU", "-niter", "20", "-api", "sync", "-hint", "latency"]
done = subprocess.run(["benchmark_app", "-m", "layer.xml", *options], check=True, capture_output=True, text=True)
statistics = dict(re.findall(r"^\[ INFO \] +(Count|Median|Min|Max|Throughput): +([\d.]+)", done.stdout, re.MULTILINE))
np.savez(
    sys.argv[1],
    iterations=int(statistics["Count"]),
    positive=[float(statistics[name]) > 0 for name in ("Median", "Min", "Max", "Throughput")],
)
