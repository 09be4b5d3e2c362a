"""rapidocr: finds and reads the text of a picture with the engine openvino."""

import sys
from pathlib import Path

import numpy as np
from rapidocr import EngineType, RapidOCR

engine = RapidOCR(params={f"{part}.engine_type": EngineType.OPENVINO for part in ("Det", "Cls", "Rec")})
found = engine(str(Path(__file__).parents[3] / "configs" / "page.png"))
np.savez(sys.argv[1], texts=np.array(found.txts), boxes=np.array(found.boxes), scores=np.array(found.scores))
