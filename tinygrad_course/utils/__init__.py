"""What is neither engine nor network: at present `utils.data`."""

from . import data
