"""The operation sets: one class per operation, one file per family."""
# ruff: noqa: F401 - the imports make the classes attributes of hetero.ops

from hetero.graph import Constant, Parameter, Result
from hetero.ops.activation import (
    Elu,
    Gelu,
    GeluV2,
    HardSigmoid,
    HSigmoid,
    HSwish,
    Mish,
    PRelu,
    Relu,
    Selu,
    Sigmoid,
    SoftPlus,
    SoftSign,
    Swish,
)  # fmt: skip
from hetero.ops.arithmetic import (
    Add,
    Divide,
    FloorMod,
    Maximum,
    Minimum,
    Mod,
    Multiply,
    Power,
    Select,
    SquaredDifference,
    Subtract,
)  # fmt: skip
from hetero.ops.attention import CacheUpdate, LinearAttention, ScaledDotProductAttention
from hetero.ops.bitwise import (
    BitwiseAnd,
    BitwiseLeftShift,
    BitwiseNot,
    BitwiseOr,
    BitwiseRightShift,
    BitwiseXor,
)  # fmt: skip
from hetero.ops.class_nms import MatrixNms, MulticlassNms, MulticlassNmsV8
from hetero.ops.color import I420toBGR, I420toRGB, NV12toBGR, NV12toRGB
from hetero.ops.comparison import (
    Equal,
    Greater,
    GreaterEqual,
    IsFinite,
    IsInf,
    IsNaN,
    Less,
    LessEqual,
    LogicalAnd,
    LogicalNot,
    LogicalOr,
    LogicalXor,
    NotEqual,
)  # fmt: skip
from hetero.ops.control_flow import If, Loop, TensorIterator
from hetero.ops.conversion import (
    BitCast,
    Cast,
    Convert,
    ConvertLike,
    ConvertPromoteTypes,
    FakeConvert,
    FakeQuantize,
)  # fmt: skip
from hetero.ops.convolution import (
    BinaryConvolution,
    Convolution,
    ConvolutionBackpropData,
    FusedConvolution,
    GroupConvolution,
    GroupConvolutionBackpropData,
)
from hetero.ops.ctc import CTCGreedyDecoder, CTCGreedyDecoderSeqLen, CTCLoss
from hetero.ops.cumulative import CumProd, CumSum
from hetero.ops.deformable import DeformableConvolution, DeformableConvolutionV1
from hetero.ops.detection import DetectionOutput, DetectionOutputV1
from hetero.ops.detectron import (
    ExperimentalDetectronDetectionOutput,
    ExperimentalDetectronGenerateProposalsSingleImage,
    ExperimentalDetectronPriorGridGenerator,
    ExperimentalDetectronROIFeatureExtractor,
    ExperimentalDetectronTopKROIs,
)
from hetero.ops.einsum import Einsum
from hetero.ops.elementwise import (
    Abs,
    Acos,
    Acosh,
    Asin,
    Asinh,
    Atan,
    Atanh,
    Ceiling,
    Clamp,
    Cos,
    Cosh,
    Erf,
    Exp,
    Floor,
    Log,
    Negative,
    Round,
    Sign,
    Sin,
    Sinh,
    Sqrt,
    Tan,
    Tanh,
)  # fmt: skip
from hetero.ops.embedding import (
    EmbeddingBagOffsets,
    EmbeddingBagOffsetsSum,
    EmbeddingBagPacked,
    EmbeddingBagPackedSum,
    EmbeddingSegmentsSum,
    SegmentMax,
    SparseFillEmptyRows,
)  # fmt: skip
from hetero.ops.expansion import Broadcast, BroadcastV1, OneHot, OneHotV1, Pad, PadV1, Range, RangeV1, Tile
from hetero.ops.gather import (
    Gather,
    GatherElements,
    GatherND,
    GatherNDV5,
    GatherTree,
    GatherV1,
    GatherV7,
    NonZero,
)  # fmt: skip
from hetero.ops.grid_sample import GridSample
from hetero.ops.hashing import LshProjection
from hetero.ops.image_files import ImageDecoder
from hetero.ops.interpolation import Interpolate, InterpolateV1, InterpolateV4
from hetero.ops.linear_algebra import Det, Eye, Inverse
from hetero.ops.matmul import MatMul
from hetero.ops.movement import (
    Concat,
    DepthToSpace,
    Identity,
    Reshape,
    ShapeOf,
    ShapeOfV1,
    SpaceToDepth,
    Squeeze,
    SqueezeV1,
    Transpose,
    Unsqueeze,
)  # fmt: skip
from hetero.ops.nms import (
    NMSRotated,
    NonMaxSuppression,
    NonMaxSuppressionV1,
    NonMaxSuppressionV3,
    NonMaxSuppressionV4,
    NonMaxSuppressionV5,
)
from hetero.ops.normalization import (
    GRN,
    LRN,
    MVN,
    MVNV2,
    BatchNormInference,
    BatchNormInferenceV1,
    GroupNormalization,
    LogSoftmax,
    NormalizeL2,
    Softmax,
    SoftmaxV1,
)  # fmt: skip
from hetero.ops.patches import Col2Im, ExtractImagePatches
from hetero.ops.pooling import (
    AdaptiveAvgPool,
    AdaptiveMaxPool,
    AvgPool,
    AvgPoolV1,
    AvgPoolV14,
    MaxPool,
    MaxPoolV1,
    MaxPoolV8,
)  # fmt: skip
from hetero.ops.prior_boxes import PriorBox, PriorBoxClustered, PriorBoxV1
from hetero.ops.proposals import GenerateProposals, Proposal, ProposalV1
from hetero.ops.random import Multinomial, RandomUniform
from hetero.ops.rearrangement import BatchToSpace, Reverse, ReverseSequence, Roll, ShuffleChannels, SpaceToBatch
from hetero.ops.recurrent import (
    GRUCell,
    GRUSequence,
    LSTMCell,
    LSTMCellV1,
    LSTMSequence,
    PeepholeLSTMSequence,
    RNNCell,
    RNNSequence,
)  # fmt: skip
from hetero.ops.reduction import (
    ReduceL1,
    ReduceL2,
    ReduceLogicalAnd,
    ReduceLogicalOr,
    ReduceMax,
    ReduceMean,
    ReduceMin,
    ReduceProd,
    ReduceSum,
)  # fmt: skip
from hetero.ops.resize import Resize
from hetero.ops.roi import (
    DeformablePSROIPooling,
    PSROIPooling,
    ROIAlign,
    ROIAlignLargestTerm,
    ROIAlignRotated,
    ROIAlignV3,
    ROIPooling,
)  # fmt: skip
from hetero.ops.scatter import (
    ScatterElementsUpdate,
    ScatterElementsUpdateV3,
    ScatterNDUpdate,
    ScatterNDUpdateV4,
    ScatterUpdate,
    SliceScatter,
)  # fmt: skip
from hetero.ops.sequences import (
    ConcatFromSequence,
    Optional,
    OptionalGetElement,
    OptionalHasElement,
    SequenceAt,
    SequenceConstruct,
    SequenceEmpty,
    SequenceErase,
    SequenceInsert,
    SequenceLength,
    SplitToSequence,
)  # fmt: skip
from hetero.ops.signal import DFT, IDFT, IRDFT, ISTFT, RDFT, STFT, MelWeightMatrix
from hetero.ops.slicing import Slice, Split, StridedSlice, VariadicSplit
from hetero.ops.sorting import Bucketize, SearchSorted, TopK, TopKV1, TopKV3, Unique
from hetero.ops.strings import (
    RegexFullMatch,
    SkipGram,
    StringConcat,
    StringNormalizer,
    StringSplit,
    StringTensorPack,
    StringTensorUnpack,
    TfIdfVectorizer,
)  # fmt: skip
from hetero.ops.trees import LabelEncoder, TreeEnsemble
from hetero.ops.variables import Assign, ReadValue
from hetero.ops.yolo import RegionYolo, ReorgYolo
