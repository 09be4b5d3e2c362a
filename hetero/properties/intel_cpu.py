"""Hints for processors, like ``openvino.properties.intel_cpu``. All devices accept them; none has a use for them."""

from hetero.properties.property import EVERY_VALUE, Property, PropertyEnum
from hetero.properties.values import boolean, member_of, number


class TbbPartitioner(PropertyEnum):
    """How OpenVINO divides loops between threads."""

    STATIC = "STATIC", 1
    AUTO = "AUTO", 2


denormals_optimization = Property("CPU_DENORMALS_OPTIMIZATION", boolean, False, ignored=EVERY_VALUE)
sparse_weights_decompression_rate = Property("CPU_SPARSE_WEIGHTS_DECOMPRESSION_RATE", number, 1.0, ignored=EVERY_VALUE)
tbb_partitioner = Property("TBB_PARTITIONER", member_of(TbbPartitioner), TbbPartitioner.STATIC, ignored=EVERY_VALUE)
