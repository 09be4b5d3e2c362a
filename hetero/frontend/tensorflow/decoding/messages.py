"""Schemas of the protobuf messages in TensorFlow's files. The field numbers are those of TensorFlow's .proto files."""

from hetero.frontend.protobuf import Schema

DIMENSION = Schema("Dim", size=(1, "int"), name=(2, "string"))
SHAPE = Schema("TensorShapeProto", dim=(2, [DIMENSION]), unknown_rank=(3, "bool"))
TENSOR = Schema(
    "TensorProto", dtype=(1, "int"), tensor_shape=(2, SHAPE), version_number=(3, "int"), tensor_content=(4, "bytes"),
    float_val=(5, ["float"]), double_val=(6, ["double"]), int_val=(7, ["int"]), string_val=(8, ["bytes"]),
    scomplex_val=(9, ["float"]), int64_val=(10, ["int"]), bool_val=(11, ["bool"]), dcomplex_val=(12, ["double"]),
    half_val=(13, ["int"]), uint32_val=(16, ["int"]), uint64_val=(17, ["int"]), float8_val=(18, "bytes"),
)  # fmt: skip

ATTRIBUTE = Schema("AttrValue")
FUNCTION_NAME = Schema("NameAttrList", name=(1, "string"), attr=(2, {"string": ATTRIBUTE}))
LIST = Schema(
    "ListValue", s=(2, ["bytes"]), i=(3, ["int"]), f=(4, ["float"]), b=(5, ["bool"]), type=(6, ["int"]),
    shape=(7, [SHAPE]), tensor=(8, [TENSOR]), func=(9, [FUNCTION_NAME]),
)  # fmt: skip
ATTRIBUTE.extend(
    list=(1, LIST), s=(2, "bytes"), i=(3, "int"), f=(4, "float"), b=(5, "bool"), type=(6, "int"), shape=(7, SHAPE),
    tensor=(8, TENSOR), placeholder=(9, "string"), func=(10, FUNCTION_NAME),
)  # fmt: skip

# Attributes are decoded when they are read: most of them never are.
NODE = Schema(
    "NodeDef", name=(1, "string"), op=(2, "string"), input=(3, ["string"]), device=(4, "string"),
    attr=(5, {"string": "bytes"}),
)  # fmt: skip
ARGUMENT = Schema(
    "ArgDef", name=(1, "string"), description=(2, "string"), type=(3, "int"), type_attr=(4, "string"),
    number_attr=(5, "string"), type_list_attr=(6, "string"), is_ref=(16, "bool"),
)  # fmt: skip
OPERATOR = Schema(
    "OpDef", name=(1, "string"), input_arg=(2, [ARGUMENT]), output_arg=(3, [ARGUMENT]), is_stateful=(17, "bool"),
    control_output=(20, ["string"]),
)  # fmt: skip
FUNCTION = Schema(
    "FunctionDef", signature=(1, OPERATOR), node_def=(3, [NODE]), ret=(4, {"string": "string"}),
    attr=(5, {"string": ATTRIBUTE}), control_ret=(6, {"string": "string"}),
)  # fmt: skip
# Functions are decoded when they are used: many of a SavedModel, such as those for training, never are.
LIBRARY = Schema("FunctionDefLibrary", function=(1, ["bytes"]))
FUNCTION_SIGNATURE = Schema("FunctionDef", signature=(1, OPERATOR))
VERSIONS = Schema("VersionDef", producer=(1, "int"), min_consumer=(2, "int"), bad_consumers=(3, ["int"]))
GRAPH = Schema("GraphDef", node=(1, [NODE]), library=(2, LIBRARY), version=(3, "int"), versions=(4, VERSIONS))

TENSOR_INFO = Schema("TensorInfo", name=(1, "string"), dtype=(2, "int"), tensor_shape=(3, SHAPE))
SIGNATURE = Schema(
    "SignatureDef", inputs=(1, {"string": TENSOR_INFO}), outputs=(2, {"string": TENSOR_INFO}),
    method_name=(3, "string"),
)  # fmt: skip
META_INFO = Schema(
    "MetaInfoDef", meta_graph_version=(1, "string"), stripped_op_list=(2, Schema("OpList", op=(1, [OPERATOR]))),
    tags=(4, ["string"]), tensorflow_version=(5, "string"),
)  # fmt: skip
SAVER = Schema(
    "SaverDef", filename_tensor_name=(1, "string"), save_tensor_name=(2, "string"), restore_op_name=(3, "string")
)
ASSET = Schema("AssetFileDef", tensor_info=(1, TENSOR_INFO), filename=(2, "string"))
META_GRAPH = Schema(
    "MetaGraphDef", meta_info_def=(1, META_INFO), graph_def=(2, GRAPH), saver_def=(3, SAVER),
    collection_def=(4, {"string": Schema("CollectionDef", node_list=(1, Schema("NodeList", value=(1, ["string"]))))}),
    signature_def=(5, {"string": SIGNATURE}), asset_file_def=(6, [ASSET]),
)  # fmt: skip
SAVED_MODEL = Schema("SavedModel", saved_model_schema_version=(1, "int"), meta_graphs=(2, [META_GRAPH]))

SERIALIZED_TENSOR = Schema(
    "SerializedTensor", name=(1, "string"), full_name=(2, "string"), checkpoint_key=(3, "string")
)
OBJECTS = Schema("TrackableObjectGraph", nodes=(1, [Schema("TrackableObject", attributes=(2, [SERIALIZED_TENSOR]))]))
BUNDLE_HEADER = Schema("BundleHeaderProto", num_shards=(1, "int"), endianness=(2, "int"), version=(3, VERSIONS))
BUNDLE_ENTRY = Schema(
    "BundleEntryProto", dtype=(1, "int"), shape=(2, SHAPE), shard_id=(3, "int"), offset=(4, "int"), size=(5, "int"),
    crc32c=(6, "fixed32"), slices=(7, [Schema("TensorSliceProto")]),
)  # fmt: skip

DOT_DIMENSIONS = Schema(
    "DotDimensionNumbers", lhs_contracting_dimensions=(1, ["int"]), rhs_contracting_dimensions=(2, ["int"]),
    lhs_batch_dimensions=(3, ["int"]), rhs_batch_dimensions=(4, ["int"]),
)  # fmt: skip
CONVOLUTION_DIMENSIONS = Schema(
    "ConvolutionDimensionNumbers", input_batch_dimension=(7, "int"), input_feature_dimension=(8, "int"),
    input_spatial_dimensions=(11, ["int"]), kernel_input_feature_dimension=(3, "int"),
    kernel_output_feature_dimension=(4, "int"), kernel_spatial_dimensions=(6, ["int"]),
    output_batch_dimension=(9, "int"), output_feature_dimension=(10, "int"), output_spatial_dimensions=(12, ["int"]),
)  # fmt: skip
