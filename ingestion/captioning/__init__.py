"""What pictures show, in the words of a model that can see, if the deployment names one (`VISION_PROVIDER`).

`start()` checks the settings when the worker starts; `caption_pictures` is a step of the pipeline.
"""

from ingestion.captioning.pictures import caption_pictures
from ingestion.captioning.registry import captioner, start

__all__ = ["caption_pictures", "captioner", "start"]
