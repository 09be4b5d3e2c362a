"""Damaged or malicious IR files: refused with a message that names the file and the layer, quickly."""

import functools
import re
from xml.etree import ElementTree

import numpy as np
import pytest

import hetero
from hetero import opset13 as ops
from hetero.frontend.ir import IrFrontEnd
from hetero.frontend.ir.weights import WeightsWriter
from hetero.frontend.ir.writer import model_element
from hetero.system.errors import FrontendError
from tests.frontend.ir.samples import full_model


class Written:
    """A file that collects its contents in memory."""

    def __init__(self):
        self.content = b""

    def write(self, content):
        self.content += bytes(content)


def files(model):
    weights = Written()
    return ElementTree.tostring(model_element(model, WeightsWriter(weights))), weights.content


@functools.cache
def sample():
    return files(full_model())


def changed(pattern, replacement, count=1):
    xml, weights = sample()
    altered = re.sub(pattern, replacement, xml.decode(), count=count)
    assert altered != xml.decode()
    return altered.encode(), weights


def refused(xml, weights, problem):
    with pytest.raises(FrontendError, match=problem):
        IrFrontEnd().convert(xml, weights)


ALTERED = {
    "unknown operation": (
        'type="Convolution"',
        'type="Konvolution"',
        "layer 4, Konvolution 'convolved': .*no operation Konvolution of opset1",
    ),
    "unknown version": (
        'type="MaxPool" version="opset14"',
        'type="MaxPool" version="opset99"',
        "'pooled': .*no operation MaxPool of opset99",
    ),
    "no version": (' version="opset14"', "", "'pooled': .*no operation MaxPool of no version"),
    "version of the file": ('version="11"', 'version="9"', "version is 9; versions 10 and 11"),
    "other document": ("(</?)net", r"\1not", "holds <not>", 2),
    "missing attribute": (' num_splits="2"', "", "'halves': .*attribute num_splits is missing"),
    "attribute of the wrong type": (
        'num_splits="2"',
        'num_splits="two"',
        "'halves': attribute num_splits cannot be 'two'",
    ),
    "attribute beyond the choices": (
        'auto_pad="explicit"',
        'auto_pad="never"',
        "'convolved': .*auto_pad cannot be 'never'.* explicit",
    ),
    "list with a hole": ('strides="1, 1"', 'strides="1,,1"', "'convolved': attribute strides cannot be '1,,1'"),
    "too many parts": (
        'num_splits="2"',
        'num_splits="1000000000"',
        "'halves': it has 2 output ports, but splits into 1000000000",
    ),
    "two layers of one id": ('layer id="1"', 'layer id="0"', "two layers have the id 0"),
    "edge from nowhere": ('from-layer="3"', 'from-layer="77"', "from layer 77 to layer 4, but there is no layer 77"),
    "edge from a port that is not there": (
        'from-layer="3" from-port="0"',
        'from-layer="3" from-port="5"',
        "'convolved': it reads port 5 of layer 3",
    ),
    "edge to a port that is not there": (
        '(from-layer="3" from-port="0" to-layer="4" to-port=)"1"',
        r'\1"7"',
        "'convolved': its input ports are",
    ),
    "two edges to one port": (
        'to-layer="4" to-port="1"',
        'to-layer="4" to-port="0"',
        "two edges lead to port 0 of layer 4",
    ),
    "circle": (
        'from-layer="3" from-port="0" to-layer="4"',
        'from-layer="5" from-port="2" to-layer="4"',
        "'convolved': it is part of a cycle",
    ),
    "element type": (
        'element_type="f32" shape="4',
        'element_type="f33" shape="4',
        "'filters': 'f33' is no element type",
    ),
    "element type that is none of ours but one of numpy's parser": (
        'element_type="f32" shape="4',
        'element_type="," shape="4',
        "'filters': ',' is no element type",
    ),
    "offset beyond the file": ('offset="0"', 'offset="9999"', "'filters': its 192 bytes at 9999 do not lie within"),
    "negative offset": ('offset="0"', 'offset="-8"', "'filters': its 192 bytes at -8 do not lie within"),
    "size too small": ('size="192"', 'size="191"', "'filters': .*takes 192 bytes, not 191"),
    "shape too large": (
        'shape="4, 3, 2, 2"',
        'shape="99999999, 99999999, 99999999"',
        "'filters': .*takes [0-9]+ bytes, not 192",
    ),
    "negative length": ('shape="4, 3, 2, 2"', 'shape="-4, -3, 2, 2"', "'filters': "),
    "no size": (' size="192"', "", "'filters': attribute size is missing"),
    "shapes that do not fit": ('shape="\\?,3,8..64,16"', 'shape="?,5,8..64,16"', "'convolved': "),
    "output port too many": (
        '(<output><port id="2" precision="FP32"><dim>-1</dim><dim>4)',
        '<output><port id="9" /></output>\\1',
        "'convolved': it has 2 output ports",
    ),
    "two output ports of one id": (
        '(name="halves".*?<port id=)"3"',
        r'\1"2"',
        "'halves': two of its output ports have the id 2",
    ),
    "no body": ("then_body", "than_body", "'branch': .*then_body", 2),
    "no port map": ("<port_map>.*?</port_map>", "", "'loop': it has no port_map"),
    "port map to a layer that is not there": (
        'external_port_id="0" internal_layer_id="1"',
        'external_port_id="0" internal_layer_id="88"',
        "'loop': there is no layer 88",
    ),
    "port map to an output that is not there": (
        'external_port_id="2"',
        'external_port_id="1000000000"',
        "'loop': its port map names port 1000000000",
    ),
    "port map to an input that is not there": (
        'external_port_id="0"',
        'external_port_id="1000000000"',
        "'loop': .*reads input 1000000000",
    ),
    "entity": ("<net", '<!DOCTYPE net [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><net', "XML is not accepted"),
}


@pytest.mark.parametrize("case", ALTERED)
def test_altered_xml(case):
    pattern, replacement, problem, *count = ALTERED[case]
    refused(*changed(pattern, replacement, *count), problem)


def test_the_message_names_the_file(tmp_path):
    xml, weights = changed('num_splits="2"', 'num_splits="0"')
    (tmp_path / "split.xml").write_bytes(xml)
    (tmp_path / "split.bin").write_bytes(weights)
    with pytest.raises(FrontendError, match=re.escape(f"{tmp_path / 'split.xml'}: layer ")):
        hetero.Core().read_model(tmp_path / "split.xml")


def test_truncated_xml():
    xml, weights = sample()
    for length in range(len("<net"), len(xml) - 1, 97):
        refused(xml[:length], weights, "its XML is damaged")


def test_truncated_weights():
    xml, weights = sample()
    for length in range(0, len(weights) - 1, 16):
        refused(xml, weights[:length], "layer [0-9]+, Const .* do not lie within")


def test_no_weights(tmp_path):
    (tmp_path / "model.xml").write_bytes(sample()[0])
    with pytest.raises(FrontendError, match="do not lie within the 0 bytes of weights"):
        hetero.Core().read_model(tmp_path / "model.xml")
    with pytest.raises(FrontendError, match="other.bin cannot be read: No such file"):
        hetero.Core().read_model(tmp_path / "model.xml", tmp_path / "other.bin")


def test_a_list_of_strings_is_checked():
    texts = np.array(["one", "two"])
    x = hetero.Parameter(hetero.Type.string, [2])
    xml, weights = files(hetero.Model([hetero.Constant(texts), x], [x]))
    for place, value, problem in [
        (0, 77, "77 strings do not fit"),
        (4, 2**31 - 1, "offsets of its strings"),
        (8, 99, "offsets of its strings"),
        (0, -1, "-1 strings do not fit"),
    ]:
        altered = bytearray(weights)
        altered[place : place + 4] = np.int32([value]).tobytes()
        refused(xml, bytes(altered), problem)
    refused(xml, weights[:-1] + b"\xff", "'utf-8' codec")


def test_strings_of_which_one_is_long_do_not_fill_the_memory():
    """A numpy array of strings gives each element the space of the longest."""
    count, length = 20000, 200000
    offsets = np.int32([count, *np.zeros(count, np.int32), length])
    weights = offsets.tobytes() + b"x" * length
    xml = (
        f'<net version="11"><layers><layer id="0" name="c" type="Const" version="opset1"><data element_type="string" '
        f'shape="{count}" offset="0" size="{len(weights)}"/><output><port id="0"/></output></layer></layers></net>'
    )
    refused(xml.encode(), weights, "layer 0, Const 'c': 20000 strings of up to 200000 characters")


def bodies_in_each_other(depth):
    """A Loop in a Loop in a Loop …"""
    given_ = hetero.Parameter(hetero.Type.i64, [])
    value = given_
    for _ in range(depth):
        state = hetero.Parameter(hetero.Type.i64, [])
        loop = ops.loop(hetero.Constant(np.int64(2)), hetero.Constant(np.bool_(True)))
        loop.set_function(hetero.Model([hetero.Constant(np.bool_(True)), value], [given_]))
        loop.set_special_body_ports([-1, 0])
        loop.set_merged_input(given_, state.output(0), loop.get_function().results[1].output(0))
        loop.get_iter_value(loop.get_function().results[1].output(0), -1)
        given_, value = state, loop
    return hetero.Model([value], [given_])


def test_bodies_in_bodies():
    model = IrFrontEnd().convert(*files(bodies_in_each_other(4)))
    assert str(model.output(0).partial_shape) == "[]"


@pytest.mark.parametrize("depth", [1000, 100000])
def test_notes_that_lie_too_deep(depth):
    notes = b"<rt_info>" + b"<a>" * depth + b"</a>" * depth + b"</rt_info></net>"
    refused(sample()[0].replace(b"<rt_info />", b"").replace(b"</net>", notes), sample()[1], "nested too deep")
