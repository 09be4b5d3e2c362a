"""The operation sets: one class per operation, one file per family."""
# ruff: noqa: F401, F403 - hetero.ops has the classes of all families

from hetero.graph import Constant, Parameter, Result
from hetero.ops.attention import *
from hetero.ops.control_flow.control_flow import *
from hetero.ops.control_flow.variables import *
from hetero.ops.convolution import *
from hetero.ops.detection.detection import *
from hetero.ops.detection.nms import *
from hetero.ops.detection.prior_boxes import *
from hetero.ops.detection.proposals import *
from hetero.ops.detection.roi import *
from hetero.ops.elementwise.activation import *
from hetero.ops.elementwise.arithmetic import *
from hetero.ops.elementwise.conversion import *
from hetero.ops.elementwise.elementwise import *
from hetero.ops.images.image_formats import *
from hetero.ops.images.interpolation import *
from hetero.ops.linear import *
from hetero.ops.movement.embedding import *
from hetero.ops.movement.expansion import *
from hetero.ops.movement.indexing import *
from hetero.ops.movement.movement import *
from hetero.ops.movement.rearrangement import *
from hetero.ops.movement.slicing import *
from hetero.ops.normalization import *
from hetero.ops.pooling import *
from hetero.ops.random import *
from hetero.ops.recurrent import *
from hetero.ops.reduction import *
from hetero.ops.sequence.ctc import *
from hetero.ops.sequence.formatting import *
from hetero.ops.sequence.machine_learning import *
from hetero.ops.sequence.sequences import *
from hetero.ops.sequence.strings import *
from hetero.ops.sequence.trees import *
from hetero.ops.signal import *
