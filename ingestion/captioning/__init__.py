"""What pictures show, in the words of a model that can see, if the deployment names one (`VISION_PROVIDER`).

`start()` checks the settings when the worker starts; `describe_pictures` is a step of the pipeline.
"""

from ingestion.captioning.pictures import describe_pictures
from ingestion.captioning.registry import describer, start

__all__ = ["describe_pictures", "describer", "start"]
