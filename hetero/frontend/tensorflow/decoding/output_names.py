"""The outputs of TensorFlow's operators that have several, by name: functions refer to outputs by their names."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from hetero.frontend.tensorflow.decoded import TensorflowNode
from hetero.system.errors import FrontendError

# The most outputs that a node may have.
_MAX_OUTPUTS = 1 << 16
# Each operator's outputs in order. ``name*attribute``: a list of outputs; the attribute is their number, or the list of
# their types. An operator that is not here has one output, or outputs that are not lists and have no names.
_TABLE = """
ApproxTopK TopK TopKV2: values indices
BatchFunction: out_tensors*Tout
BatchSelfAdjointEigV2 Eig SelfAdjointEigV2: e v
BatchSvd Svd: s u v
BlockLSTM BlockLSTMV2 LSTMBlockCell: i cs f o ci co h
CSRSparseMatrixComponents: row_ptrs col_inds values
CSRSparseMatrixToSparseTensor: indices values dense_shape
CTCBeamSearchDecoder: decoded_indices*top_paths decoded_values*top_paths decoded_shape*top_paths log_probability
CTCGreedyDecoder: decoded_indices decoded_values decoded_shape log_probability
CTCLoss CTCLossV2: loss gradient
Case If PartitionedCall RemoteCall StatefulPartitionedCall StatelessCase StatelessIf: output*Tout
CombinedNonMaxSuppression: nmsed_boxes nmsed_scores nmsed_classes valid_detections
CompositeTensorVariantToComponents: components*Tcomponents
ConcatOffset: offset*N
DecodeCSV: output*OUT_TYPE
DecodeProtoV2: sizes values*output_types
DecodeWav: audio sample_rate
DenseToDenseSetOperation DenseToSparseSetOperation SparseToSparseSetOperation: result_indices result_values
    result_shape
DeserializeManySparse DeserializeSparse: sparse_indices sparse_values sparse_shape
DynamicPartition: outputs*num_partitions
For IdentityN RiscWhile StatelessWhile While: output*T
FractionalAvgPool FractionalMaxPool: output row_pooling_sequence col_pooling_sequence
FusedBatchNorm FusedBatchNormV2: y batch_mean batch_variance reserve_space_1 reserve_space_2
FusedBatchNormV3: y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3
GRUBlockCell: r u c h
GenerateBoundingBoxProposals: rois roi_probabilities
IsotonicRegression: output segments
ListDiff: out idx
LogMatrixDeterminant: sign log_abs_determinant
LookupTableExport LookupTableExportV2: keys values
Lu: lu p
MaxPoolWithArgmax: output argmax
Merge RefMerge: output value_index
NearestNeighbors: nearest_center_indices nearest_center_distances
NonMaxSuppressionV4: selected_indices valid_outputs
NonMaxSuppressionV5: selected_indices selected_scores valid_outputs
ParseExample: sparse_indices*Nsparse sparse_values*sparse_types sparse_shapes*Nsparse dense_values*Tdense
ParseExampleV2: sparse_indices*num_sparse sparse_values*sparse_types sparse_shapes*num_sparse dense_values*Tdense
    ragged_values*ragged_value_types ragged_row_splits*ragged_split_types
ParseSequenceExample: context_sparse_indices*Ncontext_sparse context_sparse_values*context_sparse_types
    context_sparse_shapes*Ncontext_sparse context_dense_values*Tcontext_dense
    feature_list_sparse_indices*Nfeature_list_sparse feature_list_sparse_values*feature_list_sparse_types
    feature_list_sparse_shapes*Nfeature_list_sparse feature_list_dense_values*feature_list_dense_types
    feature_list_dense_lengths*Nfeature_list_dense
ParseSequenceExampleV2: context_sparse_indices*Ncontext_sparse context_sparse_values*context_sparse_types
    context_sparse_shapes*Ncontext_sparse context_dense_values*Tcontext_dense
    context_ragged_values*context_ragged_value_types context_ragged_row_splits*context_ragged_split_types
    feature_list_sparse_indices*Nfeature_list_sparse feature_list_sparse_values*feature_list_sparse_types
    feature_list_sparse_shapes*Nfeature_list_sparse feature_list_dense_values*feature_list_dense_types
    feature_list_dense_lengths*Nfeature_list_dense feature_list_ragged_values*feature_list_ragged_value_types
    feature_list_ragged_outer_splits*feature_list_ragged_split_types
    feature_list_ragged_inner_splits*feature_list_ragged_split_types
ParseSingleExample: sparse_indices*num_sparse sparse_values*sparse_types sparse_shapes*num_sparse
    dense_values*Tdense
ParseSingleSequenceExample: context_sparse_indices*Ncontext_sparse context_sparse_values*context_sparse_types
    context_sparse_shapes*Ncontext_sparse context_dense_values*Tcontext_dense
    feature_list_sparse_indices*Nfeature_list_sparse feature_list_sparse_values*feature_list_sparse_types
    feature_list_sparse_shapes*Nfeature_list_sparse feature_list_dense_values*feature_list_dense_types
Qr: q r
QuantizeDownAndShrinkRange QuantizeV2 QuantizedConcat QuantizedConcatV2 QuantizedReshape Requantize
    RequantizePerChannel: output output_min output_max
QuantizedAdd QuantizedMul: z min_z max_z
QuantizedAvgPool QuantizedMaxPool: output min_output max_output
QuantizedBatchNormWithGlobalNormalization: result result_min result_max
QuantizedBiasAdd: output min_out max_out
QuantizedInstanceNorm: y y_min y_max
QuantizedMatMul: out min_out max_out
QuantizedRelu QuantizedRelu6 QuantizedReluX: activations min_activations max_activations
QuantizedResizeBilinear: resized_images out_min out_max
QueueDequeue QueueDequeueMany QueueDequeueManyV2 QueueDequeueUpTo QueueDequeueUpToV2 QueueDequeueV2:
    components*component_types
RaggedCross: output_values output_row_splits
RaggedFillEmptyRows: output_value_rowids output_values empty_row_indicator reverse_index_map
RaggedGather: output_nested_splits*OUTPUT_RAGGED_RANK output_dense_values
RaggedRange: rt_nested_splits rt_dense_values
RaggedTensorToSparse: sparse_indices sparse_values sparse_dense_shape
RefSwitch Switch: output_false output_true
RequantizationRange RequantizationRangePerChannel: output_min output_max
RestoreV2: tensors*dtypes
SampleDistortedBoundingBox SampleDistortedBoundingBoxV2 StatelessSampleDistortedBoundingBox: begin size bboxes
ShapeN: output*N
SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits: loss backprop
SparseAdd: sum_indices sum_values sum_shape
SparseConcat SparseCross SparseCrossHashed SparseCrossV2 SparseReduceMaxSparse SparseReduceSumSparse SparseSlice:
    output_indices output_values output_shape
SparseFillEmptyRows: output_indices output_values empty_row_indicator reverse_index_map
SparseReorder SparseSparseMaximum SparseSparseMinimum: output_indices output_values
SparseReshape: output_indices output_shape
SparseSplit: output_indices*num_split output_values*num_split output_shape*num_split
Split SplitV: output*num_split
StatelessRandomGetKeyCounter: key counter
StatelessRandomGetKeyCounterAlg: key counter alg
StringNGrams: ngrams ngrams_splits
StringSplit StringSplitV2: indices values shape
TensorArrayConcat TensorArrayConcatV2 TensorArrayConcatV3: value lengths
TensorArrayV3: handle flow
TensorListConcat TensorListConcatV2: tensor lengths
TensorListPopBack: output_handle tensor
TopKUnique TopKWithUnique: topk topk_indices
UnicodeDecode: row_splits char_values
UnicodeDecodeWithOffsets: row_splits char_values char_to_byte_starts
Unique UniqueV2: y idx
UniqueWithCounts UniqueWithCountsV2: y idx count
Unpack: output*num
"""


@functools.cache
def _outputs_by_operator() -> dict[str, str]:
    table: dict[str, str] = {}
    for row in _TABLE.strip().replace("\n    ", " ").splitlines():
        operators, _, outputs = row.partition(": ")
        table.update(dict.fromkeys(operators.split(), outputs))
    return table


def output_ranges(node: TensorflowNode, known: dict[str, str] | None = None) -> dict[str, range]:
    """Return the indices of a node's outputs by name, empty if the names are not known. Raises FrontendError.

    ``known``: the outputs of the operators that the file describes, in the form of the table.
    """
    text = _outputs_by_operator().get(node.op_type) or (known or {}).get(node.op_type, "")
    ranges: dict[str, range] = {}
    begin = 0
    for output in text.split():
        name, _, attribute = output.partition("*")
        count = _count(node, attribute) if attribute else 1
        ranges[name] = range(begin, begin + count)
        begin += count
        if begin > _MAX_OUTPUTS:
            raise FrontendError(f"{node.op_type} node '{node.name}' has more than {_MAX_OUTPUTS} outputs")
    return ranges


def _count(node: TensorflowNode, attribute: str) -> int:
    value: Any = node.attributes.get(attribute, 0)
    count = value if isinstance(value, int) else len(value) if isinstance(value, Sequence) else 0
    if count < 0:
        raise FrontendError(f"{node.op_type} node '{node.name}' has {count} outputs")
    return count
